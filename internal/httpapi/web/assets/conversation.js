// The conversation shown: its turns, and what happens in them.

import { ApiError, get, whole, call } from "./api.js";
import { emit, on } from "./bus.js";
import { $, focusMessage, h } from "./dom.js";
import { guarded, notice } from "./notice.js";
import { events } from "./stream.js";
import { prepare } from "./text.js";
import { toEnd, turnView } from "./turn.js";
import { isPart } from "./types.js";

/** @import { Answer, EnqueuedTurn, Session, Turn, TurnLine } from "../../../../client/typescript/dist/api" */
/** @typedef {ReturnType<typeof turnView>} View */

const last = 2147483647; // after all of a turn's events
const patience = 3000; // ms without a sign; then it is asked whether anybody works

/** @type {Session | null} */
let session = null;
/** @type {Map<string, View>} */
let views = new Map(); // by turn id
let following = new AbortController();
let heardAt = 0;
/** @type {import("./text.js").Named[]} */
let named = []; // rows that replies may name

export const current = () => session;

// running says whether a turn of this status is still to end.
export const running = (status) => status === "queued" || status === "running";
const busy = () => [...views.values()].some((view) => running(view.status));

// open shows a conversation. gone() is called when it is deleted meanwhile.
/** @param {Session} found @param {() => void} gone */
export async function open(found, gone) {
  close();
  session = found;
  const { signal } = following;
  emit("session", found);
  /** @type {TurnLine[]} */
  const told = found.last_turn ? await whole(`/v1/sessions/${found.id}/turns`) : [];
  if (signal.aborted) return;
  for (const turn of told) add(turn);
  $("empty").hidden = told.length > 0;
  $("turns").setAttribute("aria-busy", "false");
  toEnd();
  emit("loaded");
  follow(found.id, after(told), signal, gone);
  if (told.length || isFork(found)) guarded(() => showWays(found, signal));
  const newest = told.at(-1);
  if (newest?.status === "succeeded") await guarded(() => reopenQuestion(newest.id));
}

// end leaves what was said where it is: the conversation was deleted, and nothing more is asked of it.
export function end() {
  following.abort();
  session = null;
  emit("session", null);
}

// blank shows the place of a conversation that begins with its first message.
export function blank() {
  close();
  $("empty").hidden = false;
  $("turns").setAttribute("aria-busy", "false");
  emit("session", null);
  emit("loaded");
}

export function close() {
  following.abort();
  following = new AbortController();
  session = null;
  named = [];
  views = new Map();
  emit("busy", false);
  $("turns").replaceChildren();
  $("turns").setAttribute("aria-busy", "true");
  $("empty").hidden = true;
}

// after is where the stream is taken up: at the beginning of the turn that runs, else behind the last that ended.
/** @param {TurnLine[]} list */
function after(list) {
  const now = list.find((t) => t.status === "running");
  if (now) return `${now.number}.0`;
  const done = list.findLast((t) => !running(t.status));
  return done ? `${done.number}.${last}` : "";
}

async function reopenQuestion(id) {
  /** @type {Turn} */
  const { question } = await get(`/v1/turns/${id}`);
  if (question?.status === "open") views.get(id)?.ask(question);
}

// instead says something in place of a turn, and answers whether it was said.
/** @param {number} number @param {string} text */
export async function instead(number, text) {
  const since = [...views].filter(([, view]) => view.number >= number && view.hasWritten).sort(([, a], [, b]) => b.number - a.number);
  /** @type {Turn[]} */
  const turns = await Promise.all(since.map(([id]) => get(`/v1/turns/${id}`)));
  const { fork } = await import("./more.js");
  return fork(session, number, text, turns.filter((turn) => turn.undo?.status === "possible" && !turn.undoes));
}

// isFork says whether a conversation began as another one stood.
/** @param {Session} s */
export const isFork = (s) => s.forked_at_turn !== undefined;

// showWays shows where the conversation went other ways too, and where it left the one that it began as.
/** @param {Session} shown @param {AbortSignal} signal */
async function showWays(shown, signal) {
  const { branchesOf, origin, waysAt, among } = await import("./more.js");
  const all = await branchesOf(shown.id);
  const began = isFork(shown) ? await origin(shown, all) : null;
  if (signal.aborted) return;
  for (const view of views.values()) {
    const { ways, now } = waysAt(all, shown.id, view.number);
    view.ways(among(ways, now, view.number));
  }
  if (!began) return;
  const first = /** @type {HTMLElement} */ ($("turns").firstElementChild);
  $("turns").insertBefore(began, [...$("turns").children].find((item) => Number(item.dataset.number) > shown.forked_at_turn) ?? null);
  if (shown.parent_id && Number(first?.dataset.number) > 1) first.before(h("li", { class: "soft" }, h("a", { href: `#${shown.parent_id}` }, `Turns 1 to ${Number(first.dataset.number) - 1} are in the conversation that this one began as.`)));
}

