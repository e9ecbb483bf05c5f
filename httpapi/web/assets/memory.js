// What is remembered beside rows: what the user asked to hold, what was kept or put away and why, and each turn in short.

import { whole } from "./api.js";
import { h } from "./dom.js";
import { capital, when, words } from "./format.js";

/** @import { Constraint, Decision, Session, Summary } from "../../../client/api" */

/** @param {Session} session */
export async function showMemory(session) {
  const of = `/v1/sessions/${session.id}`;
  /** @type {[Constraint[], Decision[], Summary[]]} */
  const [constraints, decisions, summaries] = await Promise.all([whole(`${of}/constraints`), whole(`${of}/decisions`), whole(`${of}/summaries`)]);
  return [
    ...section("To hold", constraints, "Nothing was asked to hold, such as “no cod this week”.", (c) => h("li", { class: c.in_force ? "" : "over" },
      h("p", {}, c.text), h("p", { class: "soft" }, [words(c.kind), c.scope === "lasting" ? "lasting" : "this conversation", c.source_turn && `since turn ${c.source_turn}`,
        c.in_force ? c.expires_at && `until ${when(c.expires_at)}` : "over"].filter(Boolean).join(" · ")))),
    ...section("Decisions", [...decisions].reverse(), "Nothing was kept or put away yet.", (d) => h("li", {},
      h("p", {}, h("strong", {}, capital(words(d.action))), " ", d.ref && h("code", {}, d.ref), d.reason && ` ${d.reason}`),
      h("p", { class: "soft" }, `turn ${d.turn_number} · by ${d.actor === "user" ? "you" : d.actor === "assistant" ? "Alfred" : "the clock"}`))),
    ...section("Turns in short", [...summaries].reverse(), "No turn is summarized yet.", (s) => h("li", {},
      h("p", {}, h("strong", {}, `Turn ${s.turn_number}`), " ", h("span", { class: "soft" }, [s.conversation_phase, s.tone].filter(Boolean).join(", "))),
      h("p", {}, s.response_summary), s.natural_next && h("p", { class: "soft" }, `Next: ${s.natural_next}`),
      h("p", { class: "soft" }, s.model === "none" ? "written without a model" : `by ${s.model}`))),
  ];
}

const section = (title, items, none, line) => [h("h3", {}, title, items.length > 0 && h("span", { class: "count" }, items.length)),
  items.length ? h("ul", { class: "memory" }, items.map(line)) : h("p", { class: "soft" }, none)];
