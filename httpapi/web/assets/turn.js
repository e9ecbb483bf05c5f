// A turn as it is shown: the message, the plan and how far it is, the reply, what may be answered.

import { $, announce, button, h, icon } from "./dom.js";
import { capital, when } from "./format.js";
import { render } from "./markdown.js";

const doing = { understand: "Reading your message", think: "Planning", act: "Working", reply: "Writing" };
const ended = { ok: "check", empty: "dash", partial: "dash", failed: "warn", skipped: "dash" };
const mention = /@\[([^\]\n]*)\]\([^()\s]*\)/g;

// said shows a message with its mentions as such.
function said(message) {
  const parts = [];
  let from = 0;
  for (const match of message.matchAll(mention)) {
    parts.push(message.slice(from, match.index), h("span", { class: "mention" }, `@${match[1]}`));
    from = match.index + match[0].length;
  }
  return h("p", { class: "said" }, ...parts, message.slice(from));
}

/** @import { Question, TurnLine } from "../../../client/api" */

// turnView draws one turn. cancel() ends it, say(text) answers a question or tries again, write() goes to where an answer
// in words is written, inspect() shows how the turn came about.
/**
 * @param {Pick<TurnLine, "created_at" | "id" | "message" | "number" | "status">} turn
 * @param {{cancel: () => void, say: (text: string) => void, write: () => void, inspect: () => void}} on
 */
export function turnView(turn, { cancel, say, write, inspect }) {
  const activity = h("span", { class: "activity" });
  const progress = h("div", { class: "progress", hidden: true }, h("span", { class: "spinner", "aria-hidden": "true" }), activity,
    button("Cancel", cancel, { class: "quiet", "aria-label": `Cancel: ${turn.message.slice(0, 60)}` }));
  const plan = h("ol", { class: "plan", "aria-label": "Plan", hidden: true });
  const reply = h("div", { class: "reply" });
  const options = h("div", { class: "options", role: "group", "aria-label": "Answers" });
  const time = h("time", { datetime: turn.created_at }, when(turn.created_at));
  const item = h("li", { class: "turn", "data-number": turn.number }, h("span", { class: "visually-hidden" }, "You said"), said(turn.message),
    h("span", { class: "visually-hidden" }, "Alfred"), plan, progress, reply, options,
    h("p", { class: "about-turn" }, time, button("How it came about", inspect, { class: "quiet", "aria-label": `How turn ${turn.number} came about` })));

  let text = "";
  let before = "";
  let stepping = false; // a step's words say more than its node's
  const say1 = (label) => { options.replaceChildren(); say(label); };
  const over = () => {
    progress.hidden = true;
    plan.hidden = true;
    reply.classList.remove("streaming");
    item.removeAttribute("aria-busy");
  };
  const stepLine = (step) => plan.querySelector(`[data-step="${Number(step)}"]`);
  const mark = (line, state, name) => {
    line.className = state;
    line.firstChild.replaceWith(name ? icon(name) : h("span", { class: "icon", "aria-hidden": "true" }));
  };

  const view = {
    item,
    number: turn.number,
    message: turn.message,
    status: turn.status,
    working(what) {
      progress.hidden = false;
      item.setAttribute("aria-busy", "true");
      activity.textContent = what;
    },
    node(node) {
      if (node === "act" && stepping) return;
      view.working(`${doing[node] ?? "Working"}…`);
      announce(doing[node] ?? "Working");
    },
    connection(cut) {
      if (progress.hidden) return;
      if (cut) before = activity.textContent;
      activity.textContent = cut ? "The connection was lost; trying again…" : before;
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
      reply.replaceChildren(...render(text));
      activity.textContent = "Writing…";
    },
    reset() { text = ""; reply.replaceChildren(); },
    reply(whole, aloud = false) {
      text = whole ?? "";
      over();
      reply.replaceChildren(...render(text));
      if (aloud) announce(text);
    },
    fail(why, aloud = false) {
      over();
      item.classList.add("failed");
      reply.replaceChildren(h("p", {}, icon("warn"), why));
      options.replaceChildren(button("Send again", () => say1(turn.message)));
      if (aloud) announce(why);
    },
    /** @param {Pick<Question, "kind" | "options">} question */
    ask(question) {
      const labels = question.options?.length ? question.options.map((o) => o.label)
        : ["propose", "approve"].includes(question.kind) ? ["Yes", "No"] : [];
      options.replaceChildren(...labels.length ? labels.map((label) => button(label, () => say1(label))) : [button("Answer…", write)]);
    },
    closeQuestion() { options.replaceChildren(); },
  };
  return view;
}

// The end stays in view, whatever grows or shrinks, unless the reader has scrolled up.
const list = $("scroll");
let atEnd = true;
const follow = () => { if (atEnd) list.scrollTop = list.scrollHeight; };
list.addEventListener("scroll", () => { atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 80; });
const sizes = new ResizeObserver(follow);
sizes.observe(list);
sizes.observe($("turns"));

export function toEnd() {
  atEnd = true;
  follow();
}
