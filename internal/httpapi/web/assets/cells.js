// Changing a value where it stands.

import { ApiError, call } from "./api.js";
import { emit } from "./bus.js";
import { h } from "./dom.js";
import { fieldOf } from "./fields.js";
import { spoken } from "./format.js";
import { guarded, notice } from "./notice.js";
import { path, read } from "./rowform.js";
import { keyOf } from "./types.js";

/** @import { RowType } from "../../../../client/typescript/dist/api" */

// editable is a cell that becomes an input when it is clicked, or chosen with Enter. The row is read anew first, and written only
// if nobody else has written since.
/** @param {RowType} type @param {Record<string, any>} row @param {string} column @param {Map<string, string> | undefined} labels @param {string} text @param {() => void} done */
export function editable(type, row, column, labels, text, done) {
  const field = type.fields.find((f) => f.name === column);
  const plain = h("td", {}, h("span", {}, text));
  if (!field?.writable || ["array", "json"].includes(field.kind)) return plain;
  const start = () => guarded(async () => {
    if (place.querySelector("input, select, textarea")) return;
    const { row: now, etag } = await read(type, keyOf(type, row));
    const { input, read: value, changed } = fieldOf({ ...field, long: false }, now[column], labels && [...labels].map(([v, label]) => ({ value: v, label })));
    input.setAttribute("aria-label", spoken(column));
    let over = false;
    const leave = () => { over = true; place.replaceChildren(h("span", {}, text)); };
    const keep = () => guarded(async () => {
      if (over) return;
      if (!input.checkValidity()) { input.setAttribute("aria-invalid", "true"); return; }
      if (!changed()) { leave(); return; }
      over = true;
      try {
        await call("PATCH", path(type.type, keyOf(type, row)), { [column]: value() }, { "If-Match": etag });
        emit("stale");
        done();
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        over = false;
        input.setAttribute("aria-invalid", "true");
        input.title = error.message;
        notice(error.message, { bad: true });
      }
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { leave(); place.focus(); } else if (event.key === "Enter") { event.preventDefault(); keep(); } else return;
      event.stopPropagation();
    });
    input.addEventListener("blur", keep);
    place.replaceChildren(input);
    input.focus();
  });
  const place = h("td", { class: "editable", tabindex: "0", role: "button", "aria-label": `Change ${spoken(column)}: ${text || "empty"}`, onclick: start,
    onkeydown: (event) => { if (event.key === "Enter" && event.target === place) { event.preventDefault(); start(); } } }, h("span", {}, text));
  return place;
}
