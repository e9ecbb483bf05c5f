// A turn as it is shown: the message, what is being done, the reply, what may be answered.

import { $, button, element } from "./dom.js";

const working = { understand: "Reading your message…", think: "Planning…", act: "Working…", reply: "Writing…" };

const mention = /@\[([^\]]*)\]\([^)]*\)/g;

// The end stays in view, whatever grows or shrinks, unless the reader has scrolled up.
let atEnd = true;
const toEnd = () => { if (atEnd) $("turns").scrollTop = $("turns").scrollHeight; };
$("turns").addEventListener("scroll", () => {
  const list = $("turns");
  atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 80;
});
new ResizeObserver(toEnd).observe($("turns"));

function following(change) {
  change();
  toEnd();
}

// addTurn puts a message at the end. send(text) answers a question or tries again; cancel() ends the turn.
export function addTurn(message, { send, cancel }) {
  const item = element("li", "turn");
  const status = element("p", "progress");
  const doing = element("span");
  const stop = button("Cancel", cancel);
  status.append(doing, " ", stop);
  status.hidden = true;
  const steps = element("ul", "steps");
  const reply = element("div", "reply");
  const options = element("div", "options");
  item.append(element("p", "said", message.replace(mention, "@$1")), steps, status, reply, options);
  $("turns").append(item);
  atEnd = true;
  toEnd();

  const over = () => { status.hidden = true; steps.replaceChildren(); item.removeAttribute("aria-busy"); };
  const choose = (labels) => options.replaceChildren(...labels.map((label) => button(label, () => { options.replaceChildren(); send(label); })));
  let before = "";

  return {
    ask(question) {
      const labels = question.options?.length ? question.options.map((o) => o.label)
        : ["propose", "approve"].includes(question.kind) ? ["Yes", "No"] : [];
      following(() => choose(labels));
    },
    closeQuestion() { options.replaceChildren(); },
    connection(lost) {
      if (lost) before = doing.textContent;
      doing.textContent = lost ? "The connection was lost; trying again…" : before;
    },
    delta(text) { following(() => { reply.textContent += text; }); },
    fail(text) {
      following(() => {
        over();
        reply.className = "reply error";
        reply.textContent = text;
        options.replaceChildren(button("Send again", () => { options.replaceChildren(); send(message); }));
      });
    },
    node(node) { this.progress(working[node] ?? "Working…"); },
    progress(text) { following(() => { status.hidden = false; item.setAttribute("aria-busy", "true"); doing.textContent = text; }); },
    reply(text) { following(() => { over(); reply.textContent = text; }); },
    reset() { reply.textContent = ""; },
    stepDone(data) {
      if (data.summary) following(() => steps.append(element("li", `step ${data.outcome}`, data.summary)));
    },
  };
}
