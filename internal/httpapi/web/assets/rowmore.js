// What a row has beside its columns: what can be done to it, and who changed it.

import { ApiError, call, get } from "./api.js";
import { confirm, openDialog } from "./dialog.js";
import { button, h } from "./dom.js";
import { fieldOf } from "./fields.js";
import { capital, when, words } from "./format.js";
import { guarded, notice } from "./notice.js";

/** @import { RowHistoryOutBody, RowOperation, RowType } from "../../../../client/typescript/dist/api" */

// operationsOf are the domain's operations as buttons; done() is called after one.
/** @param {RowType} type @param {string} path @param {() => void} done */
export function operationsOf(type, path, done) {
  if (!type.operations.length) return null;
  return h("div", { class: "buttons operations" }, type.operations.map((o) => button(capital(words(o.name)), () => o.fields.length ? askFor(o, path, done) : guarded(() => operate(o, path, {}, done)), { title: o.description })));
}

/** @param {RowOperation} operation @param {string} path @param {() => void} done */
function askFor(operation, path, done) {
  const fields = operation.fields.map((f) => fieldOf(f, null));
  const dialog = openDialog(capital(words(operation.name)), h("form", { onsubmit: (event) => {
    event.preventDefault();
    guarded(async () => {
      await operate(operation, path, Object.fromEntries(fields.map((f) => [f.name, f.read()]).filter(([, value]) => value !== null)), () => { dialog.close(); done(); });
    });
  } }, h("p", { class: "soft" }, operation.description), h("div", { class: "fields" }, fields.map((f) => h("div", { class: "field" }, f.label, f.input, f.help))),
  h("div", { class: "buttons" }, h("span", { class: "gap" }), button("Cancel", () => dialog.leave()), h("button", { type: "submit", class: "primary" }, capital(words(operation.name))))));
}

// confirmed sends what the server may want confirmed: the person is asked first, in the server's words. It says whether it was done.
/** @param {string} verb @param {(more: string) => Promise<any>} send */
export async function confirmed(verb, send) {
  try {
    await send("");
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "confirmation_needed") throw error;
    if (!await confirm(`${verb}?`, error.message, verb)) return false;
    await send(`confirm=${encodeURIComponent(error.message)}`);
  }
  return true;
}

async function operate(operation, path, args, done) {
  const [place, query] = path.split("?");
  const address = (more) => `${place}/${encodeURIComponent(operation.name)}?${[query, more].filter(Boolean).join("&")}`;
  if (!await confirmed(capital(words(operation.name)), (more) => call("POST", address(more), args))) return;
  notice(`${capital(words(operation.name))}: done.`);
  done();
}

const who = { assistant: "Alfred", user: "you", system: "Alfred’s housekeeping" };

// historyOf tells who changed a row in which conversation, when it is opened.
/** @param {RowType} type @param {string} id */
export function historyOf(type, id) {
  const list = h("ul", { class: "memory" });
  const details = h("details", { class: "history" }, h("summary", {}, "Who changed it"), list);
  details.addEventListener("toggle", () => guarded(async () => {
    if (!details.open || list.children.length) return;
    /** @type {RowHistoryOutBody} */
    const { items } = await get(`/v1/data/${encodeURIComponent(type.type)}/${encodeURIComponent(id)}/history`);
    list.replaceChildren(...items.length ? items.map((c) => h("li", {}, `${c.action === "called" ? "" : `${capital(c.action)} `}${c.operation ? `${c.action === "called" ? "" : "by "}${words(c.operation)} ` : ""}by ${who[c.actor] ?? c.actor}, ${when(c.at)}`,
      c.session_id && [", in ", h("a", { href: `#${c.session_id}`, onclick: () => details.closest("dialog").close() }, c.title || "a conversation"), c.number > 0 && ` (turn ${c.number})`]))
      : [h("li", { class: "soft" }, "Nobody did here.")]);
  }));
  return details;
}
