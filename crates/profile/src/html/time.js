// What happened when: the threads, and single events such as pauses.
const MAX_LANES = 300, MAX_EVENT_ROWS = 100, CHART_HEIGHT = 180;
// Apart from each other as far as may be: parts of an event are few.
const partColour = fn => `hsl(${fn * 137 % 360} 55% 50%)`;
const seconds = ns => (ns / 1e9).toFixed(3) + " s";

// Places of an axis that is so many nanoseconds long: round numbers, five to ten of them.
function axisMarks(whole) {
  const rough = whole / 8, power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(step => step >= rough) || 10 * power;
  const marks = [];
  for (let at = 0; at < whole; at += step) marks.push(at);
  const [unit, words] = step >= 1e9 ? [1e9, " s"] : step >= 1e6 ? [1e6, " ms"] : [1e3, " µs"];
  return marks.map(at => [at, Number((at / unit).toFixed(3)).toLocaleString("en") + words]);
}

// The time, in the column of the lanes.
function axisRow() {
  const p = profile(), whole = p.steps * p.stepNs, row = make("div", undefined, "lane axis"), column = make("div");
  column.setAttribute("role", "img");
  column.setAttribute("aria-label", `Time from 0 to ${seconds(whole)}`);
  for (const [at, words] of axisMarks(whole)) {
    // No room for words at the end.
    const mark = make("span", at < whole * .95 ? words : "");
    mark.style.left = 100 * at / whole + "%";
    column.append(mark);
  }
  row.append(column);
  return row;
}

// What a thread does in a sample: it runs, it waits, or it is in native code and may do either.
const RUNS = 0, IN_NATIVE_CODE = 1, IDLE = 2;
const DOING = [["--busy", "running"], ["--native", "in native code, running or waiting"], ["--wait", "waiting"]];
// Kinds of which each value is a wait.
const KINDS_OF_WAITS = new Set(["lock", "io", "sched"]);
function doing(stack) {
  if (KINDS_OF_WAITS.has(profile().kind)) return IDLE;
  if (profile().kind === "cpu") return RUNS;
  const fn = stack ? data.frameFunctions[data.nodeFrames[stack]] : -1;
  return calls.isWaiting[calls.callOf[stack]] ? IDLE : fn >= 0 && kindOf(fn) === NOTE && nameOf(fn) === "[in native code]" ? IN_NATIVE_CODE : RUNS;
}

// Adds a value to a lane. A sample of time stands for the time before it, which may be more than a step.
function spread(parts, what, step, value) {
  const { isBusyTime, stepNs } = profile();
  for (let at = step; isBusyTime && at > 0 && value > 0; at--) {
    const put = Math.max(Math.min(value, stepNs - parts[RUNS][at] - parts[IN_NATIVE_CODE][at] - parts[IDLE][at]), 0);
    parts[what][at] += put;
    value -= put;
  }
  parts[what][step] += value;
}

function viewThreads(panel) {
  const p = profile();
  const values = data.threads.map(() => 0), lanes = new Map(), seen = new Set();
  for (let i = 0; i < p.stacks.length; i++) {
    const thread = p.threads[i], what = doing(p.stacks[i]);
    values[thread] += p.values[i];
    if (!lanes.has(thread)) lanes.set(thread, DOING.map(() => new Float64Array(p.steps)));
    spread(lanes.get(thread), what, p.times[i], p.values[i]);
    seen.add(what);
  }
  const order = [...lanes.keys()].sort((a, b) => values[b] - values[a]);
  note(panel, "A thread without its mark is left out of every view. Dragging over a lane chooses a span of time.");
  const all = makeButton("All threads", () => { state.off.clear(); refresh(); });
  const none = makeButton("No threads", () => { order.forEach(thread => state.off.add(thread)); refresh(); });
  const colours = make("span", undefined, "note");
  colours.id = "doing";
  if (p.unit === "ns" && p.kind !== "gc") {
    drawLegend(colours, DOING.filter((_, what) => seen.has(what)).map(([name, words]) => [getComputedStyle(document.documentElement).getPropertyValue(name), words]));
  }
  panel.append(all, " ", none, "  ", colours, axisRow());
  for (const thread of order.slice(0, MAX_LANES)) panel.append(lane(thread, lanes.get(thread), values[thread]));
  if (order.length > 10) panel.append(axisRow());
  note(panel, order.length > MAX_LANES ? `The ${MAX_LANES} busiest of ${order.length}.` : "");
}

