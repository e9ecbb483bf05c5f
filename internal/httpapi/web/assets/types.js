// The types of rows there are, and the way to each.

import { get } from "./api.js";
import { $, h } from "./dom.js";
import { capital } from "./format.js";

/** @import { RowType, RowTypesOutBody } from "../../../../client/typescript/dist/api" */

/** @type {RowType[]} */
let all = [];
let domain = "";

// declared is the declaration whose types these are.
export const declared = () => domain;

// isPart: rows of this type belong to those of another and are shown with them.
export const isPart = (name) => all.some((parent) => parent.children.some((child) => child.type === name));

export const types = () => all.filter((t) => !isPart(t.type));

// typeOf finds a type, parts of others included.
export const typeOf = (name) => all.find((t) => t.type === name) ?? null;

// keyOf is a row's key, by which the API knows it.
/** @type {(of: {type: string}, row: Record<string, any>) => string} */
export const keyOf = (of, row) => String(row[typeOf(of.type)?.key ?? ""]);

// nameField is the column that names a row.
/** @type {(type: RowType) => string} */
export const nameField = (type) => type.columns.find((c) => type.fields.some((f) => f.name === c && f.kind === "text")) ?? type.columns[0];

// nameOf is what a row is called: as declared, where it was asked for with labels=true, else by its naming column.
/** @type {(type: RowType, row: Record<string, any>) => string} */
export const nameOf = (type, row) => row._label || String(row[nameField(type)] ?? capital(type.name));

export async function loadTypes() {
  /** @type {RowTypesOutBody} */
  const answer = await get("/v1/data");
  ({ items: all, domain } = answer);
  $("types").replaceChildren(...types().map((t) => h("li", {}, h("a", { href: `#rows/${t.type}`, "data-type": t.type }, capital(t.plural)))));
}

// markType shows which type's rows are shown, if any.
export function markType(type) {
  for (const link of $("types").querySelectorAll("a")) {
    if (link.dataset.type === type?.type) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}
