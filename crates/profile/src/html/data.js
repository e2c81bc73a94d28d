// The profiles and what is computed of them. Stacks are nodes: node 0 is the empty stack, and callers have smaller numbers than what they call.
const NATIVE = 1, NOTE = 2;
const nameOf = fn => fn < 0 ? "all" : data.functions[fn][0];
const fileOf = fn => fn < 0 ? "" : data.files[data.functions[fn][1]] || "";
const kindOf = fn => fn < 0 ? NOTE : data.functions[fn][2];
// Innermost frames that say that a thread waits. In native code it may do either.
const WAITS = new Set(["[sleeping]", "[joining a thread]", "[waiting for a lock]", "[waiting for a handle]", "[waiting]"]);
const isWait = fn => fn >= 0 && kindOf(fn) === NOTE && WAITS.has(nameOf(fn));
// Native code that has called the system to wait, as for the end of a collection: a few frames say so, between the call and managed code.
function isNativeWait(call, parent, fns) {
  if (kindOf(fns[call]) !== NATIVE || !/syscall|futex/.test(nameOf(fns[call]))) return false;
  for (let at = parent[call], left = 8; at > 0 && left > 0 && kindOf(fns[at]) === NATIVE; at = parent[at], left--) {
    if (/(^|[:_])wait(_|$)/.test(nameOf(fns[at]))) return true;
  }
  return false;
}

// What is shown: the address bar says it, too. `zoom` is a call, `up` the place in the graph of callers: functions with points between them.
const state = { kind: 0, view: "flame", query: "", off: new Set(), range: null, zoom: 0, up: "", selected: -1, sort: 1, open: new Map() };
const profile = () => data.profiles[state.kind];

function show(value) {
  const unit = profile().unit;
  if (unit === "ns") return value < 1e6 ? (value / 1e3).toFixed(1) + " µs" : value < 1e9 ? (value / 1e6).toFixed(1) + " ms" : (value / 1e9).toFixed(2) + " s";
  if (unit === "bytes") return value < 1048576 ? (value / 1024).toFixed(1) + " KiB" : (value / 1048576).toFixed(1) + " MiB";
  return value.toLocaleString("en");
}

// Calls: stacks without their lines. Call 0 is the root. Children are a list in the order of their names.
const calls = (() => {
  const nodes = data.parents.length, functions = data.functions.length;
  const callOf = new Int32Array(nodes), known = new Map();
  const parent = [-1], fn = [-1], depth = [0];
  for (let node = 1; node < nodes; node++) {
    const caller = callOf[data.parents[node]], callee = data.frameFunctions[data.nodeFrames[node]];
    const key = caller * functions + callee;
    let call = known.get(key);
    if (call === undefined) {
      call = parent.length;
      parent.push(caller); fn.push(callee); depth.push(depth[caller] + 1);
      known.set(key, call);
    }
    callOf[node] = call;
  }
  const count = parent.length;
  const byName = Array.from(data.functions.keys()).sort((a, b) => nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : a - b);
  const rank = new Int32Array(functions);
  byName.forEach((f, index) => rank[f] = index);
  const order = Int32Array.from({ length: count - 1 }, (_, index) => index + 1).sort((a, b) => rank[fn[b]] - rank[fn[a]]);
  const first = new Int32Array(count), next = new Int32Array(count);
  for (const call of order) { next[call] = first[parent[call]]; first[parent[call]] = call; }
  // Calls of a function that none of the callers is: recursion counts once.
  const isOutermost = new Uint8Array(count), active = new Int32Array(functions), path = [];
  let at = first[0];
  while (at) {
    isOutermost[at] = active[fn[at]]++ === 0 ? 1 : 0;
    path.push(at);
    at = first[at];
    while (!at && path.length) { const left = path.pop(); active[fn[left]]--; at = next[left]; }
  }
  const isWaiting = new Uint8Array(count);
  for (let call = 1; call < count; call++) isWaiting[call] = isWait(fn[call]) || isNativeWait(call, parent, fn) ? 1 : 0;
  return { callOf, parent, fn, depth, first, next, isOutermost, isWaiting, count };
})();
function* childrenOf(call) { for (let at = calls.first[call]; at; at = calls.next[at]) yield at; }

// Sums of the kind, threads and time that are shown.
let sums;
function measure() {
  const p = profile(), nodes = data.parents.length;
  const nodeOwn = new Float64Array(nodes), nodeTotal = new Float64Array(nodes), counts = new Float64Array(nodes);
  const [from, to] = state.range || [0, p.steps];
  for (let i = 0; i < p.stacks.length; i++) {
    if (state.off.has(p.threads[i]) || p.times[i] < from || p.times[i] >= to) continue;
    nodeOwn[p.stacks[i]] += p.values[i];
    counts[p.stacks[i]] += p.counts ? p.counts[i] : 1;
  }
  nodeTotal.set(nodeOwn);
  const own = new Float64Array(calls.count), total = new Float64Array(calls.count), waiting = new Float64Array(calls.count);
  for (let node = 0; node < nodes; node++) own[calls.callOf[node]] += nodeOwn[node];
  for (let node = nodes - 1; node > 0; node--) nodeTotal[data.parents[node]] += nodeTotal[node];
  total.set(own);
  // Processor time is never waited.
  const mayWait = p.kind !== "cpu";
  for (let call = calls.count - 1; call > 0; call--) {
    if (mayWait && calls.isWaiting[call]) waiting[call] += own[call];
    total[calls.parent[call]] += total[call];
    waiting[calls.parent[call]] += waiting[call];
  }
  sums = { nodeOwn, nodeTotal, counts, own, total, waiting, whole: total[0] };
}

