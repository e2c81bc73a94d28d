// The flame graph: callers above what they call, or from the ends of the stacks up to the callers. Only boxes that are wide enough to be seen are looked at.
const ROW = 18, MAX_ROWS = 300, MAX_CALLERS = 12, MIN_WIDTH = 0.5;
let rows = [], focus = 0, marked = 0;
const canvas = document.createElement("canvas"), deeper = document.createElement("p"), legend = document.createElement("p");
canvas.id = "graph";
canvas.tabIndex = 0;
canvas.setAttribute("role", "img");
deeper.className = "note";
legend.className = "note";
legend.id = "legend";
const isGraph = () => state.view === "flame" || state.view === "callers";
const graph = () => state.view === "callers" ? callersOf() : downward;

// Lightness and hue vary a little, so that boxes can be told from their neighbours.
const WAITING_COLOUR = "hsl(275 30% 72%)", MANAGED_COLOUR = "hsl(30 80% 68%)", NATIVE_COLOUR = "hsl(215 35% 72%)", NOTE_COLOUR = "hsl(0 0% 76%)";
const MORE_COLOUR = "hsl(0 80% 65%)", LESS_COLOUR = "hsl(215 80% 65%)";
function colour(place) {
  const fn = graph().fn(place), name = nameOf(fn);
  if (changes) {
    const change = fn < 0 ? 0 : (changes.after[fn] - changes.before[fn]) / changes.largest;
    return `hsl(${change > 0 ? 0 : 215} 80% ${95 - 35 * Math.min(Math.abs(change), 1)}%)`;
  }
  let hash = 0;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  if (graph().waiting(place) * 2 > graph().total(place)) return `hsl(${265 + hash % 20} 30% ${68 + hash % 10}%)`;
  if (kindOf(fn) === NATIVE) return `hsl(${205 + hash % 25} 35% ${68 + hash % 12}%)`;
  if (kindOf(fn) === NOTE) return `hsl(0 0% ${72 + hash % 10}%)`;
  return `hsl(${22 + hash % 30} 80% ${64 + hash % 12}%)`;
}

// What the colours mean: a list of [colour, words].
function drawLegend(list, entries) {
  list.replaceChildren();
  for (const [colour, words] of entries) {
    const mark = make("span", "■ ", "mark");
    mark.style.color = colour;
    list.append(mark, words + "   ");
  }
}

function viewFlame(panel) {
  focus = graph().zoomed();
  panel.append(legend, canvas, deeper);
  const kinds = new Set(data.functions.map(([, , kind]) => kind));
  drawLegend(legend, changes ? [[MORE_COLOUR, "a larger share than before"], [LESS_COLOUR, "a smaller share"]] : [
    [MANAGED_COLOUR, "managed code"],
    ...(kinds.has(NATIVE) ? [[NATIVE_COLOUR, "native code"]] : []),
    ...(kinds.has(NOTE) ? [[NOTE_COLOUR, "what it was about"]] : []),
    ...(sums.waiting[0] > 0 ? [[WAITING_COLOUR, "mostly waiting"]] : []),
  ]);
  legend.append(make("span", state.view === "callers" ? "First row: where the time was spent; below each box, who called it." : "Below each box, what it called.", "gap"));
  drawFlame();
}

function drawFlame() {
  const width = canvas.parentElement.clientWidth, scale = window.devicePixelRatio || 1;
  const tree = graph(), zoomed = tree.zoomed(), path = [];
  for (let at = tree.parent(zoomed); at >= 0; at = tree.parent(at)) path.unshift(at);
  const above = path.slice(-MAX_CALLERS);
  rows = [];
  const place = (level, call, x, w, isAbove) => (rows[level] ||= []).push({ call, x, w, isAbove });
  above.forEach((call, level) => place(level, call, 0, width, true));
  const whole = tree.total(zoomed), pending = [[zoomed, 0, above.length]];
  let cut = 0;
  while (pending.length) {
    const [call, x, level] = pending.pop();
    const w = whole ? tree.total(call) / whole * width : call === zoomed ? width : 0;
    if (level >= MAX_ROWS) { cut++; continue; }
    place(level, call, x, w, false);
    let at = x;
    const below = [];
    for (const child of tree.children(call)) {
      const w = whole ? tree.total(child) / whole * width : 0;
      if (w >= MIN_WIDTH) below.push([child, at, level + 1]);
      at += w;
    }
    // From left to right in each row.
    for (let i = below.length - 1; i >= 0; i--) pending.push(below[i]);
  }
  const height = rows.length * ROW;
  canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale); canvas.style.height = height + "px";
  const c = canvas.getContext("2d");
  c.scale(scale, scale);
  c.font = "12px system-ui, sans-serif";
  c.textBaseline = "middle";
  marked = 0;
  let boxes = 0;
  rows.forEach((row, level) => row.forEach(box => { paint(c, box, level); boxes++; }));
  const what = state.view === "callers" ? "Graph of callers" : "Flame graph";
  canvas.setAttribute("aria-label", `${what} of ${profile().kind}: ${boxes} boxes, ${marked} found, widest ${nameOf(tree.fn(zoomed))}. `
    + "Arrow keys move, Enter zooms in, Escape zooms out.");
  deeper.textContent = cut ? `${cut} calls are deeper than is drawn: zoom in to see them.` : "";
}

