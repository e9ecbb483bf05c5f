// Naming rows with @: a list under the message box, for mouse and keyboard.

import { call } from "./api.js";
import { $, element } from "./dom.js";

let found = [];
let chosen = 0;
let asked = 0;

// The word being typed after an @ that begins one.
function typed() {
  const before = $("message").value.slice(0, $("message").selectionStart);
  const match = /(?:^|\s)@([^@\s[\]][^@[\]\n]{0,39}|)$/.exec(before);
  return match ? match[1] : null;
}

function close() {
  found = [];
  $("mentions").hidden = true;
  $("message").setAttribute("aria-expanded", "false");
  $("message").removeAttribute("aria-activedescendant");
}

function draw() {
  $("mentions").replaceChildren(...found.map((m, i) => {
    const li = element("li");
    li.id = `mention-${i}`;
    li.setAttribute("role", "option");
    li.setAttribute("aria-selected", String(i === chosen));
    li.append(element("span", "label", m.label), element("span", "soft", ` ${m.ref_type}`));
    li.addEventListener("mousedown", (event) => { event.preventDefault(); take(i); }); // before the box loses the focus
    return li;
  }));
  $("mentions").hidden = false;
  $("message").setAttribute("aria-expanded", "true");
  $("message").setAttribute("aria-activedescendant", `mention-${chosen}`);
  $("mentions").children[chosen].scrollIntoView({ block: "nearest" });
}

function take(i) {
  const box = $("message");
  const start = box.selectionStart - typed().length - 1;
  const { label, ref_type: type, uuid } = found[i];
  box.setRangeText(`@[${label.replace(/[[\]\n]/g, " ")}](${type}:${uuid}) `, start, box.selectionStart, "end");
  close();
}

async function look() {
  const word = typed();
  const mine = ++asked;
  if (word === null) return close();
  await new Promise((resolve) => { setTimeout(resolve, 150); });
  if (mine !== asked) return undefined;
  const answer = await call("GET", `/v1/mentions?q=${encodeURIComponent(word)}`).catch(() => ({ items: [] }));
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
  return true;
}

$("message").addEventListener("input", look);
$("message").addEventListener("blur", close);
