// What a turn did to stored rows, told from the rows and not from what the reply says of them.

import { emit } from "./bus.js";
import { button, h, icon } from "./dom.js";
import { rowOf } from "./registry.js";
import { isPart, typeOf } from "./types.js";

/** @import { Undo, Wrote } from "../../../../client/typescript/dist/api" */

const most = 5; // rows by name
const verbs = { created: ["plus", "Saved"], updated: ["edit", "Changed"], deleted: ["trash", "Deleted"] };

// written lists rows by what was done to them; more() shows all of them. Parts of rows are told with their rows, or alone if
// nothing else was written. Of a turn that was to write and did not, it says that: its reply may claim anything. The reply of an
// undo is made from the rows and names them itself.
/** @param {{wrote?: Wrote[], undoes?: string | null, unwritten?: boolean}} turn @param {() => void} more */
export function written({ wrote = [], undoes, unwritten }, more) {
  if (unwritten) return [h("p", { class: "wrote" }, icon("dash"), h("span", { class: "soft" }, "Nothing was saved, changed or deleted."))];
  if (undoes) return [];
  const known = wrote.filter((w) => typeOf(w.type)), whole = known.filter((w) => !isPart(w.type));
  const last = new Map((whole.length ? whole : known).map((w) => [w.ref, w])); // of a row that was saved and changed
  const saved = new Set(wrote.filter((w) => w.action === "created").map((w) => w.ref));
  const groups = Map.groupBy(last.values(), (w) => w.action === "updated" && saved.has(w.ref) ? "created" : w.action);
  return [...groups].map(([action, rows]) => h("p", { class: "wrote" }, icon(verbs[action][0]), h("span", { class: "soft" }, `${verbs[action][1]} `),
    h("span", {}, rows.slice(0, most).flatMap((w, i) => [i > 0 && ", ", named(w, action)]),
      rows.length > most && [" ", button(`and ${rows.length - most} more`, more, { class: "link" })])));
}

/** @param {Wrote} w @param {string} action */
function named(w, action) {
  if (action === "deleted") return h("s", {}, w.label);
  return button(w.label, () => {
    const entity = rowOf(w.ref);
    if (entity) emit("open", entity);
  }, { class: "link" });
}

// undoing is the button that undoes what was written, or why it cannot be undone.
/** @param {{undo?: Undo, undoes?: string | null}} turn @param {string} name @param {() => void} run */
export function undoing({ undo, undoes }, name, run) {
  if (undo?.status === "possible") return [button(undoes ? "Redo" : "Undo", run, { class: "undo", "aria-label": undoes ? `Redo what ${name} undid` : `Undo what ${name} did` })];
  const why = undo?.status === "done" ? "Undone." : undo?.reason;
  return why ? [h("p", { class: "soft undone" }, why)] : [];
}
