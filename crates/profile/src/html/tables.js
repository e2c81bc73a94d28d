// Tables: functions, call tree, what events were about, and the details of a function.
const MAX_FUNCTIONS = 500, MAX_TREE_ROWS = 2000, MAX_DETAILS = 12;

// The name of a function, which shows its details.
function nameButton(fn) {
  return makeButton(nameOf(fn), () => select(fn), kindOf(fn) === NATIVE ? "name native" : "name");
}

const tableOf = (caption, heads) => sortedTable(caption, heads, state.sort, key => { state.sort = key; draw(); });

function addRow(table, cells, fn) {
  const tr = addCells(table, cells);
  if (fn >= 0 && isFound[fn]) tr.className = "found";
  return tr;
}

// Before and after: shares of the whole, since runs differ in length.
function viewChanges(panel) {
  const { before, after } = changes, list = [];
  const { total } = functionSums(), change = fn => after[fn] - before[fn];
  for (let fn = 0; fn < after.length; fn++) if ((before[fn] > 0 || after[fn] > 0) && (!found || isFound[fn])) list.push(fn);
  const keys = { 4: fn => before[fn], 5: fn => after[fn], 6: fn => total[fn] }, key = keys[state.sort] || (fn => Math.abs(change(fn)));
  list.sort((a, b) => key(b) - key(a) || after[b] - after[a]);
  const table = tableOf("Functions", [["own before", 4], ["own after", 5], ["change", 1], ["with callees after", 6], ["function", undefined]]);
  for (const fn of list.slice(0, MAX_FUNCTIONS)) {
    const cell = make("span", (change(fn) < 0 ? "−" : "+") + percent(Math.abs(change(fn)), 1), change(fn) < 0 ? "less" : "more");
    addRow(table, [percent(before[fn], 1), percent(after[fn], 1), cell, percent(total[fn], sums.whole), nameButton(fn)], fn);
  }
  panel.append(table);
  note(panel, list.length > MAX_FUNCTIONS ? `The first ${MAX_FUNCTIONS} of ${list.length}; the search finds the others.` : "");
}

function viewFunctions(panel) {
  if (changes) { viewChanges(panel); return; }
  const { own, total } = functionSums(), list = [];
  for (let fn = 0; fn < own.length; fn++) if (total[fn] > 0 && (!found || isFound[fn])) list.push(fn);
  const by = state.sort === 2 ? total : own;
  list.sort((a, b) => by[b] - by[a] || total[b] - total[a]);
  const table = tableOf("Functions", [["own", 1], ["", undefined], ["with callees", 2], ["", undefined], ["function", undefined]]);
  for (const fn of list.slice(0, MAX_FUNCTIONS)) {
    const name = make("span");
    name.append(nameButton(fn));
    if (fileOf(fn)) name.append(make("span", fileOf(fn), "file"));
    addRow(table, [show(own[fn]), percent(own[fn], sums.whole), show(total[fn]), percent(total[fn], sums.whole), name], fn);
  }
  panel.append(table);
  note(panel, list.length > MAX_FUNCTIONS ? `The first ${MAX_FUNCTIONS} of ${list.length}; the search finds the others.` : "");
}

// What samples were about is their innermost frame: a type, a lock, an exception; of collections their phases, of which only the first counts as a sample.
function hasSubjects() {
  const p = profile();
  let about = 0, all = 0;
  for (let i = 0; i < p.stacks.length; i++) {
    all += p.values[i];
    if (p.stacks[i] && kindOf(data.frameFunctions[data.nodeFrames[p.stacks[i]]]) === NOTE) about += p.values[i];
  }
  return p.counts !== undefined && about * 2 > all;
}

function viewSubjects(panel) {
  const values = new Map();
  for (let node = 1; node < data.parents.length; node++) {
    if (!sums.counts[node] && !sums.nodeOwn[node]) continue;
    const fn = data.frameFunctions[data.nodeFrames[node]], row = values.get(fn) || [0, 0];
    row[0] += sums.nodeOwn[node]; row[1] += sums.counts[node];
    values.set(fn, row);
  }
  const list = [...values].filter(([fn]) => !found || isFound[fn]), by = state.sort === 3 ? 1 : 0;
  list.sort((a, b) => b[1][by] - a[1][by]);
  const table = tableOf("What it was about", [[profile().unit === "count" ? "number" : profile().unit === "ns" ? "time" : "size", 1], ["", undefined], ["samples", 3], ["name", undefined]]);
  for (const [fn, [value, count]] of list.slice(0, MAX_FUNCTIONS)) {
    addRow(table, [show(value), percent(value, sums.whole), count ? count.toLocaleString("en") : "", nameButton(fn)], fn);
  }
  panel.append(table);
  note(panel, "A click on a name shows where.");
}

