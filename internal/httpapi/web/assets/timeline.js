// How a turn came about: its nodes, tools, rows and decisions in order, with times, tokens and cost, and each call of a model.

import { get, whole } from "./api.js";
import { on } from "./bus.js";
import { turns } from "./conversation.js";
import { button, h } from "./dom.js";
import { count, duration, exactTime, plural, spent, words } from "./format.js";
import { guarded } from "./notice.js";
import { brief } from "./turn.js";
import { openCall } from "./prompt.js";
import { callsOf, waterfall } from "./waterfall.js";

/** @import { CallLine, Session, TimelineLine, ToolResult, Turn } from "../../../../client/typescript/dist/api" */

/** @type {Record<string, string>} */
const names = { understand: "Understand", think: "Think", act: "Act", reply: "Reply", summarize: "Summarize", compress: "Compress" };
const longText = 240;

let wanted = null; // a turn's id, null for the newest

// lookAt chooses the turn to show.
export function lookAt(id) { wanted = id; }

on("session", () => { wanted = null; });

/** @param {Session} session @param {() => void} redraw */
export async function showTimeline(session, redraw) {
  const all = turns();
  const turn = all.find((t) => t.id === wanted) ?? all.at(-1);
  if (!turn) return [h("p", { class: "soft none" }, "No turns yet. Each message is one: what was read, decided and written for it will stand here.")];
  /** @type {[Turn, TimelineLine[], CallLine[], ToolResult[]]} */
  const [detail, lines, calls, results] = await Promise.all([get(`/v1/turns/${turn.id}`), whole(`/v1/turns/${turn.id}/timeline`),
    whole(`/v1/turns/${turn.id}/calls`), whole(`/v1/turns/${turn.id}/results`)]);
  const previous = all[all.indexOf(turn) - 1];
  const look = (c) => guarded(async () => openCall(await get(`/v1/calls/${c.id}`), titleOf(c), async () => {
    const earlier = calls.slice(0, calls.findIndex((other) => other.id === c.id)).findLast((other) => other.node === c.node)
      ?? (previous ? (await whole(`/v1/turns/${previous.id}/calls`)).findLast((other) => other.node === c.node) : null);
    return earlier ? get(`/v1/calls/${earlier.id}`) : null;
  }));
  const first = lines[0]?.at;
  const lastLine = lines.at(-1)?.at;
  return [
    h("p", { class: "pick" }, h("label", { for: "which-turn" }, "Turn"), h("select", { id: "which-turn", onchange: (event) => { wanted = event.target.value; redraw(); } },
      [...all].reverse().map((t) => h("option", { value: t.id, selected: t.id === turn.id }, `${t.number}: ${brief(t.message)}`)))),
    h("dl", { class: "facts" }, fact("Status", detail.status), fact("Took", first ? duration(new Date(lastLine).getTime() - new Date(first).getTime()) : ""),
      fact("Models", spent(detail.usage)), detail.goal && fact("Goal", detail.goal), detail.error && fact("Error", `${detail.error.code}: ${detail.error.message}`)),
    h("h3", {}, "Where the time went"),
    waterfall(lines, calls, titleOf),
    h("h3", {}, "What happened"),
    h("ol", { class: "timeline" }, once(lines).map((l) => line(l, calls, results, look))),
    calls.length > 0 && h("h3", {}, "Calls of models"),
    calls.length > 0 && h("ol", { class: "calls" }, calls.map((c) => callLine(c, look))),
  ].filter(Boolean);
}

const fact = (name, value) => value ? [h("dt", {}, name), h("dd", {}, value)] : [];

const titleOf = (c) => `${names[c.node] ?? c.node}${c.step ? ` · step ${c.step}` : ""}${c.call > 1 ? ` · call ${c.call}` : ""}${c.attempt > 1 ? ` · attempt ${c.attempt}` : ""}`;

const curated = /^(retained|demoted|dropped|excluded|expired|restored) /;

// once tells a decision about an entity in the line of what became of the entity.
/** @param {TimelineLine[]} lines @returns {TimelineLine[]} */
function once(lines) {
  /** @type {TimelineLine[]} */
  const told = [];
  for (const l of lines) {
    const became = l.kind === "decision" ? told.findLastIndex((t) => t.kind === "entity" && t.ref === l.ref && curated.test(t.text)) : -1;
    const [, ...reason] = l.text.split(": ");
    if (became < 0) told.push(l);
    else told[became] = { ...l, text: [told[became].text, ...reason].join(": ") };
  }
  return told;
}

/** @param {TimelineLine} l @param {CallLine[]} calls @param {ToolResult[]} results @param {(c: CallLine) => void} look */
function line(l, calls, results, look) {
  const time = h("time", { datetime: l.at, class: "soft" }, exactTime(l.at));
  if (l.kind === "node") {
    const made = callsOf(l, calls);
    return h("li", { class: "kind-node" }, h("div", {}, h("strong", {}, titleOf({ ...l, attempt: 1 })), h("span", { class: "soft" }, ` ${duration(l.duration_ms)}`),
      l.usage?.calls > 0 && h("span", { class: "soft" }, ` · ${count(l.usage.input_tokens)} → ${count(l.usage.output_tokens)} tokens`)),
    made.length > 0 && button("Prompt", () => look(made.at(-1)), { class: "quiet", "aria-label": `The prompt of ${titleOf(made.at(-1))}` }), time);
  }
  const result = l.kind === "tool" && results.find((r) => r.step === (l.step ?? 0) && r.call === l.call);
  const text = l.text.length > longText ? `${l.text.slice(0, longText)}…` : l.text;
  return h("li", { class: `kind-${l.kind}` }, h("div", {}, h("span", { class: "kind" }, words(l.kind)), ` ${text}`,
    result && h("details", {}, h("summary", {}, `Arguments and ${plural(result.rows.length, "row")}`),
      h("pre", { tabindex: "0" }, JSON.stringify(result.params, null, 2)), result.rows.length > 0 && h("pre", { tabindex: "0" }, result.rows.map((row) => JSON.stringify(row)).join("\n")))), time);
}

/** @type {(c: CallLine, look: (c: CallLine) => void) => HTMLElement} */
const callLine = (c, look) => h("li", {}, h("button", { type: "button", class: "call", onclick: () => look(c) },
  h("span", {}, h("strong", {}, titleOf(c)), c.error_code && h("span", { class: "bad" }, ` ${c.error_code}`)),
  h("span", { class: "soft" }, [`${c.provider} ${c.model}`, spent(c), duration(c.latency_ms)].join(" · "))));