// add draws a turn in its place and returns its view.
/** @param {Pick<TurnLine, "created_at" | "id" | "message" | "number" | "status"> & {error?: TurnLine["error"] | null, reply?: string | null}} turn */
export function add(turn) {
  if (views.has(turn.id)) return views.get(turn.id);
  const view = turnView(turn, {
    answer: ({ label, answer }) => emit("say", { text: label, answer }),
    again: () => emit("say", { text: turn.message }),
    retry: () => guarded(() => instead(turn.number, turn.message)),
    edit: () => emit("edit", { message: turn.message, number: turn.number }),
    write: () => $("message").focus(),
    inspect: () => emit("inspect", { id: turn.id, number: turn.number }),
    results: () => guarded(async () => (await import("./more.js")).openResults(turn.id)),
    cancel: () => guarded(() => cancel(turn.id)),
    undo: () => guarded(() => undo(turn.id)),
  });
  for (const other of views.values()) other.closeQuestion();
  views.set(turn.id, view);
  view.known(named);
  const next = [...$("turns").children].find((item) => Number(item.dataset.number) > turn.number);
  $("turns").insertBefore(view.item, next ?? null);
  $("empty").hidden = true;
  if (turn.status === "queued") view.working("Waiting for the answer before…");
  else if (turn.status === "running") view.working("Starting…");
  else ended(view, turn);
  if (running(turn.status)) attend();
  return view;
}

/** @param {View} view @param {{status: string, error?: TurnLine["error"] | null, reply?: string | null, said?: string | null}} turn */
function ended(view, turn) {
  view.reply(turn.said ?? turn.reply);
  if (turn.error) view.fail(turn.error.message, { stopped: turn.status === "cancelled" });
  spell(view, turn);
}

// spell says at a reply what made it. A turn that ended here is asked for once.
function spell(view, turn) {
  const seconds = turn.replied_at ? (new Date(turn.replied_at).getTime() - new Date(turn.created_at).getTime()) / 1000 : 0;
  view.told(turn);
  view.cost({ model: turn.model, seconds, usd: turn.cost_usd ?? turn.usage?.cost_usd });
}

// attend looks whether anybody works as long as a turn waits without a sign.
let attending = 0;
function attend() {
  prepare();
  heardAt = Date.now();
  emit("busy", true);
  clearInterval(attending);
  attending = setInterval(async () => {
    if (!busy()) clearInterval(attending);
    if (!busy() || Date.now() - heardAt < patience) return;
    const answer = await fetch("/readyz", { cache: "no-store" }).then((r) => r.ok ? r.text() : "ok", () => "ok");
    const why = answer.startsWith("ok") ? [] : ["No worker is answering. Start one with ", h("code", {}, "worker run"), " (", h("code", {}, "make run"), " starts all there is). Your message is kept and answered then."];
    for (const view of views.values()) if (running(view.status)) view.idle(why.map((part) => typeof part === "string" ? part : part.cloneNode(true)));
  }, 1000);
}

on("stop", () => {
  const now = [...views].find(([, view]) => view.status === "running") ?? [...views].find(([, view]) => view.status === "queued");
  if (now) guarded(() => cancel(now[0]));
});

// newest is what was said last.
export const newest = () => [...views.values()].reduce((a, b) => !a || b.number > a.number ? b : a, null);

// What was saved by hand is said where it was offered, and is no longer a question.
function saved(labels) {
  const view = newest();
  if (!view || running(view.status)) return;
  view.closeQuestion();
  view.saved(labels);
}
on("saved", saved);

on("registry", ({ items, current_turn: turn }) => {
  const view = newest();
  const byHand = items.filter((e) => e.ref.startsWith("gen_") && e.action === "created:user" && e.turn_last_ref > turn).map((e) => e.label);
  if (view && byHand.length) saved(byHand);
  named = items.filter((e) => (e.key || e.state === "pending") && !isPart(e.type)).map((e) => ({ label: e.label, open: () => emit("open", e) }));
  for (const view of views.values()) view.known(named);
});