const LANE_HEIGHT = 24;
// `parts`: values by what the thread does and by step of time.
function lane(thread, parts, value) {
  const p = profile(), row = make("div", undefined, state.off.has(thread) ? "lane off" : "lane");
  const label = make("label"), box = make("input"), graph = make("canvas");
  box.type = "checkbox";
  box.checked = !state.off.has(thread);
  box.onchange = () => { if (box.checked) state.off.delete(thread); else state.off.add(thread); refresh(); };
  label.append(box, " ", data.threads[thread]);
  label.title = data.threads[thread];
  const sumOf = what => parts[what].reduce((sum, value) => sum + value, 0), whole = Math.max(value, 1);
  const shares = DOING.map(([, words], what) => [words, sumOf(what)]).filter(([, sum]) => sum > 0).map(([words, sum]) => `${words} ${percent(sum, whole)}`);
  graph.setAttribute("role", "img");
  graph.setAttribute("aria-label", `${data.threads[thread]} over time: ${shares.join("; ")}`);
  graph.title = shares.join("; ");
  graph.width = p.steps; graph.height = LANE_HEIGHT;
  let most = 1;
  for (let step = 0; step < p.steps; step++) most = Math.max(most, parts[RUNS][step] + parts[IN_NATIVE_CODE][step] + parts[IDLE][step]);
  const c = graph.getContext("2d"), full = p.isBusyTime ? p.stepNs : most, style = getComputedStyle(document.documentElement);
  if (state.range) { c.fillStyle = "#8886"; c.fillRect(state.range[0], 0, state.range[1] - state.range[0], LANE_HEIGHT); }
  c.fillStyle = "#8884";
  for (const [at] of axisMarks(p.steps * p.stepNs)) c.fillRect(Math.floor(at / p.stepNs), 0, 1, LANE_HEIGHT);
  c.fillStyle = "#8888";
  c.fillRect(0, LANE_HEIGHT - 1, p.steps, 1);
  const tops = new Float64Array(p.steps).fill(LANE_HEIGHT);
  DOING.forEach(([name], what) => {
    c.fillStyle = style.getPropertyValue(name);
    parts[what].forEach((value, step) => {
      if (!value) return;
      const h = Math.min(Math.max(Math.min(value / full, 1) * LANE_HEIGHT, 1), tops[step]);
      tops[step] -= h;
      c.fillRect(step, tops[step], 1, h);
    });
  });
  let start = null;
  const stepAt = event => {
    const r = graph.getBoundingClientRect();
    return Math.max(0, Math.min(p.steps - 1, Math.floor((event.clientX - r.left) / r.width * p.steps)));
  };
  graph.onpointerdown = event => { start = stepAt(event); if (event.isTrusted) graph.setPointerCapture(event.pointerId); };
  graph.onpointerup = event => {
    if (start === null) return;
    const end = stepAt(event), [low, high] = [Math.min(start, end), Math.max(start, end)];
    start = null;
    // A click alone takes the choice back.
    state.range = high - low < 2 ? null : [low, high + 1];
    refresh();
  };
  row.append(label, graph, make("span", show(value)));
  return row;
}

// Single events. Parts of one, which end at the same time below one stack, are together.
function shownEvents() {
  const { events, stepNs } = profile(), kept = [];
  let last = null;
  for (let i = 0; i < events.length; i += 5) {
    const [timeNs, thread, stack, value, wait] = events.slice(i, i + 5), step = Math.floor(timeNs / stepNs);
    if (state.off.has(thread) || state.range && (step < state.range[0] || step >= state.range[1])) continue;
    const part = { stack, value };
    if (last && last.timeNs === timeNs && last.thread === thread && data.parents[last.parts[0].stack] === data.parents[stack]) {
      last.parts.push(part);
      last.value += value;
      last.stack = data.parents[stack];
    } else {
      last = { timeNs, thread, stack, value, wait, parts: [part] };
      kept.push(last);
    }
  }
  return kept;
}

