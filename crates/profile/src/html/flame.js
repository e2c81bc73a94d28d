// The flame graph: callers above what they call. Only boxes that are wide enough to be seen are looked at.
const ROW = 18, MAX_ROWS = 300, MAX_CALLERS = 12, MIN_WIDTH = 0.5;
let rows = [], focus = 0, marked = 0;
const canvas = document.createElement("canvas"), deeper = document.createElement("p");
canvas.id = "graph";
canvas.tabIndex = 0;
canvas.setAttribute("role", "img");
deeper.className = "note";

function colour(fn) {
  const name = nameOf(fn);
  let hash = 0;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  if (kindOf(fn) === NATIVE) return `hsl(${205 + hash % 25} 35% ${68 + hash % 12}%)`;
  if (kindOf(fn) === NOTE) return `hsl(0 0% ${72 + hash % 10}%)`;
  return `hsl(${22 + hash % 30} 80% ${64 + hash % 12}%)`;
}

function viewFlame(panel) {
  panel.append(canvas, deeper);
  drawFlame();
}

function drawFlame() {
  const width = canvas.parentElement.clientWidth, scale = window.devicePixelRatio || 1;
  const path = [];
  for (let at = calls.parent[state.zoom]; at >= 0; at = calls.parent[at]) path.unshift(at);
  const callers = path.slice(-MAX_CALLERS);
  rows = [];
  const place = (level, call, x, w, isCaller) => (rows[level] ||= []).push({ call, x, w, isCaller });
  callers.forEach((call, level) => place(level, call, 0, width, true));
  const whole = sums.total[state.zoom], pending = [[state.zoom, 0, callers.length]];
  let cut = 0;
  while (pending.length) {
    const [call, x, level] = pending.pop();
    const w = whole ? sums.total[call] / whole * width : call === state.zoom ? width : 0;
    if (level >= MAX_ROWS) { cut++; continue; }
    place(level, call, x, w, false);
    let at = x;
    const below = [];
    for (const child of childrenOf(call)) {
      const w = whole ? sums.total[child] / whole * width : 0;
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
  canvas.setAttribute("aria-label", `Flame graph of ${profile().kind}: ${boxes} boxes, ${marked} found, widest ${nameOf(calls.fn[state.zoom])}. `
    + "Arrow keys move, Enter zooms in, Escape zooms out.");
  deeper.textContent = cut ? `${cut} calls are deeper than is drawn: zoom in to see them.` : "";
}

function paint(c, { call, x, w, isCaller }, level) {
  const fn = calls.fn[call], y = level * ROW, isMarked = fn >= 0 && isFound[fn];
  if (isMarked) marked++;
  c.globalAlpha = isCaller ? .55 : 1;
  c.fillStyle = isMarked ? "#bf125d" : colour(fn);
  c.fillRect(x, y, Math.max(w - .5, MIN_WIDTH), ROW - 1);
  if (call === focus && document.activeElement === canvas) {
    c.lineWidth = 2;
    c.strokeStyle = getComputedStyle(document.body).color;
    c.strokeRect(x + 1, y + 1, Math.max(w - 2.5, 1), ROW - 3);
  }
  if (w > 24) {
    c.fillStyle = isMarked ? "#fff" : "#111";
    // As much as may fit: clipping alone would draw the whole of a long name.
    const text = nameOf(fn).slice(0, Math.ceil(w / 3));
    c.save();
    c.beginPath(); c.rect(x, y, w - 3, ROW); c.clip();
    c.fillText(text, x + 4, y + ROW / 2);
    c.restore();
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
  const fn = calls.fn[call], file = fileOf(fn);
  return `${nameOf(fn)}${file ? " (" + file + ")" : ""}: ${show(sums.total[call])}, ${percent(sums.total[call], sums.whole)}; own ${show(sums.own[call])}`;
}

function zoomTo(call) {
  state.zoom = call; focus = call;
  drawFlame();
  remember();
}

canvas.addEventListener("click", event => {
  const call = boxAt(event);
  if (call < 0) return;
  zoomTo(call);
  select(calls.fn[call]);
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
canvas.addEventListener("blur", () => drawFlame());
canvas.addEventListener("keydown", event => {
  const level = rows.findIndex(row => row.some(box => box.call === focus));
  const index = level < 0 ? -1 : rows[level].findIndex(box => box.call === focus);
  let to = -1;
  if (event.key === "ArrowUp") to = calls.parent[focus];
  else if (event.key === "ArrowDown") {
    const below = (rows[level + 1] || []).filter(box => calls.parent[box.call] === focus);
    to = below.length ? below.reduce((a, b) => b.w > a.w ? b : a).call : -1;
  } else if (event.key === "ArrowLeft" && index > 0) to = rows[level][index - 1].call;
  else if (event.key === "ArrowRight" && index >= 0 && index + 1 < rows[level].length) to = rows[level][index + 1].call;
  else if (event.key === "Enter") { zoomTo(focus); select(calls.fn[focus]); }
  else if (event.key === "Escape") zoomTo(0);
  else return;
  event.preventDefault();
  if (to < 0) return;
  focus = to;
  drawFlame();
  element("found").textContent = describe(to);
});