function paint(c, { call, x, w, isAbove }, level) {
  const fn = graph().fn(call), y = level * ROW, isMarked = fn >= 0 && isFound[fn];
  if (isMarked) marked++;
  c.globalAlpha = isAbove ? .55 : 1;
  c.fillStyle = isMarked ? "#bf125d" : colour(call);
  c.fillRect(x, y, Math.max(w - .5, MIN_WIDTH), ROW - 1);
  if (call === focus && document.activeElement === canvas) {
    c.lineWidth = 2;
    c.strokeStyle = getComputedStyle(document.body).color;
    c.strokeRect(x + 1, y + 1, Math.max(w - 2.5, 1), ROW - 3);
  }
  if (w > ROOM_FOR_TEXT) {
    c.fillStyle = isMarked ? "#fff" : "#111";
    writeName(c, fn, x + 4, y + ROW / 2, w - 8);
  }
}

function boxAt(event) {
  const r = canvas.getBoundingClientRect(), x = event.clientX - r.left;
  const row = rows[Math.floor((event.clientY - r.top) / ROW)] || [];
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row[middle].x <= x) low = middle + 1; else high = middle;
  }
  const box = row[low - 1];
  return box && x < box.x + Math.max(box.w, 1) ? box.call : -1;
}

function describe(call) {
  const tree = graph(), fn = tree.fn(call), file = fileOf(fn);
  const whole = `${nameOf(fn)}${file ? " (" + file + ")" : ""}: ${show(tree.total(call))}, ${percent(tree.total(call), sums.whole)}`;
  const waiting = tree.waiting(call) > 0 ? `; waiting ${percent(tree.waiting(call), tree.total(call))} of it` : "";
  const change = changes && fn >= 0 ? `; own share ${percent(changes.before[fn], 1)} before, ${percent(changes.after[fn], 1)} after` : "";
  return whole + (state.view === "callers" ? "" : `; own ${show(tree.own(call))}`) + waiting + change;
}

function zoomTo(call) {
  graph().keepZoom(call);
  focus = call;
  drawFlame();
  remember();
}

canvas.addEventListener("click", event => {
  const call = boxAt(event);
  if (call < 0) return;
  zoomTo(call);
  select(graph().fn(call));
});
canvas.addEventListener("mousemove", event => {
  const call = boxAt(event), tip = element("tip");
  tip.style.display = call < 0 ? "none" : "block";
  if (call < 0) return;
  tip.textContent = describe(call);
  tip.style.left = Math.max(Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 8), 0) + "px";
  tip.style.top = Math.max(Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8), 0) + "px";
});
canvas.addEventListener("mouseleave", () => element("tip").style.display = "none");
canvas.addEventListener("focus", () => drawFlame());
canvas.addEventListener("blur", () => { if (canvas.parentElement) drawFlame(); });
canvas.addEventListener("keydown", event => {
  const tree = graph(), level = rows.findIndex(row => row.some(box => box.call === focus));
  const index = level < 0 ? -1 : rows[level].findIndex(box => box.call === focus);
  let to = -1;
  if (event.key === "ArrowUp") to = tree.parent(focus);
  else if (event.key === "ArrowDown") {
    const below = (rows[level + 1] || []).filter(box => tree.parent(box.call) === focus);
    to = below.length ? below.reduce((a, b) => b.w > a.w ? b : a).call : -1;
  } else if (event.key === "ArrowLeft" && index > 0) to = rows[level][index - 1].call;
  else if (event.key === "ArrowRight" && index >= 0 && index + 1 < rows[level].length) to = rows[level][index + 1].call;
  else if (event.key === "Enter") { const place = focus; zoomTo(place); select(tree.fn(place)); }
  else if (event.key === "Escape") zoomTo(0);
  else return;
  event.preventDefault();
  if (to < 0) return;
  focus = to;
  drawFlame();
  element("found").textContent = describe(to);
});
