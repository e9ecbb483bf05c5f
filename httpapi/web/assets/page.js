// The chat page: one conversation at a time, its turns, and what the session knows.
// All text from outside enters the document as text, never as markup.

import { ApiError, call, events } from "./api.js";

const $ = (id) => document.getElementById(id);
let session = null;
let running = null; // id of the turn that streams

function element(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

function notice(text) { $("notice").textContent = text; }

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

function askForKey() {
  return new Promise((resolve) => {
    $("key-dialog").addEventListener("close", () => { sessionStorage.setItem("key", $("key").value); resolve(); }, { once: true });
    $("key-dialog").showModal();
  });
}

async function listSessions() {
  const { items } = await call("GET", "/v1/sessions?limit=200");
  $("sessions").replaceChildren(...items.filter((s) => !s.archived).map((s) => {
    const option = element("option", "", s.title || "New conversation");
    option.value = s.id;
    return option;
  }));
  return items;
}

async function openSession(id) {
  session = id;
  history.replaceState(null, "", `#${id}`);
  $("sessions").value = id;
  $("turns").replaceChildren();
  notice("");
  let cursor = "";
  do {
    const page = await call("GET", `/v1/sessions/${id}/turns?limit=200&cursor=${encodeURIComponent(cursor)}`);
    for (const turn of page.items) showTurn(turn);
    cursor = page.next_cursor;
  } while (cursor);
  await showEntities();
  $("message").focus();
}

function showTurn(turn) {
  const view = addTurn(turn.message);
  if (turn.status === "queued" || turn.status === "running") {
    follow(turn.id, view);
  } else if (turn.error) {
    view.fail(turn.error.message);
  } else {
    view.reply(turn.reply);
  }
}

// addTurn puts a message at the end and returns what its answer is written with.
function addTurn(message) {
  const item = element("li", "turn");
  const progress = element("p", "progress");
  const reply = element("p", "reply");
  const options = element("div", "options");
  item.append(element("p", "said", message), progress, reply, options);
  $("turns").append(item);
  item.scrollIntoView({ block: "end" });
  const show = () => item.scrollIntoView({ block: "end" });
  return {
    delta(text) { reply.textContent += text; show(); },
    fail(text) { progress.textContent = ""; reply.className = "reply error"; reply.textContent = text; show(); },
    progress(text) { progress.textContent = text; show(); },
    reply(text) { progress.textContent = ""; reply.textContent = text; show(); },
    reset() { reply.textContent = ""; },
    ask(question) {
      const labels = question.options?.length ? question.options.map((o) => o.label)
        : ["propose", "approve"].includes(question.kind) ? ["Yes", "No"] : [];
      options.replaceChildren(...labels.map((label) => {
        const button = element("button", "", label);
        button.type = "button";
        button.addEventListener("click", () => { options.replaceChildren(); send(label); });
        return button;
      }));
      show();
    },
  };
}

const working = { understand: "Reading your message…", think: "Planning…", act: "Working…", reply: "Writing…" };

async function follow(turnId, view) {
  running = turnId;
  $("cancel").hidden = false;
  try {
    for await (const { type, data } of events(turnId)) {
      switch (type) {
        case "node.started": view.progress(working[data.node] ?? ""); break;
        case "step.started": view.progress(data.description ?? "Working…"); break;
        case "reply.delta": view.progress(""); view.delta(data.text); break;
        case "reply.reset": view.reset(); break;
        case "reply": view.reply(data.text); break;
        case "question": view.ask(data); break;
        case "turn.failed": case "turn.cancelled": view.fail(data.error.message); break;
      }
    }
  } catch (error) {
    view.fail(error instanceof ApiError ? error.message : "The stream was lost.");
  }
  if (running === turnId) {
    running = null;
    $("cancel").hidden = true;
  }
  await guarded(async () => { await showEntities(); await listSessions(); $("sessions").value = session; });
}

async function send(text) {
  const turn = await guarded(() => call("POST", `/v1/sessions/${session}/turns`, { message: text }, { "Idempotency-Key": crypto.randomUUID() }));
  if (!turn) return false;
  notice("");
  const view = addTurn(text);
  if (turn.status === "queued") view.progress("Waiting for the answer before…");
  follow(turn.id, view);
  return true;
}

const tiers = [["generated", "Not yet saved"], ["recent", "Recent"], ["retained", "Kept from earlier"], ["excluded", "Not wanted"], ["background", "Background"]];

async function showEntities() {
  const { items } = await call("GET", `/v1/sessions/${session}/entities`);
  const groups = tiers.map(([tier, title]) => [title, items.filter((e) => e.tier === tier)]).filter(([, list]) => list.length);
  $("entities").replaceChildren(...groups.flatMap(([title, list]) => {
    const ul = element("ul");
    ul.append(...list.map((e) => {
      const li = element("li");
      li.append(element("code", "", e.ref), ` ${e.label} [${e.action}]`);
      if (e.reason) li.append(element("span", "reason", ` ${e.reason}`));
      return li;
    }));
    return [element("h3", "", title), ul];
  }));
  if (!groups.length) $("entities").replaceChildren(element("p", "", "Nothing yet."));
}

async function newSession() {
  const made = await call("POST", "/v1/sessions", {});
  await listSessions();
  await openSession(made.id);
}

$("composer").addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = $("message").value.trim();
  if (text && await send(text)) $("message").value = "";
});
$("message").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    $("composer").requestSubmit();
  }
});
$("cancel").addEventListener("click", () => running && guarded(() => call("POST", `/v1/turns/${running}/cancel`)));
$("new-session").addEventListener("click", () => guarded(newSession));
$("sessions").addEventListener("change", (event) => guarded(() => openSession(event.target.value)));
$("toggle-inspector").addEventListener("click", () => {
  const hidden = $("inspector").toggleAttribute("hidden");
  $("toggle-inspector").setAttribute("aria-expanded", String(!hidden));
});

guarded(async () => {
  const items = await listSessions();
  const wanted = items.find((s) => s.id === location.hash.slice(1)) ?? items.find((s) => !s.archived);
  if (wanted) await openSession(wanted.id);
  else await newSession();
});
