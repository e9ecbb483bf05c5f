// Many rows at once, all of them or none.

import { call } from "./api.js";
import { emit } from "./bus.js";
import { current } from "./conversation.js";
import { confirm, openDialog } from "./dialog.js";
import { button, h } from "./dom.js";
import { fieldOf } from "./fields.js";
import { plural, spoken } from "./format.js";
import { guarded, notice } from "./notice.js";
import { keyOf, nameOf } from "./types.js";

/** @import { RowBatchOutBody, RowType } from "../../../../client/typescript/dist/api" */
/** @typedef {{action: "create" | "update" | "delete", id?: string, etag?: string, data?: Record<string, any>, confirm?: string}} Change */

// apply writes changes in one transaction, or says what would be wrong with them; with preview nothing is written.
/** @param {RowType} type @param {Change[]} changes @param {boolean} [preview] @returns {Promise<RowBatchOutBody>} */
export const apply = (type, changes, preview = false) =>
  call("POST", `/v1/data/${encodeURIComponent(type.type)}/batch${current() ? `?session=${current().id}` : ""}`, { changes, preview });

// agreed applies changes, once more if the person agrees to what else they would delete: question, in the server's words. It answers with what is
// wrong, or with null after a no.
/** @param {RowType} type @param {Change[]} changes @param {string} question */
export async function agreed(type, changes, question) {
  const { errors } = await apply(type, changes);
  if (!errors.length || errors.some((e) => e.code !== "confirmation_needed")) return errors;
  if (!await confirm(question, [...new Set(errors.map((e) => e.message))].join(" "), "Delete")) return null;
  for (const e of errors) changes[e.index].confirm = e.message;
  return (await apply(type, changes)).errors;
}

// bulkBar shows what can be done with the rows that are chosen. done() is called after a change.
/** @param {HTMLElement} place @param {RowType} type @param {Record<string, any>[]} rows @param {() => void} done */
export function bulkBar(place, type, rows, done) {
  place.hidden = rows.length === 0;
  if (!rows.length) return;
  const what = plural(rows.length, type.name, type.plural);
  const run = (changes, said) => guarded(async () => {
    const errors = await agreed(type, changes, `Delete ${what}?`);
    if (!errors) return;
    if (errors.length) {
      const name = (i) => rows[i] ? nameOf(type, rows[i]) : type.name;
      notice(`Nothing was changed. ${errors.slice(0, 3).map((e) => `${name(e.index)}: ${e.message}`).join(" ")}`, { bad: true });
      return;
    }
    emit("stale");
    notice(`${said} ${what}.`);
    done();
  });
  const remove = async () => {
    if (await confirm(`Delete ${what}?`, "The rows and their parts will be gone.", "Delete")) run(rows.map((row) => ({ action: "delete", id: keyOf(type, row) })), "Deleted");
  };
  place.replaceChildren(h("strong", {}, `${what} chosen`),
    type.writes.includes("update") && button("Set a value…", () => setValue(type, rows, what, run)),
    type.writes.includes("delete") && button("Delete", () => guarded(remove), { class: "danger" }));
}

/** @param {RowType} type @param {Record<string, any>[]} rows @param {string} what @param {(changes: Change[], said: string) => void} run */
function setValue(type, rows, what, run) {
  const fields = type.fields.filter((f) => f.writable && !f.references && !["array", "json"].includes(f.kind));
  const place = h("div", {});
  let made = fieldOf(fields[0], null);
  const draw = (i) => { made = fieldOf({ ...fields[i], required: false }, null); place.replaceChildren(made.label, made.input, ...made.help ? [made.help] : []); };
  const choose = h("select", { id: "set-column", onchange: (event) => draw(event.target.selectedIndex) }, fields.map((f) => h("option", { value: f.name }, spoken(f.name))));
  draw(0);
  const dialog = openDialog(`Set a value in ${what}`, h("form", { onsubmit: (event) => {
    event.preventDefault();
    run(rows.map((row) => ({ action: "update", id: keyOf(type, row), data: { [made.name]: made.read() } })), "Changed");
    dialog.close();
  } }, h("label", { for: "set-column" }, "Column"), choose, place, h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Set"))));
}

