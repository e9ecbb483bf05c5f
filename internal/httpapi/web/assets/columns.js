// Which columns a table shows, and what is written over them to filter by.

import { h } from "./dom.js";
import { columnTitle, isEmpty, words } from "./format.js";
import { forget, recall, remember } from "./store.js";
import { nameField } from "./types.js";

/** @import { RowType } from "../../../../client/typescript/dist/api" */
/** @typedef {{field: string, op: string, value: any}} Filter */

const most = 8; // columns that are shown unasked

// called stands for what rows are called, where no single column says it.
export const called = "_label";

// firstOf is the column that says what rows are called.
const firstOf = (type, rows) => rows.every((row) => row[nameField(type)] === row[called]) ? nameField(type) : called;

// columnsOf are those that the person chose, else those that say something in these rows; the name comes first.
/** @param {RowType} type @param {Record<string, any>[]} rows @param {string[]} references */
export function columnsOf(type, rows, references) {
  const name = firstOf(type, rows);
  /** @type {string[] | null} */
  const chosen = recall(`columns:${type.type}`);
  if (chosen) return [name, ...type.fields.map((f) => f.name).filter((c) => c !== name && chosen.includes(c))];
  const all = [name, ...references, ...type.columns.filter((c) => c !== name && !references.includes(c))];
  const repeats = (row, c) => row[`_${c}_label`]?.toLowerCase() === row[called].toLowerCase();
  return all.filter((c) => c === name || rows.some((row) => !isEmpty(row[c]) && row[c] !== false && !repeats(row, c))).slice(0, most);
}

// columnMenu lets the person choose; changed() is called then.
/** @param {RowType} type @param {() => void} changed */
export function columnMenu(type, changed) {
  const place = `columns:${type.type}`;
  const boxes = type.fields.map((f) => ({ name: f.name, title: columnTitle(f.name, f.references), input: h("input", { type: "checkbox", onchange: keep }) }));
  function keep() {
    remember(place, boxes.filter((b) => b.input.checked).map((b) => b.name));
    changed();
  }
  /** @type {any} */
  const menu = h("details", { class: "menu", id: "columns" }, h("summary", { class: "quiet-summary" }, "Columns"), h("div", { class: "menu-list" },
    boxes.map((b) => h("label", {}, b.input, b.title)),
    h("button", { type: "button", class: "quiet", onclick: () => { forget(place); menu.open = false; changed(); } }, "The usual columns")));
  menu.addEventListener("toggle", () => {
    const shown = [...document.querySelectorAll("#row-table thead th[data-column]")].map((th) => /** @type {HTMLElement} */ (th).dataset.column);
    for (const b of boxes) {
      b.input.checked = shown.includes(b.name);
      b.input.parentElement.hidden = b.name === shown[0];
    }
  });
  menu.addEventListener("focusout", (event) => { if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false; });
  menu.addEventListener("keydown", (event) => { if (event.key === "Escape") { menu.open = false; menu.firstElementChild.focus(); } });
  return menu;
}

// filterInput is what is written over a column. heard(text) gets it, "" for nothing.
/** @param {RowType} type @param {string} column @param {Map<string, string> | undefined} labels @param {string} value @param {(text: string) => void} heard */
export function filterInput(type, column, labels, value, heard) {
  const field = type.fields.find((f) => f.name === column);
  const choices = labels ? [...labels].map(([key, label]) => [key, label]) : field?.kind === "bool" ? [["true", "yes"], ["false", "no"]] : field?.options?.map((o) => [o, words(o)]);
  const attributes = { "aria-label": `Filter by ${columnTitle(column, field?.references)}`, "data-filter": column };
  const input = choices ? h("select", attributes, h("option", { value: "" }, "all"), choices.map(([key, label]) => h("option", { value: key, selected: key === value }, label)))
    : h("input", { type: "search", ...attributes, value, placeholder: ["number", "date", "timestamp"].includes(field?.kind) ? "> 5" : "holds" });
  if (field?.kind === "date" || field?.kind === "timestamp") /** @type {HTMLInputElement} */ (input).placeholder = "> 2026-01-31";
  const mark = () => input.setAttribute("aria-invalid", String(Boolean(input.value.trim()) && !filterOf(type, column, input.value)));
  input.addEventListener(choices ? "change" : "input", () => { mark(); heard(input.value.trim()); });
  mark();
  return h("span", { "data-column": column }, input);
}

// filtersOf are the filters that the texts over the columns stand for; what cannot be read filters nothing, and is marked.
/** @param {RowType} type @param {Record<string, string>} wanted @returns {Filter[]} */
export const filtersOf = (type, wanted) => Object.entries(wanted).map(([column, text]) => filterOf(type, column, text)).filter(Boolean);

/** @param {RowType} type @param {string} column @param {string} text @returns {Filter | null} */
function filterOf(type, column, text) {
  const field = type.fields.find((f) => f.name === column);
  if (!field) return null;
  if (field.references && field.kind !== "array") return { field: column, op: "=", value: text };
  if (field.kind === "bool") return { field: column, op: "=", value: text === "true" };
  if (field.options && field.kind !== "array") return { field: column, op: "=", value: text };
  if (field.kind === "array" || field.kind === "json") return { field: column, op: "contains", value: field.element === "number" ? Number(text) : text };
  if (field.kind === "text") return { field: column, op: "ilike", value: `%${text.replace(/[\\%_]/g, "\\$&")}%` };
  const [, op = "=", value = ""] = /^(<=|>=|!=|<|>|=)?\s*(.+)$/.exec(text) ?? [];
  if (field.kind === "number") return value && !Number.isNaN(Number(value)) ? { field: column, op, value: Number(value) } : null;
  return /^\d{4}-\d\d-\d\d/.test(value) || (field.kind === "time" && /^\d\d:\d\d/.test(value)) ? { field: column, op, value } : null;
}
