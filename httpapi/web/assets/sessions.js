// The list of conversations: find, rename, archive, delete.

import { call, get } from "./api.js";
import { on } from "./bus.js";
import { confirm, ask } from "./dialog.js";
import { $, button, h, icon } from "./dom.js";
import { when } from "./format.js";
import { guarded, notice } from "./notice.js";

const pauseBefore = 150; // ms of no typing

/** @import { PageSession, Session, SessionChanges } from "../../../client/api" */

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

function draw() {
  const now = JSON.stringify([items, shown?.id, archived, cursor]);
  if (now === drawn) return;
  drawn = now;
  const groups = new Map();
  for (const s of items) {
    const group = groupOf(s);
    groups.set(group, [...(groups.get(group) ?? []), s]);
  }
  $("sessions").replaceChildren(...[...groups].flatMap(([title, sessions]) => [
    h("h3", {}, title), h("ul", {}, sessions.map((s) => h("li", {}, line(s))))]),
  ...(items.length ? [] : [h("p", { class: "soft" }, $("find-session").value ? "Nothing found." : archived ? "Nothing is archived." : "No conversations yet.")]),
  ...(cursor ? [button("Show more", () => guarded(more), { class: "quiet" })] : []),
  button(archived ? "Back to the others" : "Archived", () => { archived = !archived; guarded(list); }, { class: "quiet", "aria-pressed": String(archived) }));
  $("sessions").setAttribute("aria-busy", "false");
}

/** @type {(s: Session) => HTMLElement} */
const line = (s) => h("a", { href: `#${s.id}`, "aria-current": s.id === shown?.id ? "page" : null, "data-id": s.id, title: nameOf(s) },
  h("span", { class: "name" }, nameOf(s)), h("time", { class: "soft", datetime: s.last_activity_at }, when(s.last_activity_at)));

/** @param {Session} s */
function groupOf(s) {
  if (archived) return "Archived";
  const days = (new Date().setHours(24, 0, 0, 0) - new Date(s.last_activity_at).getTime()) / 86400000;
  return days < 1 ? "Today" : days < 2 ? "Yesterday" : days < 8 ? "This week" : "Earlier";
}

async function more() {
  items = [...items, ...await read(cursor)];
  draw();
}

/** @param {SessionChanges} change */
async function patch(change) {
  /** @type {Session} */
  const changed = await guarded(() => call("PATCH", `/v1/sessions/${shown.id}`, change));
  if (!changed) return;
  shown = changed;
  head();
  await guarded(list);
}

async function rename() {
  const title = await ask("Rename this conversation", "Title", nameOf(shown), "Rename");
  if (title) await patch({ title });
}

// reopen takes the conversation out of the archive.
export const reopen = () => patch({ archived: false });

async function archive() {
  await patch({ archived: true });
  if (shown.archived) notice("Archived. It is still found under “Archived”.", { action: { text: "Undo", run: reopen } });
}

async function remove() {
  const { id } = shown;
  if (!await confirm("Delete this conversation?", "All that was said, and drafts that are not saved, will be gone. Your stored rows stay.", "Delete")) return;
  const done = await guarded(async () => { await call("DELETE", `/v1/sessions/${id}`); return true; });
  if (!done) return;
  await guarded(list);
  location.hash = items.length ? items[0].id : "new";
}

// head shows the conversation's title and what can be done with it.
export function head() {
  $("session-menu").hidden = !shown;
  $("session-menu").open = false;
  if (!shown) return;
  $("title").textContent = nameOf(shown);
  document.title = `${nameOf(shown)} · Alfred`;
  const action = (name, text, run) => h("button", { type: "button", onclick: () => { $("session-menu").open = false; guarded(run); } }, icon(name), text);
  $("session-actions").replaceChildren(action("edit", "Rename", rename),
    shown.archived ? action("archive", "Reopen", reopen) : action("archive", "Archive", archive), action("trash", "Delete", remove));
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
  if (mine === asked) guarded(list);
});
$("find-session").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && items.length) location.hash = items[0].id;
});
