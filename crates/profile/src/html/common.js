"use strict";
// What the page of profiles and that of heap snapshots have in common: the data, elements, tables, tabs, the search.
const element = id => document.getElementById(id);
window.addEventListener("error", event => {
  element("fault").hidden = false;
  element("fault").textContent = "This page has a fault: " + event.message;
});
const data = JSON.parse(element("data").textContent);
const counted = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
const percent = (value, whole) => (100 * value / Math.max(whole, 1)).toFixed(1) + " %";

function make(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function makeButton(text, action, className) {
  const button = make("button", text, className);
  button.type = "button";
  button.onclick = action;
  return button;
}

function note(panel, text) { if (text) panel.append(make("p", text, "note")); }

// A row of tabs of which one is chosen; arrow keys go from one to the next.
function tabs(list, entries, chosen, choose) {
  list.replaceChildren(...entries.map(([key, text]) => {
    const tab = makeButton(text, () => choose(key));
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-selected", key === chosen);
    tab.setAttribute("aria-controls", "panel");
    tab.tabIndex = key === chosen ? 0 : -1;
    tab.dataset.key = key;
    return tab;
  }));
  list.onkeydown = event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = entries.findIndex(([key]) => key === chosen);
    choose(entries[(at + step + entries.length) % entries.length][0]);
    list.querySelector("[aria-selected=true]").focus();
  };
}

// What finds a name: the text itself, in small or capital letters, if one of the names contains it; else it is a regular expression.
// Returns { finds, error }: names have signs such as [ and ( that mean something else in expressions.
function searcher(query, names) {
  const text = query.toLowerCase();
  if (text === "") return { finds: null, error: "" };
  if (names.some(name => name.toLowerCase().includes(text))) return { finds: name => name.toLowerCase().includes(text), error: "" };
  try {
    const expression = new RegExp(query, "i");
    return { finds: name => expression.test(name), error: "" };
  } catch (error) {
    return { finds: () => false, error: "No regular expression: " + error.message.replace(/^Invalid regular expression: /, "") };
  }
}

// Shows under the search field what is wrong with the text in it.
function showSearchError(error) {
  element("search").setAttribute("aria-invalid", error !== "");
  element("search-error").textContent = error;
  element("search-error").hidden = error === "";
}

document.addEventListener("keydown", event => {
  if (event.key === "/" && event.target.tagName !== "INPUT") { event.preventDefault(); element("search").focus(); }
});

// Heads are [text, key to sort by or undefined]; the last column is the wide one. `chosen`: the key that is sorted by, `choose`: what a click on another does.
function sortedTable(caption, heads, chosen, choose) {
  const table = make("table"), tr = table.createTHead().insertRow();
  table.setAttribute("aria-label", caption);
  heads.forEach(([text, key], index) => {
    const th = make("th", key === undefined ? text : "", index === heads.length - 1 ? "wide" : "");
    th.scope = "col";
    if (key !== undefined) {
      th.dataset.k = key;
      th.setAttribute("aria-sort", chosen === key ? "descending" : "none");
      th.append(makeButton(text + (chosen === key ? " ▾" : ""), undefined));
      th.onclick = () => choose(key);
    }
    tr.append(th);
  });
  table.append(make("tbody"));
  return table;
}

function addCells(table, cells) {
  const tr = table.tBodies[0].insertRow();
  cells.forEach((cell, index) => {
    const isLast = index === cells.length - 1, td = make(isLast ? "th" : "td", undefined, isLast ? "wide" : "");
    if (isLast) td.scope = "row";
    td.append(cell);
    tr.append(td);
  });
  return tr;
}
