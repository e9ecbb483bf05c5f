// The ways that a conversation went: where a message was said otherwise or tried again, a fork of it began.

import { call, get } from "./api.js";
import { openDialog } from "./dialog.js";
import { button, h, icon } from "./dom.js";
import { plural } from "./format.js";
import { notice } from "./notice.js";
import { typeOf } from "./types.js";
import { newKey, unsent } from "./unsent.js";

/** @import { Branch, Fork, Session, Since, Turn } from "../../../../client/typescript/dist/api" */

// waysAt are the conversations that have a turn of this number of their own and all before it in common, the oldest first, and which of
// them is shown. Those that began later are within them.
/** @param {Branch[]} all @param {string} shown @param {number} number */
export function waysAt(all, shown, number) {
  const by = new Map(all.map((b) => [b.id, b]));
  const line = [by.get(shown)]; // from the one shown up to the first
  while (line.at(-1) && by.get(line.at(-1).parent_id)) line.push(by.get(line.at(-1).parent_id));
  const owner = line.find((b, i) => b && (i === line.length - 1 || number > b.forked_at_turn + 1)) ?? line.at(-1);
  const ways = [];
  const gather = (b) => {
    if (b.last_turn >= number) ways.push(b);
    for (const child of all) if (child.parent_id === b.id && child.forked_at_turn === number - 1) gather(child);
  };
  if (owner) gather(owner);
  ways.sort((a, b) => a.created_at.localeCompare(b.created_at));
  const now = ways.findIndex((way) => way === line.find((b) => ways.includes(b)));
  return { ways, now };
}

// branchesOf are all of a conversation's tree.
/** @param {string} session @returns {Promise<Branch[]>} */
export const branchesOf = async (session) => (await get(`/v1/sessions/${session}/branches`)).items;

// among shows which of the ways is shown, and leads to those beside it.
/** @param {Branch[]} ways @param {number} now @param {number} number */
export function among(ways, now, number) {
  if (ways.length < 2 || now < 0) return null;
  const to = (i, text, label) => ways[i] ? h("a", { href: `#${ways[i].id}`, "aria-label": label, title: label }, text) : h("span", { class: "soft", "aria-hidden": "true" }, text);
  return h("nav", { class: "ways", "aria-label": `Versions of turn ${number}` }, to(now - 1, "‹", `The version before of turn ${number}`),
    h("span", { class: "soft" }, `${now + 1} of ${ways.length}`), to(now + 1, "›", `The next version of turn ${number}`));
}

// origin says what a fork began as, and which rows are not as they were then.
/** @param {Session} session @param {Branch[]} all */
export async function origin(session, all) {
  /** @type {Fork} */
  const { parent_id: parent, changed } = await get(`/v1/sessions/${session.id}/fork`);
  const from = all.find((b) => b.id === parent);
  return h("li", { class: "origin" }, h("p", {}, icon("branch"), "From here on it is a version of ",
    parent ? h("a", { href: `#${parent}` }, from?.title || "another conversation") : "a conversation that was deleted", "."),
  changed.length > 0 && h("details", {}, h("summary", {}, `Since then ${plural(changed.length, "row")} changed`), h("ul", {}, changed.map(since))));
}

const became = { changed: "changed", deleted: "deleted", created: "new" };

/** @param {Since} row */
const since = ({ label, entity_type: type, change, turn }) => h("li", {}, h("strong", { dir: "auto" }, label || (typeOf(type)?.name ?? type)), " ",
  h("span", { class: "soft" }, `${typeOf(type)?.name ?? type} · ${became[change]}${turn ? ` in turn ${turn} there` : ""}`));

// fork says something in place of a turn, in a conversation that begins as this one stood before it. What was written since is taken
// back first, if the person wants that. It answers whether it was said.
/** @param {Session} session @param {number} number @param {string} text @param {Turn[]} wrote the turns since that wrote, newest first */
export async function fork(session, number, text, wrote) {
  const choice = wrote.length ? await ask(wrote) : "keep";
  if (!choice) return false;
  if (choice === "undo" && !await takeBack(wrote)) return false;
  const { id } = await call("POST", `/v1/sessions/${session.id}/fork`, { turn: number - 1 }, { "Idempotency-Key": newKey() });
  unsent(id, text);
  location.hash = id;
  return true;
}

/** @param {Turn[]} wrote @returns {Promise<"undo" | "keep" | "">} */
function ask(wrote) {
  return new Promise((resolve) => {
    /** @type {"undo" | "keep" | ""} */
    let choice = "";
    const choose = (what) => () => { choice = what; dialog.close(); };
    const labels = [...new Set(wrote.flatMap((turn) => turn.wrote.map((w) => w.label)))];
    const named = labels.slice(0, 5).join(", ") + (labels.length > 5 ? ` and ${labels.length - 5} more` : "");
    const dialog = openDialog("Undo what was done since?", h("div", {}, h("p", {}, `This goes back to before rows were changed: ${named}. The conversation as it is stays beside the new one.`),
      h("div", { class: "buttons" }, button("Keep the rows", choose("keep")), button("Undo and go on", choose("undo"), { class: "primary" }))),
    { onclose: () => resolve(choice) });
  });
}

/** @param {Turn[]} wrote */
async function takeBack(wrote) {
  for (const { id } of wrote) {
    const made = await call("POST", `/v1/turns/${id}/undo`);
    /** @type {Turn} */
    const done = await get(`/v1/turns/${made.id}?wait=60s`);
    /** @type {Turn} */
    const now = await get(`/v1/turns/${id}`);
    if (now.undo?.status === "done") continue;
    notice(`Not all could be undone, and nothing was sent. ${done.reply ?? done.error?.message ?? ""}`, { bad: true });
    return false;
  }
  return true;
}
