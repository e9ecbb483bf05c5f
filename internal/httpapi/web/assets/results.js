// What a turn's tools returned: rows that a reply names some of.

import { whole } from "./api.js";
import { emit } from "./bus.js";
import { openDialog } from "./dialog.js";
import { button, h } from "./dom.js";
import { capital, isEmpty, plural, shown, spoken } from "./format.js";
import { rowOf } from "./registry.js";
import { nameField, typeOf } from "./types.js";

/** @import { ToolResult } from "../../../../client/typescript/dist/api" */

const most = 6; // columns

// openResults lists all rows that a turn has read.
/** @param {string} turn */
export async function openResults(turn) {
  /** @type {ToolResult[]} */
  const results = (await whole(`/v1/turns/${turn}/results`)).filter((r) => r.rows.length && r.entity_type && typeOf(r.entity_type));
  const dialog = openDialog("What was read", h("div", { class: "results" }, results.length ? results.map((r) => table(r, () => dialog.close()))
    : h("p", { class: "soft" }, "Nothing was read.")), { wide: true });
}

/** @param {ToolResult} result @param {() => void} close */
function table(result, close) {
  const type = typeOf(result.entity_type);
  const name = nameField(type);
  const columns = [name, ...Object.keys(result.rows[0]).filter((c) => c !== name && c !== "id" && !c.startsWith("_") && !type.fields.find((f) => f.name === c)?.references)]
    .filter((c) => result.rows.some((row) => !isEmpty(row[c]) && typeof row[c] !== "object")).slice(0, most);
  return h("section", {}, h("h3", {}, plural(result.row_count, type.name, type.plural)),
    h("div", { class: "table", tabindex: "0", role: "region", "aria-label": capital(type.plural) }, h("table", {},
      h("thead", {}, h("tr", {}, columns.map((c) => h("th", { scope: "col" }, capital(spoken(c)))))),
      h("tbody", {}, result.rows.map((row, i) => {
        const entity = rowOf(result.refs[i]);
        return h("tr", {}, columns.map((c, n) => n ? h("td", {}, shown(row[c], type.fields.find((f) => f.name === c)?.kind))
          : h("th", { scope: "row" }, entity ? button(shown(row[c]), () => { close(); emit("open", entity); }, { class: "link" }) : shown(row[c]))));
      })))),
    result.row_count > result.rows.length && h("p", {}, h("a", { href: `#rows/${type.type}`, onclick: close }, `All ${type.plural}`)));
}