// Functions that the search marks, and the share of the time that is below one of them.
let isFound = new Uint8Array(data.functions.length), found = null, searchError = "";
const functionNames = data.functions.map(([name]) => name);
function search() {
  const { finds, error } = searcher(state.query, functionNames);
  searchError = error;
  isFound = new Uint8Array(data.functions.length);
  found = null;
  if (!finds) return;
  let functions = 0, below = 0;
  functionNames.forEach((name, fn) => { if (finds(name)) { isFound[fn] = 1; functions++; } });
  const isBelow = new Uint8Array(calls.count);
  for (let call = 1; call < calls.count; call++) {
    isBelow[call] = isBelow[calls.parent[call]];
    if (!isBelow[call] && isFound[calls.fn[call]]) { isBelow[call] = 1; below += sums.total[call]; }
  }
  found = { functions, below };
}

function functionSums() {
  const own = new Float64Array(data.functions.length), total = new Float64Array(data.functions.length);
  for (let call = 1; call < calls.count; call++) {
    own[calls.fn[call]] += sums.own[call];
    if (calls.isOutermost[call]) total[calls.fn[call]] += sums.total[call];
  }
  return { own, total };
}

// Of a page that compares: by function, its own share of the whole before and after, and the largest change.
let changes = null;
function compareKinds() {
  const { before } = profile();
  changes = null;
  if (!before) return;
  const shareBefore = new Float64Array(data.functions.length), shareAfter = new Float64Array(data.functions.length);
  let whole = 0;
  before.values.forEach((value, i) => {
    whole += value;
    if (before.stacks[i]) shareBefore[data.frameFunctions[data.nodeFrames[before.stacks[i]]]] += value;
  });
  const { own } = functionSums();
  let largest = 1e-9;
  for (let fn = 0; fn < own.length; fn++) {
    shareBefore[fn] /= Math.max(whole, 1);
    shareAfter[fn] = own[fn] / Math.max(sums.whole, 1);
    largest = Math.max(largest, Math.abs(shareAfter[fn] - shareBefore[fn]));
  }
  changes = { before: shareBefore, after: shareAfter, largest, whole };
}

// The two graphs, in the same terms. Of the first, places are calls.
const downward = {
  fn: call => calls.fn[call], parent: call => calls.parent[call], total: call => sums.total[call], own: call => sums.own[call],
  waiting: call => sums.waiting[call], children: childrenOf,
  zoomed: () => state.zoom, keepZoom: call => { state.zoom = call; },
};

// The same stacks from their ends: below a function the ones that called it, as far as they led to time of its own. Places are made when they are looked at.
function callersOf() {
  if (sums.callers) return sums.callers;
  const fn = [-1], parent = [-1], total = [sums.whole], waiting = [sums.waiting[0]], parts = [null], below = [null];
  const children = place => {
    if (below[place]) return below[place];
    const groups = new Map();
    // A call, and the one at the end of the stack that its time is of.
    const add = (call, end) => {
      const group = groups.get(calls.fn[call]) || [0, 0, []], value = sums.own[end];
      group[0] += value; group[1] += calls.isWaiting[end] && sums.waiting[0] > 0 ? value : 0; group[2].push(call, end);
      groups.set(calls.fn[call], group);
    };
    if (place === 0) for (let call = 1; call < calls.count; call++) { if (sums.own[call] > 0) add(call, call); }
    else for (let i = 0; i < parts[place].length; i += 2) {
      const call = calls.parent[parts[place][i]];
      if (call > 0) add(call, parts[place][i + 1]);
    }
    below[place] = [...groups].sort((a, b) => b[1][0] - a[1][0]).map(([callee, [value, waited, list]]) => {
      fn.push(callee); parent.push(place); total.push(value); waiting.push(waited); parts.push(list); below.push(null);
      return fn.length - 1;
    });
    return below[place];
  };
  const pathOf = place => { const path = []; for (let at = place; at > 0; at = parent[at]) path.unshift(fn[at]); return path.join("."); };
  const find = path => {
    let at = 0;
    for (const word of path === "" ? [] : path.split(".")) { at = children(at).find(child => fn[child] === Number(word)); if (at === undefined) return 0; }
    return at;
  };
  sums.callers = {
    fn: place => fn[place], parent: place => parent[place], total: place => total[place],
    waiting: place => waiting[place], children,
    zoomed: () => find(state.up), keepZoom: place => { state.up = pathOf(place); },
  };
  return sums.callers;
}
