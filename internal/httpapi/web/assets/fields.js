// One input for each kind of column.

import { h } from "./dom.js";
import { columnTitle, isEmpty, words } from "./format.js";

/** @import { RowField } from "../../../../client/typescript/dist/api" */
/** @typedef {{value: string, label: string}} Choice */

const local = (at) => { // as datetime-local wants it
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
};

// missing stands for a row that is referred to and not shown, as one that is marked as deleted; nobody reads its key.
export const missing = "not shown";

const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

/** @type {(options: Choice[], value: any, kind: {required?: boolean, multiple?: boolean, references?: string}) => HTMLSelectElement} */
const select = (options, value, { required, multiple = false, references }) => {
  const chosen = multiple ? (value ?? []) : [value ?? ""];
  const known = new Set(options.map((o) => o.value));
  const all = [...options, ...chosen.filter((v) => v !== "" && !known.has(v)).map((v) => ({ value: v, label: references ? missing : v }))];
  return h("select", { required, multiple, size: multiple ? 6 : null }, !multiple && !(required && chosen[0]) && h("option", { value: "" }, "—"),
    all.map((o) => h("option", { value: o.value, selected: chosen.includes(o.value) }, o.label)));
};

// Each maker answers with an input and how to read it; null stands for no value.
/** @type {Record<string, (field: RowField & {long?: boolean}, value: any, options?: Choice[]) => {input: any, read: () => any}>} */
const makers = {
  array: (field, value, options) => {
    if (options) {
      const input = select(options, value, { multiple: true });
      return { input, read: () => [...input.selectedOptions].map((o) => o.value) };
    }
    const input = h("textarea", { rows: 1, placeholder: "One per line" });
    input.value = (value ?? []).map((v) => typeof v === "object" ? JSON.stringify(v) : v).join("\n");
    return { input, read: () => lines(input.value).map((v) => field.element === "number" ? Number(v) : v) };
  },
  bool: (field, value) => {
    const input = h("input", { type: "checkbox", checked: value === true });
    return { input, read: () => input.checked };
  },
  date: (field, value) => typed("date", field, value),
  json: (field, value) => {
    const input = h("textarea", { rows: 1, spellcheck: "false", class: "code" });
    input.value = isEmpty(value) ? "" : JSON.stringify(value, null, 2);
    input.addEventListener("input", () => {
      try { JSON.parse(input.value || "null"); input.setCustomValidity(""); } catch (error) { input.setCustomValidity(error.message); }
    });
    return { input, read: () => isEmpty(value) && !input.value.trim() ? value ?? null : JSON.parse(input.value || "null") };
  },
  number: (field, value, options) => {
    if (options) { // a key; that of a row which is still a draft is its ref
      const input = select(options, isEmpty(value) ? "" : String(value), field);
      return { input, read: () => input.value === "" ? null : Number.isSafeInteger(Number(input.value)) ? Number(input.value) : input.value };
    }
    const input = h("input", { type: "number", step: "any", required: field.required, value });
    return { input, read: () => input.value === "" ? null : Number(input.value) };
  },
  timestamp: (field, value) => {
    const input = h("input", { type: "datetime-local", required: field.required, value: value ? local(value) : null });
    const first = input.value;
    return { input, read: () => input.value === first ? value ?? null : input.value ? new Date(input.value).toISOString() : null };
  },
  text: (field, value, options) => {
    if (options) {
      const input = select(options, value, field);
      return { input, read: () => input.value || null };
    }
    const input = field.long ? h("textarea", { rows: 1 }) : h("input", { type: "text" });
    input.required = field.required;
    input.value = value ?? "";
    return { input, read: () => input.value === "" ? null : input.value };
  },
};

function typed(type, field, value) {
  const input = h("input", { type, required: field.required, value });
  return { input, read: () => input.value || null };
}

let made = 0;

// fieldOf answers with {name, input, label, help, read, changed} for a column. options are those of a choice, if it is one.
/** @param {RowField & {long?: boolean}} field @param {any} value @param {Choice[]} [options] */
export function fieldOf(field, value, options) {
  const choices = options ?? field.options?.map((o) => ({ value: o, label: words(o) }));
  const { input, read } = (makers[field.kind] ?? makers.text)(field, value, choices);
  made += 1;
  input.id = `field-${made}`;
  input.name = field.name;
  if (field.comment) input.setAttribute("aria-describedby", `help-${made}`);
  const before = JSON.stringify(read());
  return {
    name: field.name,
    input,
    label: h("label", { for: input.id }, columnTitle(field.name, field.references), field.required && h("span", { class: "soft" }, " required")),
    help: field.comment ? h("small", { id: `help-${made}` }, field.comment) : null,
    read,
    changed: () => JSON.stringify(read()) !== before,
  };
}
