// A heap snapshot: types with the ways that keep their objects alive, and roots. Of two snapshots: which types grew.
const MAX_ROWS = 500;
const number = value => value.toLocaleString("en-US");
const signed = value => (value < 0 ? "−" : "+") + number(Math.abs(value));
// Columns of a type: [head, key, value], the key 0 being the name. `before`: [objects, bytes] in the earlier snapshot.
const [NAME, COUNT, OWN, RETAINED, WAYS, BEFORE] = [0, 1, 2, 3, 4, 5];
const GROWN = 6, GROWN_COUNT = 7;
const grown = type => type[OWN] - type[BEFORE][1], grownCount = type => type[COUNT] - type[BEFORE][0];
const COLUMNS = data.isComparison
  ? [["bytes more", GROWN, grown, signed], ["objects more", GROWN_COUNT, grownCount, signed], ["own bytes now", OWN, type => type[OWN], number], ["objects now", COUNT, type => type[COUNT], number]]
  : [["retained bytes", RETAINED, type => type[RETAINED], number], ["own bytes", OWN, type => type[OWN], number], ["objects", COUNT, type => type[COUNT], number]];
const VIEWS = [["types", data.isComparison ? "Types that grew or shrank" : "Types"], ["roots", "Roots"]];

// What is shown: the address bar says it, too.
const state = { view: "types", query: "", sort: COLUMNS[0][1], open: new Set() };
const allNames = [...data.types.map(type => type[NAME]), ...data.roots.map(([name]) => name)];

function wayText([count, bytes, steps, isFurther]) {
  return `${number(count)} ${count === 1 ? "object" : "objects"} (${number(bytes)} bytes)${isFurther ? " also" : ""}:\n    ` + steps.join("\n    -> ");
}

// The types that the search finds, in the order of the chosen column.
function shownTypes(finds) {
  const rows = data.types.filter(type => !finds || finds(type[NAME]));
  const column = COLUMNS.find(([, key]) => key === state.sort);
  // What grew stands above what shrank by as much.
  const size = value => data.isComparison && (state.sort === GROWN || state.sort === GROWN_COUNT) ? Math.abs(value) + (value > 0 ? .5 : 0) : value;
  return rows.sort((a, b) => column ? size(column[2](b)) - size(column[2](a)) || column[2](b) - column[2](a) : a[NAME] < b[NAME] ? -1 : 1);
}

function typesTable(finds) {
  const heads = [...COLUMNS.map(([head, key]) => [head, key]), ["type", NAME]];
  const table = sortedTable("Types", heads, state.sort, key => { state.sort = key; draw(); });
  table.id = "types";
  const rows = shownTypes(finds);
  for (const type of rows.slice(0, MAX_ROWS)) {
    const name = type[NAME], hasWays = type[WAYS].length > 0, isOpen = hasWays && state.open.has(name);
    const cell = make("span"), twist = make("span", hasWays ? (isOpen ? "▾" : "▸") : "", "twist");
    const title = hasWays ? makeButton(name, undefined, "name") : make("span", name);
    twist.setAttribute("aria-hidden", "true");
    if (hasWays) title.setAttribute("aria-expanded", isOpen);
    cell.append(twist, title);
    const row = addCells(table, [...COLUMNS.map(([, , value, text]) => text(value(type))), cell]);
    if (!hasWays) continue;
    row.classList.add("opens");
    row.onclick = () => {
      if (!state.open.delete(name)) state.open.add(name);
      const isInside = row.contains(document.activeElement);
      draw();
      if (isInside) [...document.querySelectorAll("#types .name")].find(button => button.textContent === name).focus();
    };
    if (isOpen) {
      const cell = table.tBodies[0].insertRow().insertCell();
      cell.colSpan = heads.length;
      cell.append(make("pre", type[WAYS].map(wayText).join("\n\n"), "ways"));
    }
  }
  return [table, rows.length];
}

function rootsTable(finds) {
  const table = sortedTable("Kept by one root alone", [["retained bytes", undefined], ["root", undefined]], 0, () => {});
  table.id = "roots";
  const rows = data.roots.filter(([name]) => !finds || finds(name));
  for (const [name, bytes] of rows.slice(0, MAX_ROWS)) addCells(table, [number(bytes), name]);
  return [table, rows.length];
}

function draw() {
  const { finds, error } = searcher(state.query, allNames);
  showSearchError(error);
  tabs(element("views"), VIEWS, state.view, view => { state.view = view; draw(); });
  const panel = element("panel");
  panel.replaceChildren();
  // Both are there, and one is seen.
  const shown = { types: typesTable(finds), roots: rootsTable(finds) };
  for (const [view, [table, count]] of Object.entries(shown)) {
    const part = make("section");
    part.hidden = view !== state.view;
    part.append(table);
    note(part, count > MAX_ROWS ? `The first ${MAX_ROWS} of ${number(count)}; the search finds the others.` : "");
    note(part, view === "types" ? "A type with a triangle shows why its objects are alive; saki profile view FILE --why TYPE does for every type."
      : "The bytes that would be freed if this static field, handle or stack let go.");
    panel.append(part);
  }
  element("found").textContent = finds && !error ? counted(shown[state.view][1], state.view === "types" ? "type" : "root") : "";
  remember();
}

// The address bar: #view=types&search=Foo&sort=2&open=A&open=B
function remember() {
  const words = new URLSearchParams();
  words.set("view", state.view);
  if (state.query) words.set("search", state.query);
  if (state.sort !== COLUMNS[0][1]) words.set("sort", state.sort);
  for (const name of state.open) words.append("open", name);
  history.replaceState(null, "", "#" + words);
}

function recall() {
  const words = new URLSearchParams(location.hash.slice(1)), sort = Number(words.get("sort") ?? NaN);
  if (VIEWS.some(([view]) => view === words.get("view"))) state.view = words.get("view");
  state.query = (words.get("search") || "").trim();
  element("search").value = state.query;
  if (sort === NAME || COLUMNS.some(([, key]) => key === sort)) state.sort = sort;
  state.open = new Set(words.getAll("open"));
  draw();
}

element("search").oninput = event => { state.query = event.target.value.trim(); draw(); };
element("reset").onclick = () => { state.query = ""; state.open.clear(); element("search").value = ""; draw(); };
document.title = `heap: ${data.title}`;
element("title").textContent = data.title;
element("summary").textContent = (data.isComparison
  ? `heaps compared: ${signed(data.bytes - data.before[1])} bytes in ${signed(data.objects - data.before[0])} objects; now ` : "heap: ")
  + `${counted(data.objects, "object")}, ${number(data.bytes)} bytes` + (data.takenMs ? ", " + new Date(data.takenMs).toLocaleString() : "");
recall();
