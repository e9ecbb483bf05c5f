// Searching everything: titles of conversations, what was said in them, and stored rows.

import { get } from "./api.js";
import { emit } from "./bus.js";
import { $, button, h } from "./dom.js";
import { capital, literally } from "./format.js";
import { guarded } from "./notice.js";
import { plain } from "./turn.js";
import { typeOf } from "./types.js";

/** @import { Found, SearchResult } from "../../../../client/typescript/dist/api" */

const most = 8; // of a group
let asked = 0;

// marked is a text with what was searched for marked in it.
/** @param {string} text @param {string} words */
export function marked(text, words) {
  const wanted = words.split(/\s+/).filter((word) => word.length > 1).map(literally);
  if (!wanted.length) return [text];
  return text.split(new RegExp(`(${wanted.join("|")})`, "giu")).map((part, i) => i % 2 ? h("mark", {}, part) : part);
}

// search lists what was said and stored; titles stand in the list of conversations.
/** @param {string} words */
export async function search(words) {
  asked += 1;
  const mine = asked;
  if (words.length < 2) {
    $("found").hidden = true;
    return;
  }
  /** @type {SearchResult} */
  const { items, notice } = await guarded(() => get(`/v1/search?q=${encodeURIComponent(words)}`)) ?? { items: [], next_cursor: "" };
  if (mine !== asked) return;
  const groups = Map.groupBy(items, (/** @type {Found} */ f) => f.type);
  const said = groups.get("turn") ?? [];
  groups.delete("turn");
  $("found").replaceChildren(
    ...said.length ? [h("h2", {}, "Said"), h("ul", {}, said.slice(0, most).map((f) => h("li", {}, h("a", { href: `#${f.session_id}`, title: plain(f.text || f.label) },
      h("span", { class: "name", dir: "auto" }, marked(plain(f.label), words))))))] : [],
    ...[...groups].filter(([type]) => typeOf(type)).flatMap(([type, rows]) => [h("h2", {}, capital(typeOf(type).plural)), h("ul", {}, rows.slice(0, most).map((f) => h("li", {},
      button(null, () => emit("open", /** @type {any} */ ({ type, key: f.id, label: f.label, state: "stored" })), { class: "found-row" }, marked(f.label, words)))))]),
    ...items.length ? [] : [h("p", { class: "soft" }, `Nothing said or stored matches “${words}”.`)],
    ...notice ? [h("p", { class: "soft" }, notice)] : []);
  $("found").hidden = false;
}
