// A form for a row, made from what the catalog says of its type.

import { h, button, iconButton } from "./dom.js";
import { fieldOf } from "./fields.js";
import { capital, isEmpty, spoken } from "./format.js";
import { nameField, typeOf } from "./types.js";

/** @import { RowChild, RowField, RowType } from "../../../../client/typescript/dist/api" */
/** @import { Choice } from "./fields.js" */
/** @typedef {Record<string, any>} Row */

// A link that the server finds from the row's name is not asked for.
/** @type {(field: RowField) => boolean} */
const isLookup = (field) => Boolean(field.matched);

/** @param {RowType} type @param {Row} row @param {(type: string) => Promise<Choice[]>} choices @param {string | null} skip */
async function build(type, row, choices, skip) {
  const fields = type.fields.filter((f) => f.name !== skip && !isLookup(f) && (f.writable || !isEmpty(row[f.name])));
  const options = await Promise.all(fields.map((f) => f.references ? choices(f.references) : null));
  return fields.map((f, i) => {
    const field = fieldOf({ ...f, long: f.name !== nameField(type) }, row[f.name], options[i]);
    if (!f.writable) field.input.disabled = true;
    return field;
  });
}

const valuesOf = (fields, wanted) => Object.fromEntries(fields.filter(wanted).map((f) => [f.name, f.read()]));

// formOf answers with the form's element and how to read it. row may be {}; choices(type) resolves to what a column
// that refers to another row may be: [{value, label}].
/** @param {RowType} type @param {Row} row @param {(type: string) => Promise<Choice[]>} choices */
export async function formOf(type, row, choices) {
  const fields = await build(type, row, choices, null);
  const parts = await Promise.all(type.children.map((child) => partsOf(child, row[child.table] ?? [], choices)));
  const filled = fields.filter((f, i) => i < 3 || f.input.required || !isEmpty(row[f.name]));
  const others = fields.filter((f) => !filled.includes(f));
  const line = (f) => h("div", { class: f.input.type === "checkbox" ? "field check" : "field" }, f.label, f.input, f.help);
  return {
    element: h("div", { class: "fields" }, filled.map(line), parts.map((p) => p.element),
      others.length > 0 && h("details", { open: others.length < 4 }, h("summary", {}, `More: ${others.map((f) => spoken(f.name).replace(/ id$/, "")).join(", ")}`), others.map(line))),
    values: () => ({ ...kept(row, type), ...valuesOf(fields, (f) => !f.input.disabled && !isEmpty(f.read()) || f.changed()), ...Object.fromEntries(parts.map((p) => [p.child.table, p.values()])) }),
    changed: () => valuesOf(fields, (f) => f.changed()),
    parts,
  };
}

// partsOf edits the rows that belong to a row: a recipe's ingredients.
/** @param {RowChild} child @param {Row[]} rows @param {(type: string) => Promise<Choice[]>} choices */
async function partsOf(child, rows, choices) {
  const type = typeOf(child.type);
  let lines = [];
  const removed = [];
  const body = h("tbody");
  const names = type.fields.filter((f) => f.name !== child.column && !isLookup(f)).map((f) => f.name);
  const addLine = async (row) => {
    const fields = await build(type, row, choices, child.column);
    const may = (verb) => !row[type.key] || type.writes.includes(verb);
    const line = { row, fields };
    line.element = h("tr", {}, fields.map((f) => {
      f.input.removeAttribute("id");
      f.input.removeAttribute("aria-describedby");
      f.input.setAttribute("aria-label", spoken(f.name));
      f.input.disabled ||= !may("update");
      return h("td", {}, f.input);
    }), h("td", {}, may("delete") && iconButton("close", `Remove ${row[nameField(type)] ?? "this line"}`, () => {
      lines = lines.filter((other) => other !== line);
      if (row[type.key]) removed.push(row);
      line.element.remove();
    })));
    lines.push(line);
    body.append(line.element);
    return line;
  };
  for (const row of rows) await addLine(row);
  const element = h("fieldset", { class: "parts" }, h("legend", {}, capital(type.plural)), h("div", { class: "table", tabindex: "0" },
    h("table", {}, h("thead", {}, h("tr", {}, names.map((n) => h("th", { scope: "col" }, spoken(n))), h("th", {}, h("span", { class: "visually-hidden" }, "Remove")))), body)),
  type.writes.includes("create") && button(`Add ${type.name}`, async () => (await addLine({})).fields[0].input.focus(), { class: "quiet" }));
  const all = (line) => valuesOf(line.fields, (f) => !isEmpty(f.read()));
  return {
    child,
    element,
    values: () => lines.map((line) => ({ ...kept(line.row, type), ...all(line) })),
    added: () => lines.filter((line) => !line.row[type.key]).map((line) => ({ line, fields: all(line) })).filter(filled),
    edited: () => lines.filter((line) => line.row[type.key]).map((line) => ({ line, fields: valuesOf(line.fields, (f) => f.changed()) })).filter(filled),
    removed,
  };
}

const filled = ({ fields }) => Object.keys(fields).length > 0;

// kept are the look-ups of a line, which no field shows and which must not be lost.
const kept = (row, type) => Object.fromEntries(type.fields.filter((f) => isLookup(f) && !isEmpty(row[f.name])).map((f) => [f.name, row[f.name]]));
