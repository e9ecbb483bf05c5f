// A type's rows as a table: find, look at, change, make new ones.

import { get } from "./api.js";
import { on } from "./bus.js";
import { $, button, h, icon } from "./dom.js";
import { capital, isEmpty, plural, shown, words } from "./format.js";
import { guarded } from "./notice.js";
import { choices, openRow } from "./rowform.js";
import { nameField, typeOf } from "./types.js";

/** @import { RowPage, RowType } from "../../../client/api" */

const pageSize = 50;
const mostColumns = 8;
const pauseBefore = 150; // ms of no typing

/** @type {RowType | null} */
let type = null;
/** @type {RowPage["items"]} */
let rows = [];
let cursor = "";
let total = 0;
let labels = {}; // by column: key -> label
let asked = 0;

// showRows draws the table of a type.
/** @param {RowType} wanted */
export async function showRows(wanted) {
  type = wanted;
  rows = [];
  $("title").textContent = capital(type.plural);
  $("session-menu").hidden = true;
  document.title = `${capital(type.plural)} · Alfred`;
  const find = h("input", { type: "search", id: "find-row", placeholder: `Search ${type.plural}`, "aria-label": `Search ${type.plural}`, autocomplete: "off", oninput: look });
  $("rows").replaceChildren(h("div", { class: "tools" }, find,
    type.writes.includes("create") && h("button", { type: "button", class: "primary", id: "new-row", onclick: () => guarded(() => openRow(type, null, reload)) }, icon("plus"), `New ${type.name}`)),
  h("p", { id: "row-count", class: "soft", role: "status" }), h("div", { id: "row-table", class: "table", tabindex: "0", role: "region", "aria-label": capital(type.plural) }));
  await reload();
}

const reload = () => load("");

async function load(from) {
  asked += 1;
  const mine = asked;
  const now = type;
  const words1 = $("find-row")?.value.trim() ?? "";
  const refers = now.fields.filter((f) => f.references && f.kind !== "array" && !typeOf(f.references)?.reference);
  /** @type {[RowPage, ...{value: string, label: string}[][]]} */
  const [page, ...found] = await Promise.all([
    get(`/v1/data/${encodeURIComponent(now.type)}?limit=${pageSize}&cursor=${encodeURIComponent(from)}&q=${encodeURIComponent(words1)}`),
    ...refers.map((f) => choices(f.references))]);
  if (mine !== asked) return;
  labels = Object.fromEntries(refers.map((f, i) => [f.name, new Map(found[i].map((o) => [o.value, o.label]))]));
  rows = from ? [...rows, ...page.items] : page.items;
  ({ next_cursor: cursor, total } = page);
  draw();
}

async function look() {
  asked += 1;
  const mine = asked;
  await new Promise((resolve) => { setTimeout(resolve, pauseBefore); });
  if (mine === asked) guarded(reload);
}

// columns are those that say something in these rows, the name first.
function columns() {
  const name = nameField(type);
  const all = [name, ...Object.keys(labels), ...type.columns.filter((c) => c !== name)];
  return all.filter((c) => c === name || rows.some((row) => !isEmpty(row[c]) && row[c] !== false)).slice(0, mostColumns);
}

const kindOf = (column) => type.fields.find((f) => f.name === column)?.kind;

const cell = (row, column) => labels[column] ? labels[column].get(String(row[column])) ?? "" : shown(row[column], kindOf(column));

function draw() {
  const names = columns();
  if ($("new-row")) $("new-row").hidden = type.singleton && total > 0; // there is one, to be changed
  $("row-count").textContent = type.singleton ? "" : rows.length < total ? `${rows.length} of ${plural(total, type.name, type.plural)}` : plural(total, type.name, type.plural);
  const open = (row) => guarded(() => openRow(type, String(row.id), reload));
  const table = h("table", {}, h("thead", {}, h("tr", {}, names.map((n) => h("th", { scope: "col" }, capital(words(n.replace(/_id$/, ""))))))),
    h("tbody", {}, rows.map((row) => h("tr", { onclick: () => open(row) }, names.map((n, i) => i === 0
      ? h("th", { scope: "row" }, h("button", { type: "button", class: "link", onclick: (event) => { event.stopPropagation(); open(row); } }, cell(row, n) || capital(type.name)))
      : h("td", { class: kindOf(n) === "number" ? "number" : "" }, h("span", {}, cell(row, n))))))));
  $("row-table").replaceChildren(...(rows.length ? [table] : [h("p", { class: "soft none" }, $("find-row").value.trim() ? `Nothing matches “${$("find-row").value.trim()}”.` : "There is nothing here yet.")]),
    ...(cursor ? [button("Show more", () => guarded(() => load(cursor)))] : []));
}

on("turn", ({ status }) => { if (status === "succeeded" && !$("rows").hidden) guarded(reload); });
