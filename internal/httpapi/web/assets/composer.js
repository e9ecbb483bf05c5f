// The message box. What is typed is kept per conversation, over reloads too, until it is sent.

import { emit, on } from "./bus.js";
import { $ } from "./dom.js";
import { mentionKeys, mentioned, setMentioned, withTokens } from "./mentions.js";
import { guarded } from "./notice.js";
import { forget, recall, remember } from "./store.js";

const limit = 32 * 1024; // bytes, as the server counts
const sayFrom = 0.9 * limit;

const box = $("message");
let session = null;
/** @type {(text: string) => void} */
let send = null; // until it is known which conversation this is
let early = false; // Enter was pressed before that
let newestMessage = () => "";

// onRecall is asked for the message to take up again, with the arrow up in an empty box.
export function onRecall(newest) { newestMessage = newest; }

// openComposer shows what was being typed in a conversation. take(text) gets each message.
export function openComposer(id, take) {
  const typed = send ? "" : box.value; // while the page was being opened
  session = id;
  stopEditing();
  send = take;
  const kept = recall(`draft:${id}`);
  box.value = [kept?.text, typed].filter(Boolean).join("\n\n");
  setMentioned(kept?.mentioned ?? []);
  changed();
}

// carry takes what is being typed for one conversation to another.
export function carry(from, to) {
  const kept = recall(`draft:${from}`);
  if (kept) remember(`draft:${to}`, kept);
  forget(`draft:${from}`);
}

// giveBack puts a text that was not sent into the box, before what stands there.
export function giveBack(text) {
  if (!text) return;
  box.value = [text, box.value].filter(Boolean).join("\n\n");
  changed();
}

export const typedText = () => withTokens(box.value.trim());

/** @type {((text: string) => Promise<boolean>) | null} */
let otherwise = null; // takes what is sent in place of an earlier message

// editing puts a message into the box to be said otherwise; what stood there comes after it. say(text) gets it then, in place of
// whoever takes new messages, and answers whether it was said.
/** @param {string} message @param {(text: string) => Promise<boolean>} [say] */
export function editing(message, say = null) {
  otherwise = say;
  $("editing").hidden = !say;
  const tokens = [...message.matchAll(/@\[([^\]\n]*)\]\(([^()\s]*)\)/g)].map(([token, label]) => ({ label, token }));
  box.value = [tokens.reduce((text, { label, token }) => text.replaceAll(token, `@${label}`), message), box.value].filter(Boolean).join("\n\n");
  setMentioned([...tokens, ...mentioned()]);
  changed();
  box.focus();
}

// prefill begins a message for the person to finish.
export function prefill(text) {
  if (box.value.trim() === "") box.value = text;
  changed();
  box.focus();
  box.setSelectionRange(box.value.length, box.value.length);
}

// sendEarly sends what was to be sent before there was anything to send it to.
export function sendEarly() {
  if (early) $("composer").requestSubmit();
}

function changed() {
  if (!session) { /* it is kept once it is known for which conversation */ } else if (box.value === "") forget(`draft:${session}`);
  else remember(`draft:${session}`, { text: box.value, mentioned: mentioned() });
  const size = new TextEncoder().encode(typedText()).length;
  const over = size > limit;
  $("message-size").textContent = over ? `Too long by ${((size - limit) / 1024).toFixed(1)} KiB: a message has at most 32 KiB.`
    : size > sayFrom ? `${((limit - size) / 1024).toFixed(1)} KiB left` : "";
  $("message-size").className = over ? "bad" : "";
  box.setAttribute("aria-invalid", String(over));
  $("send").disabled = over || box.value.trim() === "";
  $("send").hidden = !$("stop").hidden && box.value.trim() === "";
  resize();
}

// resize grows the box with its text where the browser does not.
function resize() {
  if (CSS.supports("field-sizing", "content")) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}

$("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = typedText();
  if (!text || $("send").disabled) return;
  early = !send;
  if (early) return;
  const say = otherwise;
  stopEditing();
  box.value = "";
  setMentioned([]);
  changed();
  if (say) guarded(() => say(text)).then((said) => { if (!said) editing(text, say); });
  else send(text);
});

function stopEditing() {
  otherwise = null;
  $("editing").hidden = true;
}
$("stop-editing").addEventListener("click", () => {
  stopEditing();
  box.value = "";
  setMentioned([]);
  changed();
  box.focus();
});
box.addEventListener("input", changed);

// While a turn runs its stop stands where a message is sent from; what is typed meanwhile can still be sent.
on("busy", (busy) => {
  $("stop").hidden = !busy;
  changed();
});
$("stop").addEventListener("click", () => emit("stop"));
box.addEventListener("keydown", (event) => {
  if (mentionKeys(event)) return;
  if (event.key === "ArrowUp" && box.value === "") {
    const before = newestMessage();
    if (before) { event.preventDefault(); editing(before); }
    return;
  }
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    $("composer").requestSubmit();
  }
});
