// Naming rows with @: a list over the message box, for mouse and keyboard.

import { get } from "./api.js";
import { $, h } from "./dom.js";
import { typeOf } from "./types.js";

/** @import { Mention, MentionList } from "../../../../client/typescript/dist/api" */

const pauseBefore = 120; // ms of no typing

const box = $("message");
/** @type {Mention[]} */
let found = [];
let chosen = 0;
let asked = 0;
/** @type {{label: string, token: string}[]} */
let named = []; // {label, token} of the rows that the message names

// mentioned are the rows named so far; setMentioned takes up those of a kept draft.
export const mentioned = () => named.filter(({ label }) => box.value.includes(`@${label}`));
export const setMentioned = (list) => { named = list; };

// withTokens writes the message as the server reads it: each name with the row it stands for.
export function withTokens(text) {
  const names = mentioned().sort((a, b) => b.label.length - a.label.length);
  if (!names.length) return text;
  const pattern = new RegExp(names.map(({ label }) => `@${label.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`).join("|"), "g");
  return text.replace(pattern, (name) => names.find(({ label }) => `@${label}` === name).token);
}

// The word being typed after an @ that begins one.
function typed() {
  const match = /(?:^|\s)@([^@\s[\]][^@[\]\n]{0,39}|)$/.exec(box.value.slice(0, box.selectionStart));
  return match ? match[1] : null;
}

function close() {
  found = [];
  $("mentions").hidden = true;
  box.removeAttribute("aria-activedescendant");
}

function draw() {
  $("mentions").replaceChildren(...found.map((m, i) => h("li", {
    id: `mention-${i}`, role: "option", "aria-selected": String(i === chosen),
    onmousedown: (event) => { event.preventDefault(); take(i); }, // before the box loses the focus
  }, h("span", { class: "label" }, m.label), h("span", { class: "soft" }, typeOf(m.ref_type)?.name ?? m.ref_type))));
  $("mentions").hidden = false;
  box.setAttribute("aria-activedescendant", `mention-${chosen}`);
  $("mentions").children[chosen].scrollIntoView({ block: "nearest" });
}

function take(i) {
  const start = box.selectionStart - typed().length - 1;
  const { label: written, ref_type: type, uuid } = found[i];
  const label = written.replace(/[[\]\n]/g, " ");
  named = [...named.filter((m) => m.label !== label), { label, token: `@[${label}](${type}:${uuid})` }];
  box.setRangeText(`@${label} `, start, box.selectionStart, "end");
  close();
  box.dispatchEvent(new Event("input"));
}

async function look() {
  const word = typed();
  asked += 1;
  const mine = asked;
  if (word === null || mentioned().some(({ label }) => word.startsWith(`${label} `))) return close();
  await new Promise((resolve) => { setTimeout(resolve, pauseBefore); });
  if (mine !== asked) return undefined;
  /** @type {MentionList} */
  const answer = await get(`/v1/mentions?q=${encodeURIComponent(word)}`).catch(() => ({ items: [] }));
  if (mine !== asked || typed() === null) return undefined;
  found = answer.items;
  chosen = 0;
  return found.length ? draw() : close();
}

// mentionKeys handles a key while the list is open, and says whether it did.
export function mentionKeys(event) {
  if (!found.length) return false;
  switch (event.key) {
    case "ArrowDown": chosen = (chosen + 1) % found.length; draw(); break;
    case "ArrowUp": chosen = (chosen + found.length - 1) % found.length; draw(); break;
    case "Enter": case "Tab": take(chosen); break;
    case "Escape": close(); break;
    default: return false;
  }
  event.preventDefault();
  event.stopPropagation();
  return true;
}

box.addEventListener("input", look);
box.addEventListener("blur", close);