// turns are {id, number, status, message}, oldest first.
export const turns = () => [...views].map(([id, view]) => ({ id, number: view.number, status: view.status, message: view.message }))
  .sort((a, b) => a.number - b.number);

// cancel ends a turn. The stream tells of it in its place, which for one that waits is behind the one that runs.
async function cancel(id) {
  focusMessage(); // the button that was clicked goes away
  await call("POST", `/v1/turns/${id}/cancel`);
  /** @type {Turn} */
  const turn = await get(`/v1/turns/${id}`);
  const view = views.get(id);
  if (!view || !turn.error || !running(view.status)) return;
  view.fail(turn.error.message, { aloud: true, stopped: turn.status === "cancelled" });
  finish(view, { turn_id: id, number: turn.number }, turn.status);
}

// undo takes back what a turn wrote, in a turn of its own; what that did to others shows once it has ended.
async function undo(id) {
  /** @type {EnqueuedTurn} */
  const made = await call("POST", `/v1/turns/${id}/undo`);
  if (!session) return;
  add(await get(`/v1/turns/${made.id}`));
  emit("turn", made);
  toEnd();
}

async function follow(id, from, signal, gone) {
  try {
    for await (const event of events(id, from, signal, busy)) {
      if (signal.aborted) return;
      if (event.data) await told(event, signal);
      else for (const view of views.values()) view.connection(event.type === "cut");
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (!signal.aborted) notice(error.message, { bad: true });
    return;
  }
  if (!signal.aborted) gone();
}

// told shows an event. A turn that another tab has sent is new here.
/** @param {{type?: string, data?: any}} event @param {AbortSignal} signal */
async function told({ type, data }, signal) {
  if (!views.has(data.turn_id)) {
    /** @type {Turn} */
    const turn = await guarded(() => get(`/v1/turns/${data.turn_id}`));
    if (signal.aborted || !turn) return;
    add({ ...turn, status: "running", reply: "", error: null });
    emit("turn", turn);
  }
  const view = views.get(data.turn_id);
  heardAt = Date.now();
  view.idle([]);
  if (running(view.status)) show(view, type, data);
}

/** @type {Record<string, (view: View, data: any) => void>} */
const shows = {
  "turn.started": (view) => { view.status = "running"; view.working("Starting…"); },
  "node.started": (view, data) => view.node(data.node),
  "node.waiting": (view) => view.working("The model takes its time; you can stop it…"),
  plan: (view, data) => view.plan(data.steps ?? []),
  "step.started": (view, data) => view.stepStarted(data),
  "step.finished": (view, data) => view.stepFinished(data),
  entities: () => emit("stale"),
  "reply.delta": (view, data) => view.delta(data.text),
  "reply.reset": (view) => view.reset(),
  reply: (view, data) => view.reply(data.text, true),
  question: (view, data) => view.ask(data),
  "turn.finished": (view, data) => finish(view, data, "succeeded"),
  "turn.failed": (view, data) => { view.fail(data.error.message, { aloud: true }); finish(view, data, "failed"); },
  "turn.cancelled": (view, data) => { view.fail(data.error.message, { aloud: true, stopped: true }); finish(view, data, "cancelled"); },
};

function show(view, type, data) { shows[type]?.(view, data); }

function finish(view, data, status) {
  view.status = status;
  emit("busy", busy());
  emit("turn", { id: data.turn_id, number: data.number, status });
  emit("stale");
  guarded(async () => {
    const turn = await get(`/v1/turns/${data.turn_id}`);
    spell(view, turn);
    if (!turn.undo || !turn.steps.some(undoes)) return;
    for (const [id, other] of views) if (other !== view && other.wrote) spell(other, await get(`/v1/turns/${id}`));
  });
}

// undoes says whether a step takes back what turns wrote: it is about no rows of its own.
const undoes = (step) => step.step_type === "write" && step.subdomain === "general";

// deliver sends a message under a key, so that one sent twice arrives once. answer is the option of a question that it is.
/** @param {string} id @param {string} text @param {string} key @param {Answer} [answer] */
export async function deliver(id, text, key, answer) {
  /** @type {EnqueuedTurn} */
  const turn = await call("POST", `/v1/sessions/${id}/turns`, { message: text, answer }, { "Idempotency-Key": key });
  if (session?.id !== id) return;
  add(running(turn.status) ? { ...turn, message: text, created_at: new Date().toISOString() } : await get(`/v1/turns/${turn.id}`));
  emit("turn", turn);
  toEnd();
}
