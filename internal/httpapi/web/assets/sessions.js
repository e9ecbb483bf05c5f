// The list of conversations: find, rename, archive, delete.

import { call, get } from "./api.js";
import { on } from "./bus.js";
import { confirm, ask } from "./dialog.js";
import { $, button, h, icon } from "./dom.js";
import { when } from "./format.js";
import { guarded, notice } from "./notice.js";
import { marked, search } from "./search.js";
import { declared } from "./types.js";

const pauseBefore = 150; // ms of no typing

/** @import { PageSession, Session, SessionChanges } from "../../../../client/typescript/dist/api" */

/** @type {(s: Session) => string} */
const nameOf = (s) => s.title || "New conversation";

/** @type {Session} */
let shown = null; // the conversation on the page
/** @type {Session[]} */
let items = [];
let archived = false; // whether archived ones are listed
let cursor = "";
let asked = 0;
let drawn = ""; // what the list shows: what has not changed is not drawn anew under somebody's finger

export const listed = () => items;

// list reads the list anew.
export async function list() {
  asked += 1;
  const mine = asked;
  const page = await read("");
  if (mine !== asked) return items;
  items = page;
  draw();
  return items;
}

// add puts a conversation that has just begun at the top of the list.
/** @param {Session} session */
export function add(session) {
  items = [session, ...items];
  draw();
}

async function read(from) {
  const words = $("find-session").value.trim();
  /** @type {PageSession} */
  const page = await get(`/v1/sessions?limit=50&archived=${archived}&cursor=${encodeURIComponent(from)}${words ? `&q=${encodeURIComponent(words)}` : ""}`);
  cursor = page.next_cursor;
  return page.items;
}

// draw shows the list. While a table is open, none of the conversations is the current place.
export function draw() {
  const now = JSON.stringify([items, shown?.id, $("rows").hidden, archived, cursor, $("find-session").value]);
  if (now === drawn) return;
  drawn = now;
  const groups = new Map();
  for (const s of items) {
    const group = groupOf(s);
    groups.set(group, [...(groups.get(group) ?? []), s]);
  }
  $("sessions").replaceChildren(...[...groups].flatMap(([title, sessions]) => [
    h("h2", {}, title), h("ul", {}, sessions.map((s) => h("li", { class: "session" }, line(s), menu(s))))]),
  ...(items.length ? [] : [h("p", { class: "soft" }, $("find-session").value ? `No conversation is called “${$("find-session").value}”.` : archived ? "Nothing is archived." : "No conversations yet.")]),
  ...(cursor ? [button("Show more", () => guarded(more), { class: "quiet" })] : []),
  button(archived ? "Back to the others" : "Archived", () => { archived = !archived; guarded(list); }, { class: "quiet", "aria-pressed": String(archived) }));
  $("sessions").setAttribute("aria-busy", "false");
}

/** @type {(s: Session) => HTMLElement} */
const line = (s) => h("a", { href: `#${s.id}`, "aria-current": $("rows").hidden && s.id === shown?.id ? "page" : null, "data-id": s.id, title: s.forked_at_turn === undefined ? nameOf(s) : `${nameOf(s)}, a version of another conversation` },
  s.forked_at_turn !== undefined && [icon("branch"), h("span", { class: "visually-hidden" }, "A version of another conversation: ")],
  h("span", { class: "name", dir: "auto" }, marked(nameOf(s), $("find-session").value.trim())), h("time", { class: "soft", datetime: s.last_activity_at }, when(s.last_activity_at)));

// doings are what can be done with a conversation.
/** @type {(s: Session) => [string, string, () => Promise<void>][]} */
const doings = (s) => [["edit", "Rename", () => rename(s)], ["pin", s.pinned ? "Unpin" : "Pin", () => patch(s, { pinned: !s.pinned })],
  ["save", "Export as Markdown", () => download(s, "md")], ["save", "Export as JSON", () => download(s, "json")],
  s.archived ? ["archive", "Reopen", () => patch(s, { archived: false })] : ["archive", "Archive", () => archive(s)], ["trash", "Delete", () => remove(s)]];

