// What the keyboard does, and the sheet that says so.

import { emit } from "./bus.js";
import { openDialog } from "./dialog.js";
import { $, h } from "./dom.js";

const apple = /Mac|iPhone|iPad/.test(navigator.platform);
const ctrl = apple ? "⌘" : "Ctrl";

/** @type {[string, string[][]][]} */
const sheet = [
  ["In the page", [[`${ctrl}+K`, "Search"], [`${ctrl}+Shift+O`, "New conversation"], ["Alt+I", "What Alfred knows"], [`${ctrl}+/`, "This list"]]],
  ["In the message box", [["Enter", "Send"], ["Shift+Enter", "New line"], ["@", "Name a row"], ["↑", "Take up your last message, in an empty box"], ["Esc", "Stop the turn that runs"]]],
  ["In a dialog or drawer", [["Esc", "Close it; a changed form asks before"]]],
];

export function openShortcuts() {
  if (document.querySelector("dialog[open]")) return;
  openDialog("Keyboard", h("div", { class: "shortcuts" }, sheet.map(([title, keys]) => h("section", {}, h("h3", {}, title),
    h("dl", {}, keys.map(([key, what]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, what))))))));
}

document.addEventListener("keydown", (event) => {
  const held = event.ctrlKey || event.metaKey;
  if (held && event.key === "/") openShortcuts();
  else if (held && event.shiftKey && event.key.toLowerCase() === "o") $("new-session").click();
  else if (event.altKey && event.code === "KeyI") $("toggle-inspector").click();
  else if (event.key === "Escape" && event.target === $("message") && !$("stop").hidden && !event.defaultPrevented) emit("stop");
  else return;
  event.preventDefault();
});
$("shortcuts").addEventListener("click", openShortcuts);
