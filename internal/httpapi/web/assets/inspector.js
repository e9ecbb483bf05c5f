// What Alfred knows and how he came to what he said: the tabs beside the conversation.

import { on } from "./bus.js";
import { $, h } from "./dom.js";
import { showEntities } from "./entities.js";
import { guarded } from "./notice.js";
import { inspectorOpen, onInspector, openInspector } from "./shell.js";

const tabs = [
  { id: "entities", title: "In view", show: showEntities },
  { id: "timeline", title: "Turns", show: async (session, redraw) => (await import("./more.js")).showTimeline(session, redraw) },
  { id: "memory", title: "Memory", show: async (session) => (await import("./more.js")).showMemory(session) },
];

let chosen = tabs[0];
let session = null;
let drawn = 0;

// placeOf is where the focus was, to be found again after drawing.
function placeOf(e) {
  const ref = e.closest("[data-ref]")?.dataset.ref;
  return e.id ? `#${CSS.escape(e.id)}` : ref ? `[data-ref="${CSS.escape(ref)}"] button` : "";
}

// redraw fills the panel anew. What answers late is not shown.
function redraw() {
  if (!inspectorOpen()) return;
  if (!session) {
    $("panel").replaceChildren(h("p", { class: "soft none" }, "Nothing yet. What Alfred reads, drafts and remembers in a conversation stands here."));
    return;
  }
  drawn += 1;
  const mine = drawn;
  const panel = $("panel");
  guarded(async () => {
    const content = await chosen.show(session, redraw);
    if (mine !== drawn || !content) return;
    const { scrollTop } = panel;
    const at = panel.contains(document.activeElement) ? placeOf(document.activeElement) : "";
    panel.replaceChildren(...content);
    panel.scrollTop = scrollTop;
    if (at) panel.querySelector(at)?.focus();
  });
}

function choose(tab, focus = false) {
  chosen = tab;
  for (const t of tabs) {
    const button = $(`tab-${t.id}`);
    button.setAttribute("aria-selected", String(t === tab));
    button.tabIndex = t === tab ? 0 : -1;
    if (focus && t === tab) button.focus();
  }
  $("panel").setAttribute("aria-labelledby", `tab-${tab.id}`);
  $("panel").scrollTop = 0;
  redraw();
}

$("tabs").append(...tabs.map((tab) => h("button", { type: "button", role: "tab", id: `tab-${tab.id}`, "aria-controls": "panel", onclick: () => choose(tab) }, tab.title)));
$("tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step) choose(tabs[(tabs.indexOf(chosen) + step + tabs.length) % tabs.length], true);
});
choose(chosen);

onInspector(redraw);
on("session", (now) => { session = now; $("panel").replaceChildren(); redraw(); });
on("registry", () => redraw());
on("loaded", () => redraw());
on("turn", () => redraw());
on("inspect", (turn) => guarded(async () => {
  const { lookAt } = await import("./more.js");
  lookAt(turn.id);
  choose(tabs[1]);
  openInspector();
}));
