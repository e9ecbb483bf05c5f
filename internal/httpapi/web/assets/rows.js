// A type's rows as a table: find, sort, filter, look at, change, many at once, in files.

import { get } from "./api.js";
import { on } from "./bus.js";
import { $, button, h, icon } from "./dom.js";
import { exportCSV, importCSV } from "./csv.js";
import { bulkBar } from "./bulk.js";
import { editable } from "./cells.js";
import { called, columnMenu, columnsOf, filterInput, filtersOf } from "./columns.js";
import { missing } from "./fields.js";
import { capital, columnTitle, plural, shown } from "./format.js";
import { guarded } from "./notice.js";
import { choices, openRow } from "./rowform.js";
import { keyOf, typeOf } from "./types.js";

/** @import { RowPage, RowType } from "../../../../client/typescript/dist/api" */

const pageSize = 50;
const pauseBefore = 150; // ms of no typing

/** @type {RowType | null} */
let type = null;
/** @type {RowPage["items"]} */
let rows = [];
let cursor = "";
let total = 0;
let labels = {}; // by column: key -> label, of the rows to choose from
/** @type {string[]} */
let names = []; // of the columns that are shown
let asked = 0;
let order = ""; // a column, with - before it from the greatest
/** @type {Record<string, string>} */
let wanted = {}; // what is written over the columns, to filter by
let filtering = false;
let editing = false;
/** @type {Set<string>} */
let selected = new Set();

// showRows draws the table of a type.
/** @param {RowType} now */
export async function showRows(now) {
  if (type?.type !== now.type) {
    [order, wanted, filtering, editing, labels] = ["", {}, false, false, {}];
  }
  type = now;
  rows = [];
  selected = new Set();
  $("title").textContent = capital(type.plural);
  $("session-menu").hidden = true;
  document.title = `${capital(type.plural)} · Alfred`;
  const find = h("input", { type: "search", id: "find-row", placeholder: "Search", "aria-label": `Search ${type.plural}`, autocomplete: "off", oninput: look });
  const may = (verb) => type.writes.includes(verb);
  const toggle = (id, text, isOn, flip) => button(text, (event) => guarded(async () => {
    const pressed = /** @type {HTMLElement} */ (event.currentTarget);
    flip();
    if (isOn()) await choose();
    pressed.setAttribute("aria-pressed", String(isOn()));
    draw();
  }), { id, class: "quiet", "aria-pressed": String(isOn()) });
  $("rows").replaceChildren(h("div", { class: "tools" }, find,
    toggle("filter-rows", "Filter", () => filtering, () => { filtering = !filtering; if (!filtering && Object.keys(wanted).length) { wanted = {}; guarded(reload); } }),
    columnMenu(type, () => { names = []; draw(); }),
    may("update") && toggle("edit-rows", "Edit in place", () => editing, () => { editing = !editing; }),
    button("Export", () => guarded(() => exportCSV(type, query())), { class: "quiet", id: "export-rows" }),
    may("create") && !type.singleton && button("Import", () => guarded(() => importCSV(type, reload)), { class: "quiet", id: "import-rows" }),
    may("create") && h("button", { type: "button", class: "primary", id: "new-row", onclick: () => guarded(() => openRow(type, null, reload)) }, icon("plus"), `New ${type.name}`)),
  h("p", { id: "row-count", class: "soft", role: "status" }), h("div", { id: "row-bulk", hidden: true }),
  h("div", { id: "row-table", class: "table", tabindex: "0", role: "group", "aria-label": capital(type.plural) }));
  await reload();
}

const reload = () => load("");

// query is which rows are wanted, and in which order.
function query() {
  const filters = filtersOf(type, wanted);
  return Object.entries({ q: $("find-row")?.value.trim() ?? "", order, filters: filters.length ? JSON.stringify(filters) : "" })
    .filter(([, value]) => value).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}

async function load(from) {
  asked += 1;
  const mine = asked;
  const now = type;
  /** @type {RowPage} */
  const page = await get(`/v1/data/${encodeURIComponent(now.type)}?labels=true&limit=${pageSize}&cursor=${encodeURIComponent(from)}&${query()}`);
  if (filtering || editing) await choose();
  if (mine !== asked) return;
  rows = from ? [...rows, ...page.items] : page.items;
  if (!from) selected = new Set();
  ({ next_cursor: cursor, total } = page);
  draw();
}

// choose reads which rows the columns may point to, for who filters by them or changes them.
async function choose() {
  const of = references().filter((f) => !typeOf(f.references)?.reference);
  const found = await Promise.all(of.map((f) => choices(f.references)));
  labels = Object.fromEntries(of.map((f, i) => [f.name, new Map(found[i].map((o) => [o.value, o.label]))]));
}

async function look() {
  asked += 1;
  const mine = asked;
  await new Promise((resolve) => { setTimeout(resolve, pauseBefore); });
  if (mine === asked) guarded(reload);
}

