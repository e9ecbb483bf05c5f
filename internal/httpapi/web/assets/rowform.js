// Looking at a row, making one, changing and deleting it. With the conversation's id each change is the user's in it,
// so that Alfred learns of it at the next message.

import { ApiError, request, whole } from "./api.js";
import { agreed, apply } from "./bulk.js";
import { emit } from "./bus.js";
import { current } from "./conversation.js";
import { confirm, openDialog } from "./dialog.js";
import { button, h } from "./dom.js";
import { capital } from "./format.js";
import { formOf } from "./form.js";
import { guarded, notice } from "./notice.js";
import { confirmed, historyOf, operationsOf } from "./rowmore.js";
import { keyOf, nameOf, typeOf } from "./types.js";

const choicePages = 5; // of 200

const address = (type, id) => `/v1/data/${encodeURIComponent(type)}${id ? `/${encodeURIComponent(id)}` : ""}`;

// path is where rows are changed.
/** @param {string} type @param {string} [id] @param {string} [more] */
export function path(type, id, more) {
  const query = [current() && `session=${current().id}`, more].filter(Boolean).join("&");
  return address(type, id) + (query && `?${query}`);
}

// gone deletes a row, once the person agrees to what goes with it.
const gone = (type, id, etag) => confirmed("Delete", (more) => write("DELETE", path(type, id, more), undefined, etag));

// choices are the rows that a column of this type may refer to.
export async function choices(name) {
  const type = typeOf(name);
  const rows = await whole(`${address(name)}?labels=true`, choicePages);
  return rows.map((row) => ({ value: keyOf(type, row), label: row._label || keyOf(type, row) }));
}

// read answers with a row and its version.
export async function read(type, id) {
  const response = await request(address(type.type, id));
  return { row: await response.json(), etag: response.headers.get("ETag") };
}

const learned = () => current() ? " Alfred learns of it with your next message." : "";

// openRow shows a row to look at or change, or an empty form without an id. done() is called after a change; called is its name, if known.
export async function openRow(type, id, done, called = "") {
  const seen = id ? await read(type, id) : { row: {}, etag: null };
  const { row } = seen;
  const form = await formOf(type, row, choices);
  const before = JSON.stringify(form.values());
  const wrong = h("p", { class: "bad", role: "alert", hidden: true });
  const name = id ? called || nameOf(type, row) : `New ${type.name}`;
  const submit = h("button", { type: "submit", class: "primary" }, id ? "Save" : "Create");
  const save = async (event) => {
    event.preventDefault();
    submit.disabled = true;
    wrong.hidden = true;
    try {
      if (id) await change(type, seen, form);
      else await write("POST", path(type.type), form.values());
      dialog.close();
      notice(`${id ? "Saved" : "Created"}.${learned()}`);
      changed(done);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      wrong.hidden = false;
      wrong.replaceChildren(capital(error.message), ...(error.code === "conflict" ? [" ", button("Load it anew", () => { dialog.close(); guarded(() => openRow(type, id, done, called)); })] : []));
    } finally {
      submit.disabled = false;
    }
  };
  const remove = async () => {
    if (!await confirm(`Delete ${name}?`, "The row and its parts will be gone.", "Delete")) return;
    if (!await guarded(() => gone(type.type, id, seen.etag))) return;
    dialog.close();
    notice(`Deleted.${learned()}`);
    changed(done);
  };
  const again = () => { dialog.close(); changed(done); };
  const dialog = openDialog(name, h("form", { onsubmit: (event) => { guarded(() => save(event)); } }, id && operationsOf(type, path(type.type, id), again), form.element, id && historyOf(type, id),
    h("div", { class: "buttons" }, wrong, id && type.writes.includes("delete") && button("Delete", remove, { class: "danger" }), h("span", { class: "gap" }),
      button("Cancel", () => dialog.leave()), submit)), { wide: true, unsaved: () => JSON.stringify(form.values()) !== before });
  /** @type {any[]} */
  const inputs = type.writes.includes(id ? "update" : "create") ? [] : [...dialog.querySelectorAll(".fields :is(input, select, textarea, button), form button[type=submit]")];
  for (const input of inputs) input.disabled = true;
}

function changed(done) {
  emit("stale");
  done();
}

// change writes what differs: the row first, then its parts, all as seen: another's change since is refused. What is
// written of the row is seen anew, so that what was refused of its parts can be mended and sent once more. Parts change together, as a rule
// of their owner's may hold for all of them: the lines of an entry are balanced. Of several types, all are tried before any is written.
async function change(type, seen, form) {
  const own = form.changed();
  if (Object.keys(own).length) seen.etag = (await write("PATCH", path(type.type, keyOf(type, seen.row)), own, seen.etag)).etag;
  const parts = form.parts.map((part) => ({ of: typeOf(part.child.type), changes: changesOf(part, seen.row[type.key]) })).filter(({ changes }) => changes.length);
  for (const { of, changes } of parts.length > 1 ? parts : []) requireNone((await apply(of, changes, true)).errors.filter((e) => e.code !== "confirmation_needed"));
  for (const { of, changes } of parts) {
    const errors = await agreed(of, changes, "Delete?");
    if (!errors) throw new ApiError(400, { detail: `Nothing was changed of the ${of.plural}.` });
    requireNone(errors);
  }
}

/** @returns {import("./bulk.js").Change[]} */
function changesOf({ child, removed, edited, added }, whole) {
  const of = (row) => ({ id: keyOf(child, row), etag: row._etag });
  return [...removed.map((row) => ({ action: "delete", ...of(row) })), ...edited().map(({ line, fields }) => ({ action: "update", ...of(line.row), data: fields })),
    ...added().map(({ fields }) => ({ action: "create", data: { ...fields, [child.column]: whole } }))];
}

// requireNone fails with the first of what is wrong.
function requireNone(errors) {
  if (errors.length) throw new ApiError(400, { code: errors[0].code === "stale" ? "conflict" : "invalid_request", detail: errors[0].message });
}

// write answers with the row as it is then, and its version.
async function write(method, to, body, etag) {
  const response = await request(to, { method, body: body && JSON.stringify(body), headers: { ...body && { "Content-Type": "application/json" }, ...etag && { "If-Match": etag } } });
  return { row: response.status === 204 ? null : await response.json(), etag: response.headers.get("ETag") };
}
