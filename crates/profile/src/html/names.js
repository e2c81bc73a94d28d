// Names in narrow boxes: the method says more than the namespace.
const shortened = new Map();
// From the whole name to the method alone.
function shorterNames(fn) {
  let list = shortened.get(fn);
  if (list) return list;
  const name = nameOf(fn);
  list = [name];
  const add = text => { if (text && text.length < list[list.length - 1].length) list.push(text); };
  if (kindOf(fn) === NOTE) {
    // A type: its last part, with those of its arguments.
    if (!name.startsWith("[")) add(withoutNamespaces(name));
  } else if (kindOf(fn) === NATIVE) {
    add(name.replace(/ \(.*$/, ""));
    add(name.split("::").slice(-2).join("::"));
    add(name.split("::").pop());
  } else {
    const plain = name.replace(/ \(.*$/, "");
    add(plain);
    const short = withoutNamespaces(plain), method = short.slice(short.lastIndexOf(":") + 1);
    add(short);
    // Constructors are known by their types.
    add(method.startsWith(".") ? short.replace(/<[^:]*>|`.*(?=:)/g, "") : method);
  }
  shortened.set(fn, list);
  return list;
}
const withoutNamespaces = text => text.replace(/(?:[^\s.,:<>()[\]+/]+\.)+(?=[^\s.,:<>()[\]+/])/g, "");

const ROOM_FOR_TEXT = 24;
// Writes as much of the name as there is room for.
function writeName(c, fn, x, y, room) {
  const list = shorterNames(fn);
  // As much as may fit: measuring the whole of a long name takes long.
  const most = Math.ceil(room / 2.5);
  const fitting = list.find(text => text.length <= most && c.measureText(text).width <= room);
  if (fitting !== undefined) { c.fillText(fitting, x, y); return; }
  const last = list[list.length - 1];
  let end = Math.min(last.length, most);
  while (end > 1 && c.measureText(last.slice(0, end) + "…").width > room) end--;
  c.fillText(last.slice(0, end) + "…", x, y);
}