const kindOf = (column) => type.fields.find((f) => f.name === column)?.kind;

// references are the columns that point to a row.
const references = () => type.fields.filter((f) => f.references && f.kind !== "array");

const refers = (column) => references().some((f) => f.name === column);

const cell = (row, column) => row[column === called ? called : `_${column}_label`] ?? (refers(column) && row[column] != null ? missing : shown(row[column], kindOf(column)));

const open = (row) => guarded(() => openRow(type, keyOf(type, row), reload, row[called]));

// title is a column's head: it sorts, but for what has no order that people know.
/** @param {string} column */
function title(column) {
  const text = column === called ? capital(type.name) : columnTitle(column, references().find((f) => f.name === column)?.references);
  const sortable = column !== called && !refers(column) && !["array", "json"].includes(kindOf(column));
  const sorted = order.replace("-", "") === column ? order.startsWith("-") ? "descending" : "ascending" : null;
  return h("th", { scope: "col", "aria-sort": sorted, "data-column": column }, sortable ? button(text, () => {
    order = sorted === "ascending" ? `-${column}` : sorted ? "" : column;
    guarded(reload);
  }, { class: "sort", title: sorted === "ascending" ? "From the greatest" : sorted ? "In the usual order" : "From the least" }, sorted && h("span", { "aria-hidden": "true" }, sorted === "ascending" ? " ↑" : " ↓")) : text);
}

function head() {
  const pick = selectable() && h("th", { class: "pick-row" }, h("input", { type: "checkbox", "aria-label": "All of these", checked: rows.length > 0 && selected.size === rows.length,
    onchange: (event) => { selected = new Set(event.target.checked ? rows.map((row) => keyOf(type, row)) : []); draw(); } }));
  return h("thead", {}, h("tr", {}, pick, names.map(title)),
    filtering && h("tr", { class: "filters" }, pick && h("td"), names.map((name) => h("td", {}, name !== called && (labels[name] || !refers(name)) && filterInput(type, name, labels[name], wanted[name] ?? "", (text) => {
      if (text) wanted[name] = text;
      else delete wanted[name];
      look();
    })))));
}

const selectable = () => !type.singleton && (type.writes.includes("delete") || type.writes.includes("update"));

/** @param {RowPage["items"][number]} row */
function line(row) {
  const id = keyOf(type, row);
  const pick = selectable() && h("td", { class: "pick-row", onclick: (event) => event.stopPropagation() }, h("input", { type: "checkbox", checked: selected.has(id), "aria-label": `Choose ${cell(row, names[0]) || type.name}`,
    onchange: (event) => { if (event.target.checked) selected.add(id); else selected.delete(id); bulk(); } }));
  return h("tr", { "data-id": id, onclick: editing ? () => {} : () => open(row) }, pick, names.map((name, i) => i === 0
    ? h("th", { scope: "row" }, h("button", { type: "button", class: "link", onclick: (event) => { event.stopPropagation(); open(row); } }, cell(row, name) || capital(type.name)))
    : editing ? editable(type, row, name, labels[name], cell(row, name), reload) : h("td", { class: kindOf(name) === "number" ? "number" : "" }, h("span", {}, cell(row, name)))));
}

function bulk() { bulkBar($("row-bulk"), type, rows.filter((row) => selected.has(keyOf(type, row))), reload); }

function draw() {
  /** @type {HTMLElement | null} */
  const focused = document.activeElement?.closest("#row-table thead [data-column]");
  const at = focused && { column: focused.dataset.column, isFilter: document.activeElement.matches("input, select") };
  if (!names.length || !Object.keys(wanted).length) names = columnsOf(type, rows, references().map((f) => f.name)); // a filter stays where it is, whatever passes it
  if ($("new-row")) $("new-row").hidden = type.singleton && total > 0; // there is one, to be changed
  $("row-count").textContent = type.singleton ? "" : rows.length < total ? `${plural(rows.length, type.name, type.plural)} of ${total}` : plural(total, type.name, type.plural);
  const find = $("find-row").value.trim();
  const none = find ? `Nothing matches “${find}”.` : Object.keys(wanted).length ? "No row passes these filters." : "There is nothing here yet.";
  $("row-table").replaceChildren(...rows.length || filtering ? [h("table", {}, head(), h("tbody", {}, rows.map(line)))] : [],
    ...rows.length ? [] : [h("p", { class: "soft none" }, none)], ...cursor ? [button("Show more", () => guarded(() => load(cursor)))] : []);
  bulk();
  const again = at && $("row-table").querySelector(`${at.isFilter ? ".filters" : "thead tr:first-child"} [data-column="${CSS.escape(at.column)}"] ${at.isFilter ? "input, select" : "button"}`);
  again?.focus();
  again?.setSelectionRange?.(again.value.length, again.value.length); // or what is typed next would stand before it
}

on("turn", ({ status }) => { if (status === "succeeded" && !$("rows").hidden && !editing) guarded(reload); });
