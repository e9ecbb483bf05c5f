// Rows as CSV files: what is shown goes out, and what comes in is looked at before it is written.

import { whole } from "./api.js";
import { apply } from "./bulk.js";
import { emit } from "./bus.js";
import { openDialog } from "./dialog.js";
import { button, h } from "./dom.js";
import { download, fileName } from "./exporting.js";
import { columnTitle, plural, spoken } from "./format.js";
import { guarded, notice } from "./notice.js";

/** @import { RowField, RowType } from "../../../../client/typescript/dist/api" */

const most = 1000; // rows of one file, as the server takes them
const looked = 8; // rows of a file that are shown before

const written = (value) => Array.isArray(value) ? value.map((v) => typeof v === "object" ? JSON.stringify(v) : v).join("; ") : value !== null && typeof value === "object" ? JSON.stringify(value) : value;

// Where numbers have decimal commas, programs for spreadsheets set columns apart by semicolons.
const hasCommas = () => (0.5).toLocaleString().includes(",");

// formulas are texts that such a program would carry out; a negative number is none.
const formulas = /^([=+@\t\r]|-(?!\d+(,\d+)?$))/;

// exportCSV downloads all rows that a query finds, as a spreadsheet of the user's country opens them: beside the key of another row stands what
// that is called. The mark in front says how letters are encoded.
/** @param {RowType} type @param {string} query */
export async function exportCSV(type, query) {
  const [{ default: papa }, rows] = await Promise.all([import("papaparse"), whole(`/v1/data/${encodeURIComponent(type.type)}?labels=true&${query}`)]);
  const fields = [...new Set([type.key, ...type.fields.flatMap((f) => f.references ? [f.name, `_${f.name}_label`] : [f.name])])];
  const commas = hasCommas();
  const cell = (row, f) => commas && typeof row[f] === "number" ? String(row[f]).replace(".", ",") : written(row[f]);
  const text = papa.unparse({ fields, data: rows.map((row) => fields.map((f) => cell(row, f))) }, { delimiter: commas ? ";" : ",", escapeFormulae: formulas });
  download(`${fileName(type.plural)}.csv`, "text/csv;charset=utf-8", `\ufeff${text}`);
}

// textOf is a file's text, also of one that Excel has saved in the letters of Western Europe.
/** @param {File} file */
async function textOf(file) {
  const bytes = await file.arrayBuffer();
  try { return new TextDecoder("utf-8", { fatal: true }).decode(bytes); } catch { return new TextDecoder("windows-1252").decode(bytes); }
}

// plainly is a cell of a file with semicolons, from a country with decimal commas, where the day stands before the month.
/** @param {RowField} field @param {string} text */
function plainly(field, text) {
  if (field.kind === "number") return text.replace(/^(-?\d+),(\d+)$/, "$1.$2");
  if (field.kind === "date" || field.kind === "timestamp") return text.replace(/^(\d\d?)[./-](\d\d?)[./-](\d{4})\b/, (_, d, m, y) => `${y}-${m.padStart(2, "0")}-${d.padStart(2, "0")}`);
  return text;
}

// valueOf reads a cell as its column wants it; what it cannot read the server explains.
/** @param {RowField} field @param {string} text */
function valueOf(field, text) {
  if (text === "") return null;
  if (field.kind === "number") return Number.isNaN(Number(text)) ? text : Number(text);
  if (field.kind === "bool") return { yes: true, true: true, 1: true, no: false, false: false, 0: false }[text.toLowerCase()] ?? text;
  if (field.kind === "array") return text.split(";").map((part) => part.trim()).filter(Boolean).map((part) => field.element === "number" ? Number(part) : part);
  if (field.kind === "json") { try { return JSON.parse(text); } catch { return text; } }
  return text;
}

// importCSV asks for a file and shows what it would make. done() is called when that is written.
/** @param {RowType} type @param {() => void} done */
export async function importCSV(type, done) {
  /** @type {any} */
  const input = h("input", { type: "file", accept: ".csv,text/csv", id: "csv-file" });
  const place = h("div", {});
  const dialog = openDialog(`Import ${type.plural}`, h("div", {}, h("p", {}, h("label", { for: "csv-file" }, "A CSV file whose first line names the columns: "),
    h("span", { class: "soft" }, type.fields.filter((f) => f.writable).map((f) => f.name).join(", "))), input, place), { wide: true });
  place.parentElement.className = "import";
  input.addEventListener("click", () => { input.value = ""; }); // the same file, mended, is another choice
  input.addEventListener("change", () => guarded(async () => {
    const { default: papa } = await import("papaparse");
    const { data, meta } = papa.parse(await textOf(input.files[0]), { header: true, skipEmptyLines: "greedy" });
    const names = (meta.fields ?? []).map((title) => ({ title, field: type.fields.find((f) => f.writable && [f.name, spoken(f.name), columnTitle(f.name, f.references)].some((name) => name.toLowerCase() === title.trim().toLowerCase())) }));
    const known = names.filter((n) => n.field);
    if (!data.length || !known.length || data.length > most) {
      place.replaceChildren(h("p", { class: "bad", role: "alert" }, !data.length ? "There are no rows in this file." : data.length > most ? `A file may have ${most} rows; this one has ${data.length}.` : "None of its columns has a name that is known here."));
      return;
    }
    const said = (line, { title, field }) => {
      const text = (line[title] ?? "").trim().replace(/^'(?=[=+@-])/, ""); // as formulas are kept from being carried out
      return valueOf(field, meta.delimiter === ";" ? plainly(field, text) : text);
    };
    const rows = data.map((line) => Object.fromEntries(known.map((n) => [n.field.name, said(line, n)]).filter(([, value]) => value !== null)));
    const changes = rows.map((row) => ({ action: /** @type {const} */ ("create"), data: row }));
    const { errors } = await apply(type, changes, true);
    const wrong = new Map(errors.map((e) => [e.index, e.message]));
    const first = [...rows.keys()].sort((a, b) => Number(wrong.has(b)) - Number(wrong.has(a)) || a - b).slice(0, looked);
    const left = names.filter((n) => !n.field && n.title.trim() !== type.key).map((n) => n.title);
    place.replaceChildren(h("p", { role: "status" }, errors.length ? `${plural(errors.length, "line")} cannot be imported. Nothing is written until every line can be.` : `${plural(rows.length, type.name, type.plural)} can be imported.`,
      left.length > 0 && ` Left out: ${left.join(", ")}.`),
    h("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Preview" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Line"), known.map((n) => h("th", { scope: "col" }, columnTitle(n.field.name, n.field.references))), errors.length > 0 && h("th", { scope: "col" }, "What is wrong"))),
      h("tbody", {}, first.map((i) => h("tr", {}, h("th", { scope: "row" }, i + 2), known.map((n) => h("td", {}, String(written(rows[i][n.field.name]) ?? ""))), errors.length > 0 && h("td", { class: "bad" }, wrong.get(i) ?? "")))))),
    h("div", { class: "buttons" }, h("span", { class: "gap" }), button(`Import ${plural(rows.length, type.name, type.plural)}`, () => guarded(async () => {
      const made = await apply(type, changes);
      if (made.errors.length) { notice(made.errors[0].message, { bad: true }); return; }
      dialog.close();
      emit("stale");
      notice(`Imported ${plural(rows.length, type.name, type.plural)}.`);
      done();
    }), { class: "primary", disabled: errors.length > 0 })));
  }));
}
