"use strict";
// The profiles and what is computed of them. Stacks are nodes: node 0 is the empty stack, and callers have smaller numbers than what they call.
const element = id => document.getElementById(id);
window.addEventListener("error", event => {
  element("fault").hidden = false;
  element("fault").textContent = "This page has a fault: " + event.message;
});
const data = JSON.parse(element("data").textContent);
const NATIVE = 1, NOTE = 2;
const nameOf = fn => fn < 0 ? "all" : data.functions[fn][0];
const fileOf = fn => fn < 0 ? "" : data.files[data.functions[fn][1]] || "";
const kindOf = fn => fn < 0 ? NOTE : data.functions[fn][2];

// What is shown: the address bar says it, too.
const state = { kind: 0, view: "flame", query: "", off: new Set(), range: null, zoom: 0, selected: -1, sort: 1, open: new Map() };
const profile = () => data.profiles[state.kind];

function show(value) {
  const unit = profile().unit;
  if (unit === "ns") return value < 1e6 ? (value / 1e3).toFixed(1) + " µs" : value < 1e9 ? (value / 1e6).toFixed(1) + " ms" : (value / 1e9).toFixed(2) + " s";
  if (unit === "bytes") return value < 1048576 ? (value / 1024).toFixed(1) + " KiB" : (value / 1048576).toFixed(1) + " MiB";
  return value.toLocaleString("en");
}
const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
const percent = (value, whole) => (100 * value / Math.max(whole, 1)).toFixed(1) + " %";

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
  return { callOf, parent, fn, depth, first, next, isOutermost, count };
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
  const own = new Float64Array(calls.count), total = new Float64Array(calls.count);
  for (let node = 0; node < nodes; node++) own[calls.callOf[node]] += nodeOwn[node];
  for (let node = nodes - 1; node > 0; node--) nodeTotal[data.parents[node]] += nodeTotal[node];
  total.set(own);
  for (let call = calls.count - 1; call > 0; call--) total[calls.parent[call]] += total[call];
  sums = { nodeOwn, nodeTotal, counts, own, total, whole: total[0] };
}

// Functions that the search marks, and the share of the time that is below one of them.
let isFound = new Uint8Array(data.functions.length), found = null;
function search() {
  const query = state.query.toLowerCase();
  isFound = new Uint8Array(data.functions.length);
  found = null;
  if (query === "") return;
  let functions = 0, below = 0;
  data.functions.forEach(([name], fn) => { if (name.toLowerCase().includes(query)) { isFound[fn] = 1; functions++; } });
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
