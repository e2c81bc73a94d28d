// What happened when: the threads, and single events such as pauses.
const MAX_LANES = 300, MAX_EVENT_ROWS = 100, CHART_HEIGHT = 180;
const seconds = ns => (ns / 1e9).toFixed(3) + " s";

function viewThreads(panel) {
  const p = profile();
  const values = data.threads.map(() => 0), lanes = new Map();
  for (let i = 0; i < p.stacks.length; i++) {
    const thread = p.threads[i];
    values[thread] += p.values[i];
    if (!lanes.has(thread)) lanes.set(thread, new Float64Array(p.steps));
    lanes.get(thread)[p.times[i]] += p.values[i];
  }
  const order = [...lanes.keys()].sort((a, b) => values[b] - values[a]);
  note(panel, "A thread without its mark is left out of every view. Dragging over a lane chooses a span of time.");
  const all = make("button", "All threads"), none = make("button", "No threads");
  all.type = none.type = "button";
  all.onclick = () => { state.off.clear(); refresh(); };
  none.onclick = () => { order.forEach(thread => state.off.add(thread)); refresh(); };
  panel.append(all, " ", none);
  for (const thread of order.slice(0, MAX_LANES)) panel.append(lane(thread, lanes.get(thread), values[thread]));
  note(panel, order.length > MAX_LANES ? `The ${MAX_LANES} busiest of ${order.length}.` : "");
}

function lane(thread, steps, value) {
  const p = profile(), row = make("div", undefined, state.off.has(thread) ? "lane off" : "lane");
  const label = make("label"), box = make("input"), graph = make("canvas");
  box.type = "checkbox";
  box.checked = !state.off.has(thread);
  box.onchange = () => { if (box.checked) state.off.delete(thread); else state.off.add(thread); refresh(); };
  label.append(box, " ", data.threads[thread]);
  label.title = data.threads[thread];
  graph.setAttribute("role", "img");
  graph.setAttribute("aria-label", `${data.threads[thread]} over time`);
  graph.width = p.steps; graph.height = 24;
  const c = graph.getContext("2d"), full = p.isBusyTime ? p.stepNs : Math.max(...steps, 1);
  if (state.range) { c.fillStyle = "#8886"; c.fillRect(state.range[0], 0, state.range[1] - state.range[0], 24); }
  c.fillStyle = "#8888";
  c.fillRect(0, 23, p.steps, 1);
  c.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--busy");
  steps.forEach((value, step) => { if (value) { const h = Math.max(Math.min(value / full, 1) * 24, 1); c.fillRect(step, 24 - h, 1, h); } });
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

// Pauses and waits: each one a bar at its time, as high as it was long.
function viewEvents(panel) {
  const { events, stepNs, steps } = profile();
  const kept = [];
  for (let i = 0; i < events.length; i += 4) {
    const [timeNs, thread, stack, value] = events.slice(i, i + 4), step = Math.floor(timeNs / stepNs);
    if (state.off.has(thread) || state.range && (step < state.range[0] || step >= state.range[1])) continue;
    kept.push({ timeNs, thread, stack, value });
  }
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
  for (let mark = 0; mark <= 4; mark++) {
    const label = seconds(whole * mark / 4), x = Math.min(width * mark / 4, width - c.measureText(label).width - 2);
    c.fillText(label, x, CHART_HEIGHT - 4);
  }
  c.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--busy");
  for (const { timeNs, value } of kept) {
    const h = Math.max(value / most * (floor - 14), 1);
    c.fillRect(timeNs / whole * width, floor - h, 2, h);
  }
  kept.sort((a, b) => b.value - a.value);
  const table = tableOf("The longest", [["at", undefined], ["length", undefined], ["thread", undefined], ["what and where", undefined]]);
  for (const { timeNs, thread, stack, value } of kept.slice(0, MAX_EVENT_ROWS)) {
    const where = make("span");
    let frames = 0;
    for (let at = stack; at && frames < 3; at = data.parents[at], frames++) {
      if (frames) where.append(" ← ");
      where.append(nameButton(data.frameFunctions[data.nodeFrames[at]]));
    }
    addRow(table, [seconds(timeNs), show(value), data.threads[thread], where], -1);
  }
  panel.append(table);
}
