// What is remembered beside rows: what the user asked to hold, what was kept or put away and why, and each turn in short.

import { whole } from "./api.js";
import { h } from "./dom.js";
import { capital, when, words } from "./format.js";

/** @import { Constraint, Decision, Session, Summary } from "../../../../client/typescript/dist/api" */

/** @param {Session} session */
export async function showMemory(session) {
  const of = `/v1/sessions/${session.id}`;
  /** @type {[Constraint[], Decision[], Summary[]]} */
  const [constraints, decisions, summaries] = await Promise.all([whole(`${of}/constraints`), whole(`${of}/decisions`), whole(`${of}/summaries`)]);
  return [
    ...section("To hold", constraints, "Nothing was asked to hold, such as “no cod this week”.", (c) => h("li", { class: c.in_force ? "" : "over" },
      h("p", {}, c.text), h("p", { class: "soft" }, [words(c.kind), c.scope === "lasting" ? "lasting" : "this conversation", c.source_turn && `since turn ${c.source_turn}`,
        c.in_force ? c.expires_at && `until ${when(c.expires_at)}` : "over"].filter(Boolean).join(" · ")))),
    ...section("Decisions", grouped(decisions), "Nothing was kept or put away yet.", (d) => h("li", {},
      h("p", {}, h("strong", {}, capital(words(d.action))), " ", refs(d.refs), d.reason && ` ${d.reason}`),
      h("p", { class: "soft" }, `turn ${d.turn_number} · by ${d.actor === "user" ? "you" : d.actor === "assistant" ? "Alfred" : "the clock"}`))),
    ...section("Turns in short", [...summaries].reverse(), "No turn is summarized yet.", (s) => h("li", {},
      h("p", {}, h("strong", {}, `Turn ${s.turn_number}`), " ", h("span", { class: "soft" }, [s.conversation_phase, s.tone].filter(Boolean).join(", "))),
      h("p", {}, s.response_summary), s.natural_next && h("p", { class: "soft" }, `Next: ${s.natural_next}`),
      h("p", { class: "soft" }, s.model === "none" ? "written without a model" : `by ${s.model}`))),
  ];
}

// grouped are decisions, newest first; what one turn decided alike is one.
/** @param {Decision[]} decisions @returns {(Decision & {refs: string[]})[]} */
function grouped(decisions) {
  const groups = Map.groupBy([...decisions].reverse(), (d) => JSON.stringify([d.turn_number, d.action, d.actor, d.reason]));
  return [...groups.values()].map((same) => ({ ...same[0], refs: same.map((d) => d.ref).filter(Boolean).reverse() }));
}

// refs are a few by name, many behind their number.
/** @param {string[]} all */
function refs(all) {
  const codes = all.flatMap((ref) => [h("code", {}, ref), " "]);
  return all.length <= 4 ? codes : h("details", { class: "many" }, h("summary", {}, `${all.length} rows`), codes);
}

const section = (title, items, none, line) => [h("h3", {}, title, items.length > 0 && h("span", { class: "count" }, items.length)),
  items.length ? h("ul", { class: "memory" }, items.map(line)) : h("p", { class: "soft" }, none)];
