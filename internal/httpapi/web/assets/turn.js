// A turn as it is shown: the message, the plan and how far it is, the reply, what may be answered and done with it.

import { dropOptions, dropUndo } from "../../../../client/typescript/src/options.ts";
import { stayAtEnd } from "../../../../client/typescript/src/scroll.ts";
import { $, announce, button, h, icon, iconButton } from "./dom.js";
import { capital, duration, money, when } from "./format.js";
import { thumbs } from "./feedback.js";
import { link, openMore, put, write } from "./text.js";
import { undoing, written } from "./written.js";

const doing = { understand: "Reading your message", think: "Planning", act: "Working", reply: "Writing" };
const ended = { ok: "check", empty: "dash", partial: "dash", failed: "warn", skipped: "dash" };
const mention = /@\[([^\]\n]*)\]\([^()\s]*\)/g;

// plain is a message as people read it: mentions by their names.
/** @param {string} message */
export const plain = (message) => message.replace(mention, "@$1");

// brief is its beginning.
export function brief(message) {
  const text = plain(message);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

// said shows a message with its mentions as such.
function said(message) {
  const parts = [];
  let from = 0;
  for (const match of message.matchAll(mention)) {
    parts.push(message.slice(from, match.index), h("span", { class: "mention" }, `@${match[1]}`));
    from = match.index + match[0].length;
  }
  return h("p", { class: "said", dir: "auto" }, ...parts, message.slice(from));
}

/** @import { Answer, Question, TurnLine, Undo } from "../../../../client/typescript/dist/api" */
/** @import { Named } from "./text.js" */

// What a turn asks of the page: answer(option) answers its question, again() asks anew, retry() asks in its place, edit() puts the message into the box,
// write() goes to where an answer in words is written, inspect() shows how it came about, results() what it read.
/**
 * @param {Pick<TurnLine, "created_at" | "id" | "message" | "number" | "status">} turn
 * @param {{cancel: () => void, undo: () => void, answer: (option: {label: string, answer: Answer}) => void, again: () => void, edit: () => void, write: () => void,
 *   inspect: () => void, results: () => void, retry: () => void}} on
 */
export function turnView(turn, on) {
  const name = `turn ${turn.number}`;
  const activity = h("span", { class: "activity" });
  const trouble = h("p", { class: "trouble", role: "alert", hidden: true });
  const progress = h("div", { class: "progress", hidden: true }, h("span", { class: "spinner", "aria-hidden": "true" }), activity,
    button("Stop", on.cancel, { class: "quiet", "aria-label": `Stop: ${brief(turn.message)}` }));
  const plan = h("ol", { class: "plan", "aria-label": "Plan", hidden: true });
  const reply = h("div", { class: "reply", dir: "auto" });
  const note = h("p", { class: "soft stopped", hidden: true });
  const options = h("div", { class: "options", role: "group", "aria-label": "Answers" });
  const about = h("span", {});
  const wrote = h("div", { class: "written" });
  const ways = h("div", {});
  const feedback = thumbs(turn.id, `The reply of ${name}`);
  const copy = (what, label) => iconButton("copy", label, () => {
    navigator.clipboard?.writeText(what()).then(() => announce("Copied"), () => announce("Copying is not allowed here"));
  });
  const item = h("li", { class: "turn", "data-number": turn.number, "data-id": turn.id }, h("span", { class: "visually-hidden" }, "You said"),
    h("div", { class: "mine" }, said(turn.message), ways, h("div", { class: "doings" }, copy(() => plain(turn.message), `Copy the message of ${name}`),
      iconButton("edit", `Edit the message of ${name}`, on.edit))),
    h("span", { class: "visually-hidden" }, "Alfred"), plan, progress, trouble, reply, note, wrote, options,
    h("div", { class: "about-turn" }, copy(() => text, `Copy the reply of ${name}`), feedback.buttons, iconButton("again", `Try ${name} again`, on.retry),
      button("How it came about", on.inspect, { class: "quiet", "aria-label": `How it came about: ${name}` }),
      h("span", { class: "facts-line" }, h("time", { datetime: turn.created_at }, when(turn.created_at)), about)));

  let text = "";
  let before = "";
  let isCut = false;
  let frame = 0; // pieces come faster than the screen shows them
  let stepping = false; // a step's words say more than its node's
  /** @type {Undo | undefined} */
  let undo;
  /** @type {Named[]} */
  let named = [];
  const over = () => {
    cancelAnimationFrame(frame);
    progress.hidden = true;
    trouble.hidden = true;
    plan.hidden = true;
    reply.classList.remove("streaming");
    item.removeAttribute("aria-busy");
  };
  const stepLine = (step) => plan.querySelector(`[data-step="${Number(step)}"]`);
  const mark = (line, state, symbol) => {
    line.className = state;
    line.firstChild.replaceWith(symbol ? icon(symbol) : h("span", { class: "icon", "aria-hidden": "true" }));
  };
  const finished = () => write(reply, text, () => {
    link(reply, named);
    openMore(reply, on.results);
    if (view.labels.length) dropOptions(reply, view.labels);
    dropUndo(reply, undo);
  });

  const view = {
    item,
    number: turn.number,
    message: turn.message,
    status: turn.status,
    labels: [],
    wrote: false,
    hasWritten: false, // and it can be taken back
    text: () => text,
    working(what) {
      progress.hidden = false;
      item.setAttribute("aria-busy", "true");
      activity.textContent = what;
    },
    node(node) {
      isCut = false;
      trouble.hidden = true;
      if (node === "act" && stepping) return;
      view.working(`${doing[node] ?? "Working"}…`);
      announce(doing[node] ?? "Working");
    },
    connection(cut) {
      if (progress.hidden || cut === isCut) return;
      isCut = cut;
      if (cut) before = activity.textContent;
      activity.textContent = cut ? "The connection was lost; trying again…" : before;
    },
    // idle says that nobody works on it.
    idle(why) {
      trouble.hidden = !why.length || progress.hidden;
      trouble.replaceChildren(...why);
    },
    plan(steps) {
      plan.hidden = false;
      for (const line of plan.querySelectorAll("li.waiting, li.now")) line.remove(); // a new plan takes the place of what is left of the old one
      plan.append(...steps.map((step) => h("li", { class: "waiting", "data-step": step.step },
        h("span", { class: "icon", "aria-hidden": "true" }), h("span", { class: "what" }, step.description || capital(step.step_type)))));
    },
    stepStarted({ step, description }) {
      const line = stepLine(step);
      if (line) mark(line, "now", null);
      stepping = true;
      view.working(plan.hidden || !line ? `${description || "Working"}…` : "Working…");
    },
    stepFinished({ step, outcome, summary }) {
      const line = stepLine(step);
      if (!line) return;
      mark(line, outcome, ended[outcome] ?? "check");
      if (summary) line.querySelector(".what").textContent = summary;
    },
    delta(more) {
      text += more;
      reply.classList.add("streaming");
      activity.textContent = "Writing…";
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => write(reply, text));
    },
    reset() { text = ""; put(reply); },
    reply(whole, aloud = false) {
      text = whole ?? "";
      over();
      finished();
      if (aloud) announce(text);
    },
    // fail ends the turn without a reply. What was said until it was stopped stays.
    fail(why, { aloud = false, stopped = false } = {}) {
      over();
      if (stopped && text) {
        finished();
        note.hidden = false;
        note.textContent = "Stopped here.";
      } else {
        item.classList.add("failed");
        put(reply, h("p", {}, icon(stopped ? "stop" : "warn"), why));
        options.replaceChildren(button("Send again", () => { options.replaceChildren(); on.again(); }));
      }
      if (aloud) announce(why);
    },
    /** @param {Question} question */
    ask(question) {
      const given = question.options ?? [];
      options.replaceChildren(...given.length ? given.map(({ id, label }) => button(label, () => {
        options.replaceChildren();
        on.answer({ label, answer: { question_id: question.id, option_id: id } });
      })) : [button("Answer…", on.write)]);
      view.labels = given.map((o) => o.label);
      if (text) finished();
    },
    // saved says that drafts were saved by hand meanwhile.
    saved(labels) {
      note.hidden = false;
      note.textContent = `You saved ${labels.join(", ")}.`;
    },
    // closeQuestion takes the buttons away; the reply again lists what they offered.
    closeQuestion() {
      options.replaceChildren();
      if (!view.labels.length) return;
      view.labels = [];
      if (text) finished();
    },
    // known makes the names of rows into buttons.
    known(rows) {
      named = rows;
      if (text && progress.hidden) finished();
    },
    // told shows what was done to rows, and what the person thought of the reply.
    told(turn) {
      undo = turn.undo;
      dropUndo(reply, undo);
      view.wrote = Boolean(undo);
      view.hasWritten = undo?.status === "possible";
      wrote.replaceChildren(...written(turn, on.results), ...undoing(turn, name, on.undo));
      feedback.show(turn.feedback);
    },
    /** @param {HTMLElement | null} nav */
    ways(nav) { ways.replaceChildren(...nav ? [nav] : []); },
    // cost says what made the reply, how long it took and what it cost.
    cost({ model, seconds, usd }) {
      about.textContent = [model, seconds && duration(seconds * 1000), money(usd)].filter(Boolean).map((fact) => ` · ${fact}`).join("");
    },
  };
  return view;
}

export const toEnd = stayAtEnd($("scroll"), [$("turns"), $("outbox"), $("empty")], $("newest"));
