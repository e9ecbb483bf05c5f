// The exact prompt of a call, what was answered, and for each thing in it the reason why it stood there.

import { openDialog } from "./dialog.js";
import { button, h } from "./dom.js";
import { capital, count, duration, spent } from "./format.js";
import { guarded } from "./notice.js";

/** @import { ContextItem, LlmCall } from "../../../../client/typescript/dist/api" */

const pretty = (value) => typeof value === "string" ? value : JSON.stringify(value, null, 2);

const part = (title, text, open = false) => h("details", { open }, h("summary", {}, title, h("span", { class: "soft" }, ` ${count(text.length)} characters`)), h("pre", { tabindex: "0" }, text));

// said is a message: its text and calls.
const said = (m) => [m.content && pretty(m.content), m.tool_calls?.length > 0 && pretty(m.tool_calls)].filter(Boolean).join("\n\n");

// asked is all of a prompt as one text.
/** @param {LlmCall} call */
const asked = ({ request }) => [request?.system, ...(request?.messages ?? []).map(said)].filter(Boolean).join("\n\n");

const context = 3; // lines of what is the same, around what is not

// compared marks what two prompts differ in.
/** @param {string} before @param {string} after */
async function compared(before, after) {
  const { differences } = await import("./differences.js");
  const parts = differences(before, after);
  const same = (text, first, last) => {
    const lines = text.split("\n");
    if (lines.length <= 2 * context + 1) return text;
    return [...first ? [] : lines.slice(0, context), `  … ${count(lines.length - (first || last ? 1 : 2) * context)} lines are the same …`, ...last ? [] : lines.slice(-context - 1)].join("\n");
  };
  return h("pre", { class: "differences", tabindex: "0" }, parts.map((part, i) => part.added ? h("ins", {}, part.value) : part.removed ? h("del", {}, part.value)
    : same(part.value, i === 0, i === parts.length - 1)));
}

// openCall shows a call of a model. earlier() is the one before it of the same node, or null.
/** @param {LlmCall} call @param {string} title @param {() => Promise<LlmCall | null>} earlier */
export function openCall(call, title, earlier) {
  const place = h("div", {});
  const compare = button("What differs from the call before", () => guarded(async () => {
    const other = await earlier();
    place.replaceChildren(other ? await compared(asked(other), asked(call)) : h("p", { class: "soft" }, "There is no call of this node before it, here or in the turn before."));
  }), { class: "compare" });
  const { request, response } = call;
  const messages = request?.messages ?? [];
  openDialog(title, h("div", { class: "call-view" },
    h("p", { class: "soft" }, [`${call.provider} ${call.model}`, spent(call), duration(call.latency_ms), call.error_code].filter(Boolean).join(" · ")),
    compare, place,
    h("div", { class: "columns" },
      h("section", {}, h("h3", {}, "Asked"),
        request?.system && part("System", request.system),
        messages.map((m, i) => part(capital(m.role), said(m), i === messages.length - 1)),
        request?.tools?.length > 0 && part(`Tools: ${request.tools.map((t) => t.name).join(", ")}`, pretty(request.tools)),
        request?.schema && part(`Schema: ${request.schema_name ?? ""}`, pretty(request.schema)),
        h("h3", {}, "Answered"),
        response?.text ? part("Text", readable(response.text), true) : null,
        response?.tool_calls?.length > 0 && part("Tool calls", pretty(response.tool_calls), true),
        !response && h("p", { class: "bad" }, call.error_code ?? "Nothing.")),
      h("section", {}, h("h3", {}, "Why it is in there"), reasons(call.context ?? [])))), { wide: true });
}

// readable sets JSON out in lines; other text stays as it is.
function readable(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}

/** @param {ContextItem[]} items */
function reasons(items) {
  if (!items.length) return h("p", { class: "soft" }, "Nothing from the conversation's memory.");
  return h("div", { class: "table" }, h("table", {}, h("thead", {}, h("tr", {}, ["Section", "What", "Reason", "Tokens"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, items.map((i) => h("tr", {}, h("td", {}, i.section), h("td", {}, i.ref ? h("code", {}, i.ref) : i.turn_number ? `turn ${i.turn_number}` : ""),
      h("td", {}, i.reason), h("td", { class: "number" }, count(i.tokens)))))));
}
