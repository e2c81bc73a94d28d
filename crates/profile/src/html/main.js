// What is on the screen, and the address bar.
const SUBJECTS = { alloc: "Types", heap: "Types", lock: "Locks", exceptions: "Exceptions", gc: "Phases" };
const EVENTS = { gc: "Pauses", lock: "Waits" };

// Names and contents of the views that the kind has.
function views() {
  const list = [["flame", "Flame graph", viewFlame], ["callers", "Bottom-up graph", viewFlame], ["functions", "Functions", viewFunctions], ["tree", "Call tree", viewTree]];
  const { kind, events } = profile();
  // The threads and times of two runs have nothing in common.
  if (changes) return list;
  list.push(["threads", "Threads", viewThreads]);
  if (events && events.length) list.splice(2, 0, ["events", EVENTS[kind] || "Events", viewEvents]);
  if (hasSubjects()) list.splice(2, 0, ["subjects", SUBJECTS[kind] || "Subjects", viewSubjects]);
  return list;
}

function draw() {
  const list = views();
  if (!list.some(([key]) => key === state.view)) state.view = "flame";
  tabs(element("kinds"), data.profiles.map((p, index) => [index, p.kind]), state.kind, chooseKind);
  tabs(element("views"), list, state.view, view => { state.view = view; draw(); });
  const panel = element("panel");
  panel.replaceChildren();
  list.find(([key]) => key === state.view)[2](panel);
  showSearchError(searchError);
  element("found").textContent = searchError ? "" : found ? `${percent(found.below, sums.whole)} in ${counted(found.functions, "function")}` : "";
  const limits = [];
  if (state.off.size) limits.push(counted(state.off.size, "thread") + " left out");
  if (state.range) limits.push(`from ${seconds(state.range[0] * profile().stepNs)} to ${seconds(state.range[1] * profile().stepNs)}`);
  element("limits").textContent = limits.length ? "Shown: " + show(sums.whole) + "; " + limits.join("; ") : "";
  drawDetails();
  remember();
}

// Other threads, another span of time or kind.
function refresh() { measure(); compareKinds(); search(); draw(); }

function chooseKind(kind) {
  state.kind = kind;
  state.range = null;
  measure();
  compareKinds();
  search();
  if (!sums.total[state.zoom]) state.zoom = 0;
  const p = profile();
  document.title = `${p.kind} profile: ${data.title}`;
  element("summary").textContent = (changes ? `${p.kind} profiles compared by shares of the whole, ${show(changes.whole)} before, ${show(sums.whole)} after`
    : `${p.kind} profile, ${show(sums.whole)}, ${counted(new Set(p.threads).size, "thread")}`)
    + (data.startMs ? ", " + new Date(data.startMs).toLocaleString() : "")
    + (p.lost ? `; ${p.lost} samples lost` : "")
    + (p.withoutCallers ? `; of ${p.withoutCallers} samples the callers could not be found` : "");
  draw();
}

// The address bar: #kind=alloc&view=flame&search=Foo&zoom=12&up=3.7&sort=2&off=1.2&time=10-20&function=Foo
function remember() {
  const words = new URLSearchParams();
  if (data.profiles.length > 1) words.set("kind", profile().kind);
  words.set("view", state.view);
  if (state.query) words.set("search", state.query);
  if (state.zoom) words.set("zoom", state.zoom);
  if (state.up) words.set("up", state.up);
  if (state.sort !== 1) words.set("sort", state.sort);
  if (state.off.size) words.set("off", [...state.off].join("."));
  if (state.range) words.set("time", state.range.join("-"));
  if (state.selected >= 0) words.set("function", nameOf(state.selected));
  history.replaceState(null, "", "#" + words);
}

function recall() {
  const words = new URLSearchParams(location.hash.slice(1));
  const kind = data.profiles.findIndex(p => p.kind === words.get("kind"));
  const view = words.get("view"), zoom = words.get("zoom"), name = words.get("function");
  const time = /^(\d+)-(\d+)$/.exec(words.get("time") || "");
  if (view) state.view = view;
  state.query = (words.get("search") || "").trim();
  element("search").value = state.query;
  state.up = words.get("up") || "";
  state.sort = Number(words.get("sort")) || 1;
  const threads = (words.get("off") || "").split(".").filter(text => text !== "").map(Number);
  state.off = new Set(threads.filter(thread => data.threads[thread] !== undefined));
  chooseKind(Math.max(kind, 0));
  if (time && +time[1] < +time[2]) { state.range = [+time[1], +time[2]]; refresh(); }
  // A number of a call, or a function: its largest call.
  let call = /^\d+$/.test(zoom || "") ? Number(zoom) : 0;
  if (zoom && !call) for (let at = 1; at < calls.count; at++) if (nameOf(calls.fn[at]) === zoom && (!call || sums.total[at] > sums.total[call])) call = at;
  if (call > 0 && call < calls.count) state.zoom = call;
  if (name !== null) state.selected = data.functions.findIndex(([known]) => known === name);
  draw();
}

element("search").oninput = event => { state.query = event.target.value.trim(); search(); draw(); };
element("reset").onclick = () => {
  state.zoom = 0; state.up = ""; focus = 0; state.off.clear(); state.range = null; state.query = ""; state.selected = -1;
  element("search").value = "";
  refresh();
};
let resizing = 0;
window.addEventListener("resize", () => { cancelAnimationFrame(resizing); resizing = requestAnimationFrame(draw); });
element("title").textContent = data.title;
element("kinds").hidden = data.profiles.length < 2;
if (data.profiles.length) recall();
else element("summary").textContent = "There is no profile in this page.";
