// The chat page: one conversation at a time. Its parts are turns.js, inspector.js and mentions.js.

import { ApiError, call, events } from "./api.js";
import { $, element, notice } from "./dom.js";
import { showEntities, showRows, showTypes } from "./inspector.js";
import { mentionKeys } from "./mentions.js";
import { addTurn } from "./turns.js";

let session = null;
let streams = new AbortController(); // of the conversation shown
let newest = null; // view of the last turn, whose question may still be open
let unsent = null; // {text, key} of a message that may or may not have arrived

// guarded asks for a key when the server wants one, and says what went wrong otherwise.
async function guarded(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      await askForKey();
      return guarded(work);
    }
    notice(error instanceof ApiError ? error.message : "The server does not answer. Your message is still in the box.");
    return undefined;
  }
}

let asking = null;

function askForKey() {
  asking ??= new Promise((resolve) => {
    $("key-dialog").addEventListener("close", () => {
      sessionStorage.setItem("key", $("key").value);
      asking = null;
      resolve();
    }, { once: true });
    $("key-dialog").showModal();
  });
  return asking;
}

async function listSessions() {
  const { items } = await call("GET", "/v1/sessions?limit=200");
  $("sessions").replaceChildren(...items.filter((s) => !s.archived || s.id === session).map((s) => {
    const option = element("option", "", s.title || "New conversation");
    option.value = s.id;
    return option;
  }));
  if (session) $("sessions").value = session;
  return items;
}

async function openSession(id) {
  streams.abort();
  streams = new AbortController();
  const mine = streams;
  session = id;
  newest = null;
  history.replaceState(null, "", `#${id}`);
  $("sessions").value = id;
  $("turns").replaceChildren();
  notice("");
  let cursor = "";
  let turn = null;
  do {
    const page = await call("GET", `/v1/sessions/${id}/turns?limit=200&cursor=${encodeURIComponent(cursor)}`);
    if (mine.signal.aborted) return;
    for (turn of page.items) showTurn(turn);
    cursor = page.next_cursor;
  } while (cursor);
  $("empty").hidden = turn !== null;
  if (turn?.status === "succeeded") await reopenQuestion(turn.id, newest);
  await refresh();
  $("message").focus();
}

async function reopenQuestion(turnId, view) {
  const { question } = await call("GET", `/v1/turns/${turnId}`);
  if (question?.status === "open") view.ask(question);
}

function showTurn(turn) {
  const view = viewOf(turn.id, turn.message);
  if (turn.status === "queued" || turn.status === "running") {
    if (turn.status === "queued") view.progress("Waiting for the answer before…");
    follow(turn.id, view);
  } else if (turn.error) {
    view.fail(turn.error.message);
  } else {
    view.reply(turn.reply);
  }
}

function viewOf(turnId, message) {
  newest?.closeQuestion();
  newest = addTurn(message, { send, cancel: () => guarded(() => call("POST", `/v1/turns/${turnId}/cancel`)) });
  return newest;
}

function show(view, { type, data, lost }) {
  switch (type) {
    case "connection": view.connection(lost); break;
    case "node.started": view.node(data.node); break;
    case "step.started": view.progress(`${data.description || "Working"}…`); break;
    case "step.finished": view.stepDone(data); break;
    case "reply.delta": view.delta(data.text); break;
    case "reply.reset": view.reset(); break;
    case "reply": view.reply(data.text); break;
    case "question": view.ask(data); break;
    case "turn.failed": case "turn.cancelled": view.fail(data.error.message); break;
  }
}

async function follow(turnId, view) {
  const { signal } = streams;
  try {
    for await (const event of events(turnId, signal)) {
      if (signal.aborted) return;
      show(view, event);
    }
  } catch (error) {
    view.fail(error.message);
  }
  if (!signal.aborted) await guarded(async () => { await refresh(); await listSessions(); });
}

const refresh = async () => {
  await showEntities(session, send, refresh);
  if (!$("inspector").hidden) await showRows();
};

// send returns whether the message has arrived. One that may have is sent again under the same key, so that it arrives once.
async function send(text) {
  if (unsent?.text !== text) unsent = { text, key: crypto.randomUUID() };
  const { key } = unsent;
  const turn = await guarded(() => call("POST", `/v1/sessions/${session}/turns`, { message: text }, { "Idempotency-Key": key }));
  if (!turn) return false;
  unsent = null;
  notice("");
  $("empty").hidden = true;
  const view = viewOf(turn.id, text);
  if (turn.status === "queued") view.progress("Waiting for the answer before…");
  follow(turn.id, view);
  return true;
}

async function newSession() {
  const made = await call("POST", "/v1/sessions", {});
  session = made.id;
  await listSessions();
  await openSession(made.id);
}

$("composer").addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = $("message").value.trim();
  const submit = event.target.querySelector("[type=submit]");
  if (!text || submit.disabled) return;
  submit.disabled = true;
  if (await send(text) && $("message").value.trim() === text) $("message").value = "";
  submit.disabled = false;
});
$("message").addEventListener("keydown", (event) => {
  if (mentionKeys(event)) return;
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    $("composer").requestSubmit();
  }
});
$("new-session").addEventListener("click", () => guarded(newSession));
$("sessions").addEventListener("change", (event) => guarded(() => openSession(event.target.value)));
$("types").addEventListener("change", () => guarded(showRows));
$("toggle-inspector").addEventListener("click", () => {
  const hidden = $("inspector").toggleAttribute("hidden");
  $("toggle-inspector").setAttribute("aria-expanded", String(!hidden));
  if (!hidden) guarded(showRows);
});

guarded(async () => {
  const items = await listSessions();
  await showTypes();
  const wanted = items.find((s) => s.id === location.hash.slice(1)) ?? items.find((s) => !s.archived);
  if (wanted) await openSession(wanted.id);
  else await newSession();
});