/** @param {Session} s */
function menu(s) {
  /** @type {any} */
  const details = h("details", { class: "menu" }, h("summary", { class: "icon-button", "aria-label": `More for ${nameOf(s)}`, title: "More" }, icon("more")),
    h("div", { class: "menu-list" }, actions(s, () => { details.open = false; })));
  details.addEventListener("toggle", () => { // over what scrolls, beside its button
    const box = details.getBoundingClientRect();
    Object.assign(details.lastElementChild.style, { position: "fixed", left: `${Math.min(box.left, innerWidth - 220)}px`, right: "auto", top: `${Math.min(box.bottom, innerHeight - 240)}px` });
  });
  details.addEventListener("focusout", (event) => { if (!details.contains(event.relatedTarget)) details.open = false; });
  return details;
}

const actions = (s, close) => doings(s).map(([name, text, run]) =>
  h("button", { type: "button", onclick: () => { close(); guarded(run); } }, icon(name), text));

/** @param {Session} s */
function groupOf(s) {
  if (archived) return "Archived";
  if (s.pinned) return "Pinned";
  const days = (new Date().setHours(24, 0, 0, 0) - new Date(s.last_activity_at).getTime()) / 86400000;
  return days < 1 ? "Today" : days < 2 ? "Yesterday" : days < 8 ? "This week" : "Earlier";
}

async function more() {
  items = [...items, ...await read(cursor)];
  draw();
}

/** @param {Session} s @param {SessionChanges} change */
async function patch(s, change) {
  /** @type {Session} */
  const changed = await guarded(() => call("PATCH", `/v1/sessions/${s.id}`, change));
  if (!changed) return;
  if (shown?.id === s.id) {
    shown = changed;
    head();
  }
  await guarded(list);
}

/** @param {Session} s @param {"md" | "json"} kind */
async function download(s, kind) {
  const { exportSession } = await import("./more.js");
  await exportSession(s, kind);
}

/** @param {Session} s */
async function rename(s) {
  const title = await ask("Rename this conversation", "Title", nameOf(s), "Rename");
  if (title) await patch(s, { title });
}

// reopen takes the conversation that is shown out of the archive.
export const reopen = () => patch(shown, { archived: false });

/** @param {Session} s */
async function archive(s) {
  await patch(s, { archived: true });
  notice("Archived. It is still found under “Archived”.", { action: { text: "Undo", run: () => patch(s, { archived: false }) } });
}

/** @param {Session} s */
async function remove(s) {
  const { id } = s;
  if (!await confirm("Delete this conversation?", "All that was said, and drafts that are not saved, will be gone. Your stored rows stay.", "Delete")) return;
  const done = await guarded(async () => { await call("DELETE", `/v1/sessions/${id}`); return true; });
  if (!done) return;
  await guarded(list);
  if (shown?.id === id) location.hash = items.length ? items[0].id : "new";
}

// head shows the conversation's title and what can be done with it, and says so if its rows are of a declaration that is not run.
export function head() {
  const elsewhere = shown?.domain && shown.domain !== declared();
  $("elsewhere").hidden = !elsewhere;
  $("elsewhere").textContent = elsewhere ? `This conversation is about other tables (${shown.domain}) than those that are here now (${declared()}). What was said stays; its rows and drafts are out of reach.` : "";
  $("session-menu").hidden = !shown;
  $("session-menu").open = false;
  if (!shown) {
    $("title").textContent = "New conversation";
    document.title = "Alfred";
    return;
  }
  $("title").textContent = nameOf(shown);
  document.title = `${nameOf(shown)} · Alfred`;
  $("session-actions").replaceChildren(...actions(shown, () => { $("session-menu").open = false; }));
}

on("session", (session) => {
  shown = session;
  head();
  draw();
});

// A first message gives a conversation its title, every message moves it up.
on("turn", () => guarded(async () => {
  await list();
  const now = items.find((s) => s.id === shown?.id);
  if (now && now.title !== shown.title) {
    shown = now;
    head();
  }
}));

$("find-session").addEventListener("input", async () => {
  asked += 1;
  const mine = asked;
  await new Promise((resolve) => { setTimeout(resolve, pauseBefore); });
  if (mine !== asked) return;
  guarded(list);
  search($("find-session").value.trim());
});
$("find-session").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && items.length) location.hash = items[0].id;
});
