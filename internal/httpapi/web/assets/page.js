// The page: it opens what the address names, and brings its parts together. What the first screen does without is imported where
// it is asked for.

import { call, get } from "./api.js";
import { on } from "./bus.js";
import { carry, editing, giveBack, onRecall, openComposer, prefill, sendEarly, typedText } from "./composer.js";
import { blank, current, end, instead, newest, open } from "./conversation.js";
import { $, button, focusMessage, h } from "./dom.js";
import { look } from "./drafts.js";
import "./inspector.js";
import { clearNotices, guarded, notice } from "./notice.js";
import { closeOutbox, explain, fresh as unsent, openOutbox, post, takeAll } from "./outbox.js";
import "./registry.js";
import { add, draw, head, list, listed, reopen } from "./sessions.js";
import { closeDrawers, startShell } from "./shell.js";
import "./shortcuts.js";
import { loadTypes, markType, typeOf, types } from "./types.js";

let orphan = ""; // what was typed in a conversation that is gone, until it has found a place

// refused is what becomes of a text that was not sent.
function refused(text, error) {
  giveBack(text);
  explain(error, reopen);
}

async function show(session) {
  if (current() && current().id !== session?.id) clearNotices();
  $("gone").hidden = true;
  $("composer").hidden = false;
  openComposer(session?.id ?? unsent, post);
  openOutbox(session?.id ?? unsent, refused, begin);
  if (orphan) notice("What you typed in the deleted conversation is kept.", { action: { text: "Put it here", run: adopt } });
  if (session) await open(session, () => gone(session.id));
  else blank();
}

// tellZone has the server name rows by the times that this page shows.
async function tellZone() {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  await call("PATCH", "/v1/user", { timezone: timeZone }).catch((error) => { if (error.status !== 400) throw error; }); // a zone that the server does not know
}

// begin makes the conversation that a first message waits for, in the time zone of its user.
async function begin() {
  await tellZone();
  /** @type {import("../../../../client/typescript/dist/api").Session} */
  const session = await call("POST", "/v1/sessions", {});
  add(session);
  return session.id;
}

function adopt() {
  giveBack(orphan);
  orphan = "";
  focusMessage();
}

// gone: the conversation was deleted elsewhere. What was typed is taken into a new one.
function gone(id) {
  if (current()?.id !== id) return;
  const text = [takeAll(), typedText()].filter(Boolean).join("\n\n");
  orphan = text;
  closeOutbox();
  end();
  $("title").textContent = "Deleted conversation";
  $("composer").hidden = true;
  $("gone").hidden = false;
  $("gone").replaceChildren(h("p", {}, h("strong", {}, "This conversation was deleted"), " in another tab or by another program."),
    ...(text ? [h("p", {}, "What you typed is kept:"), h("blockquote", {}, text)] : []),
    button("Start a new conversation", () => guarded(async () => {
      orphan = "";
      await fresh();
      prefill(text);
    }), { class: "primary" }));
  guarded(list);
}

// fresh shows the place of a conversation that begins with its first message.
async function fresh() {
  history.replaceState(null, "", "#new");
  await route();
}

async function go(session) {
  history.replaceState(null, "", `#${session.id}`);
  await route();
}

// route shows what the address names: #<conversation>, #rows/<type>, #new.
async function route() {
  const name = decodeURIComponent(location.hash.slice(1));
  const type = name.startsWith("rows/") ? typeOf(name.slice(5)) : null;
  closeDrawers();
  $("chat").hidden = Boolean(type);
  $("rows").hidden = !type;
  markType(type);
  draw();
  if (type) return (await import("./more.js")).showRows(type);
  const session = name === "new" ? null : name === current()?.id ? current() : await find(name);
  if (!session && name !== "new" && listed().length) await go(listed()[0]);
  else if (session && session === current()) head();
  else await show(session);
  if (!session && name && name !== "new") notice("The address names nothing that is here, or no longer.");
  return focusMessage();
}

async function find(id) {
  return listed().find((s) => s.id === id) ?? (id ? get(`/v1/sessions/${encodeURIComponent(id)}`).catch(() => null) : null);
}

// empty invites to a first message, in the words of the domain.
function empty() {
  const ideas = types().filter((t) => !t.reference && !t.singleton).slice(0, 3).map((t) => `Show my ${t.plural}`);
  $("empty").replaceChildren(h("h2", {}, "What can I do for you?"),
    h("p", {}, "Ask about what is stored, or ask for something new."),
    h("div", { class: "options" }, ideas.map((idea) => button(idea, () => post(idea)))));
}

onRecall(() => newest()?.message ?? "");
on("say", ({ text, answer }) => post(text, answer));
on("edit", ({ message, number }) => editing(message, (text) => instead(number, text)));
on("began", (id) => guarded(() => {
  carry(unsent, id);
  return go({ id });
}));
on("open", (entity) => guarded(async () => {
  if (entity.state === "pending") return look(entity);
  const { openRow } = await import("./more.js");
  return openRow(typeOf(entity.type), entity.key, () => {}, entity.label);
}));
$("new-session").addEventListener("click", () => guarded(fresh));
window.addEventListener("hashchange", () => guarded(route));

focusMessage(); // what is typed from now on is for the conversation that opens
guarded(async () => {
  await Promise.all([list(), loadTypes()]);
  await tellZone().catch(() => {}); // when a conversation begins, it is told again
  empty();
  if (location.hash.startsWith("#rows/") && listed().length) await show(listed()[0]); // what is changed there, a conversation learns of
  await route();
  sendEarly();
  startShell();
});