// Who held the locks that were waited for; all threads, at any time.
function drawHolders(panel) {
  const { held } = profile();
  if (!held) return;
  const rows = [];
  for (let i = 0; i < held.length; i += 2) rows.push([held[i], held[i + 1]]);
  rows.sort((a, b) => b[1] - a[1]);
  const whole = rows.reduce((sum, [, value]) => sum + value, 0);
  const table = tableOf("Who held the locks", [["waited for", undefined], ["", undefined], ["thread", undefined]]);
  for (const [owner, value] of rows.slice(0, MAX_EVENT_ROWS)) addRow(table, [show(value), percent(value, whole), owner < 0 ? "(not known)" : data.threads[owner]], -1);
  table.id = "holders";
  panel.append(make("h2", "Who held the locks"), table);
}

// Pauses and waits: each one a bar at its time, as high as it was long.
function viewEvents(panel) {
  const { stepNs, steps, waits } = profile(), kept = shownEvents();
  const graph = make("canvas"), width = panel.clientWidth, scale = window.devicePixelRatio || 1;
  const most = kept.reduce((most, event) => Math.max(most, event.value), 1), whole = steps * stepNs;
  graph.id = "events";
  graph.width = Math.round(width * scale); graph.height = CHART_HEIGHT * scale; graph.style.height = CHART_HEIGHT + "px";
  graph.setAttribute("role", "img");
  graph.setAttribute("aria-label", `${kept.length} events over ${seconds(whole)}, the longest ${show(most)}`);
  panel.append(graph);
  const c = graph.getContext("2d"), text = getComputedStyle(document.body).color, floor = CHART_HEIGHT - 18;
  c.scale(scale, scale);
  c.font = "11px system-ui, sans-serif";
  c.fillStyle = text;
  c.fillText(show(most), 2, 11);
  c.fillRect(0, floor, width, 1);
  for (const [at, words] of axisMarks(whole)) {
    c.fillRect(at / whole * width, floor, 1, 5);
    c.fillText(words, at / whole * width + 3, CHART_HEIGHT - 4);
  }
  const busy = getComputedStyle(document.documentElement).getPropertyValue("--busy"), innermost = stack => data.frameFunctions[data.nodeFrames[stack]];
  for (const { timeNs, parts } of kept) {
    let below = floor;
    for (const part of parts) {
      const h = Math.max(part.value / most * (floor - 14), parts.length > 1 ? 0 : 1);
      c.fillStyle = parts.length > 1 ? partColour(innermost(part.stack)) : busy;
      c.fillRect(timeNs / whole * width, below - h, 2, h);
      below -= h;
    }
  }
  const phases = new Set(kept.flatMap(({ parts }) => parts.length > 1 ? parts.map(part => innermost(part.stack)) : []));
  if (phases.size) {
    const legend = make("p", undefined, "note");
    for (const phase of phases) {
      const mark = make("span", "■ ");
      mark.style.color = partColour(phase);
      legend.append(mark, nameOf(phase) + "  ");
    }
    legend.id = "phases";
    panel.append(legend);
  }
  drawHolders(panel);
  kept.sort((a, b) => b.value - a.value);
  const heads = [["at", undefined], ["length", undefined], ["thread", undefined], ...(waits ? [["held by", undefined], ["waiting", undefined]] : []), ["what and where", undefined]];
  const table = tableOf("The longest", heads);
  for (const { timeNs, thread, stack, value, wait, parts } of kept.slice(0, MAX_EVENT_ROWS)) {
    const where = make("span");
    let frames = 0;
    for (let at = stack; at && frames < 3; at = data.parents[at], frames++) {
      if (frames) where.append(" ← ");
      where.append(nameButton(data.frameFunctions[data.nodeFrames[at]]));
    }
    if (parts.length > 1) where.append(": " + parts.map(part => `${nameOf(innermost(part.stack))} ${show(part.value)}`).join(", "));
    const [owner, waiting] = waits && wait ? waits.slice(2 * wait - 2, 2 * wait) : [-1, ""];
    const held = waits ? [owner < 0 ? "" : data.threads[owner], String(waiting)] : [];
    addRow(table, [seconds(timeNs), show(value), data.threads[thread], ...held, where], -1);
  }
  panel.append(make("h2", "The longest"), table);
}
