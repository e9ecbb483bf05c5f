// When each part of a turn began and how long it took: waiting, loading, the model, committing.

import { h } from "./dom.js";
import { count, duration, money } from "./format.js";

/** @import { CallLine, TimelineLine } from "../../../../client/typescript/dist/api" */
/** @typedef {{kind: "waited" | "loaded" | "model" | "committed", from: number, to: number}} Part */

const at = (time) => new Date(time).getTime();

// parts says what a node's time went to. A call of a model ends when its answer has arrived.
/** @param {TimelineLine} node @param {CallLine[]} calls @param {number} before when the node before had ended @returns {Part[]} */
function parts(node, calls, before) {
  const end = at(node.at);
  const began = Math.max(before, end - (node.duration_ms ?? 0));
  const list = [{ kind: "waited", from: before, to: began }];
  let now = began;
  for (const call of calls) {
    const to = Math.min(end, at(call.created_at));
    const from = Math.max(now, to - call.latency_ms);
    list.push({ kind: now === began ? "loaded" : "committed", from: now, to: from }, { kind: "model", from, to });
    now = to;
  }
  list.push({ kind: calls.length ? "committed" : "loaded", from: now, to: end });
  return /** @type {Part[]} */ (list.filter((part) => part.to > part.from));
}

// callsOf are the calls of models that a node made.
/** @param {TimelineLine} node @param {CallLine[]} calls */
export const callsOf = (node, calls) => calls.filter((c) => c.node === node.node && (c.step ?? 0) === (node.step ?? 0) && c.call === (node.call ?? 1));

// waterfall draws the nodes of a turn, each with its model, tokens and cost.
/** @param {TimelineLine[]} lines @param {CallLine[]} calls @param {(l: any) => string} titleOf */
export function waterfall(lines, calls, titleOf) {
  const nodes = lines.filter((l) => l.kind === "node");
  if (!nodes.length) return null;
  const start = at(lines[0].at);
  const whole = Math.max(1, at(nodes.at(-1).at) - start);
  let before = start;
  return h("div", { class: "waterfall" }, h("ol", {}, nodes.map((node) => {
    const made = callsOf(node, calls);
    const spans = parts(node, made, before);
    before = at(node.at);
    const bar = h("div", { class: "bar", "aria-hidden": "true" }, spans.map((part) => {
      const e = h("span", { class: part.kind });
      Object.assign(e.style, { left: `${(part.from - start) / whole * 100}%`, width: `${(part.to - part.from) / whole * 100}%` });
      return e;
    }));
    const sum = (name) => made.reduce((n, c) => n + c[name], 0);
    const cached = sum("cached_tokens");
    return h("li", {}, h("p", {}, h("strong", {}, titleOf({ ...node, attempt: 1 })), h("span", { class: "soft" }, [
      spans.map((part) => `${part.kind} ${duration(part.to - part.from)}`).join(", "), made[0]?.model,
      made.length && `${count(sum("input_tokens"))}${cached ? ` (${count(cached)} cached)` : ""} → ${count(sum("output_tokens"))} tokens`, money(sum("cost_usd")),
    ].filter(Boolean).map((fact) => ` · ${fact}`).join(""))), bar);
  })), h("p", { class: "legend soft", "aria-hidden": "true" }, ["waited", "loaded", "model", "committed"].map((kind) => h("span", {}, h("i", { class: kind }), kind))));
}