function viewTree(panel) {
  const table = tableOf("Call tree", [["total", undefined], ["", undefined], ["own", undefined], ["function", undefined]]);
  const sorted = call => [...childrenOf(call)].filter(child => sums.total[child] > 0).sort((a, b) => sums.total[a] - sums.total[b]);
  const pending = sorted(0);
  let count = 0;
  while (pending.length && count < MAX_TREE_ROWS) {
    count++;
    const call = pending.pop(), fn = calls.fn[call], below = sorted(call);
    const isOpen = state.open.has(call) ? state.open.get(call) : sums.total[call] > sums.whole * .2;
    const name = make("span"), twist = makeButton(below.length ? (isOpen ? "▾" : "▸") : "", () => { state.open.set(call, !isOpen); draw(); }, "twist");
    twist.disabled = !below.length;
    twist.setAttribute("aria-expanded", isOpen && below.length > 0);
    twist.setAttribute("aria-label", (isOpen ? "close " : "open ") + nameOf(fn));
    name.style.paddingLeft = Math.min(calls.depth[call] - 1, 60) * 10 + "px";
    name.append(twist, nameButton(fn));
    addRow(table, [show(sums.total[call]), percent(sums.total[call], sums.whole), show(sums.own[call]), name], fn)
      .setAttribute("aria-level", calls.depth[call]);
    if (isOpen) for (const child of below) pending.push(child);
  }
  panel.append(table);
  note(panel, pending.length ? `${MAX_TREE_ROWS} rows are shown; close some to see others.` : "");
}

function select(fn) {
  state.selected = fn;
  drawDetails();
  remember();
}

function drawDetails() {
  const panel = element("details"), fn = state.selected;
  const wasHidden = panel.hidden;
  panel.hidden = fn < 0;
  panel.replaceChildren();
  if (wasHidden !== panel.hidden && isGraph()) drawFlame();
  if (fn < 0) return;
  const { own, total } = functionSums();
  const close = makeButton("×", () => select(-1));
  close.setAttribute("aria-label", "Close details");
  close.style.float = "right";
  panel.append(close, make("strong", nameOf(fn)), make("div", fileOf(fn), "note"),
    make("div", `own ${show(own[fn])}, ${percent(own[fn], sums.whole)}; with callees ${show(total[fn])}, ${percent(total[fn], sums.whole)}`));
  drawLines(panel, fn);
  const callers = new Map(), callees = new Map();
  for (let call = 1; call < calls.count; call++) {
    if (calls.fn[call] === fn && calls.isOutermost[call]) {
      const caller = calls.fn[calls.parent[call]];
      callers.set(caller, (callers.get(caller) || 0) + sums.total[call]);
    }
    if (calls.fn[calls.parent[call]] === fn && calls.fn[call] !== fn) {
      callees.set(calls.fn[call], (callees.get(calls.fn[call]) || 0) + sums.total[call]);
    }
  }
  for (const [title, map] of [["Called by", callers], ["Calls", callees]]) {
    const list = [...map].filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]).slice(0, MAX_DETAILS);
    if (!list.length) continue;
    const table = tableOf(title, [["time", undefined], ["", undefined], ["function", undefined]]);
    table.deleteTHead();
    for (const [other, value] of list) addRow(table, [show(value), percent(value, total[fn]), other < 0 ? make("span", "(outermost)") : nameButton(other)], other);
    panel.append(make("h2", title), table);
  }
}

// The function's lines, and their text where the file was found when the profile was written.
function drawLines(panel, fn) {
  const lines = new Map();
  for (let node = 1; node < data.parents.length; node++) {
    const frame = data.nodeFrames[node], line = data.frameLines[frame];
    if (data.frameFunctions[frame] !== fn || !line || !sums.nodeTotal[node]) continue;
    const row = lines.get(line) || [0, 0];
    row[0] += sums.nodeOwn[node];
    if (calls.isOutermost[calls.callOf[node]]) row[1] += sums.nodeTotal[node];
    lines.set(line, row);
  }
  if (!lines.size) return;
  const texts = new Map(data.sources[data.functions[fn][1]] || []), shown = new Set(lines.keys());
  const [low, high] = [Math.min(...lines.keys()), Math.max(...lines.keys())];
  for (const line of texts.keys()) if (line >= low - 3 && line <= high + 3) shown.add(line);
  const table = tableOf("Lines", [["own", undefined], ["with callees", undefined], ["line", undefined], ["", undefined]]);
  table.className = "source";
  // Without the indentation that all have.
  const indents = [...shown].map(line => texts.get(line) || "").filter(text => text.trim()).map(text => text.search(/\S/));
  const indent = indents.length ? Math.min(...indents) : 0;
  const most = Math.max(...[...lines.values()].map(([, all]) => all));
  let before = 0;
  for (const line of [...shown].sort((a, b) => a - b)) {
    if (before && line > before + 1) addRow(table, ["", "", "⋯", ""], -1);
    before = line;
    const [mine, all] = lines.get(line) || [0, 0];
    const tr = addRow(table, [mine ? show(mine) : "", all ? show(all) : "", String(line), (texts.get(line) || "").slice(indent)], -1);
    if (all && all >= most / 2) tr.className = "hot";
  }
  panel.append(make("h2", "Lines"), table);
}
