// The frame: what is beside the conversation, on wide screens and on phones.

import { $, icon } from "./dom.js";
import { forget, recall, remember } from "./store.js";

const phone = window.matchMedia("(max-width: 52rem)"); // as in shell.css
const wide = window.matchMedia("(min-width: 75rem)");

const parts = { sidebar: $("sidebar"), inspector: $("inspector") };
const roles = { sidebar: "navigation", inspector: "complementary" };
const toggles = { sidebar: $("toggle-sidebar"), inspector: $("toggle-inspector") };
let heard = () => {};

// onInspector is told when the inspector opens.
export function onInspector(run) { heard = run; }

export const inspectorOpen = () => !parts.inspector.hidden;

function show(name, open, focus = true) {
  if (open && phone.matches) for (const other of Object.keys(parts)) if (other !== name) show(other, false, false);
  if (name === "inspector") parts.inspector.hidden = !open;
  else document.body.classList.toggle("sidebar-open", open);
  toggles[name].setAttribute("aria-expanded", String(open));
  toggles[name].classList.toggle("on", open);
  const covers = open && phone.matches;
  document.querySelector("main").inert = covers;
  parts[name].role = covers ? "dialog" : roles[name];
  parts[name].ariaModal = covers ? "true" : null;
  if (!focus) return;
  if (name === "inspector") {
    if (open) remember("inspector", true);
    else forget("inspector");
  }
  if (open) parts[name].querySelector("button, a, input, [role=tab][tabindex='0']")?.focus();
  else toggles[name].focus();
}

export function openInspector(focus = true) {
  if (!inspectorOpen()) show("inspector", true, focus);
  heard();
}

// closeDrawers leaves the conversation alone on a phone: something in a drawer was chosen.
export function closeDrawers() {
  if (!phone.matches) return;
  for (const name of Object.keys(parts)) show(name, false, false);
}

const isOpen = (name) => toggles[name].getAttribute("aria-expanded") === "true";

for (const name of Object.keys(parts)) {
  toggles[name].addEventListener("click", () => {
    show(name, !isOpen(name));
    if (name === "inspector" && inspectorOpen()) heard();
  });
}
$("close-inspector").addEventListener("click", () => show("inspector", false));

// Notices cover nothing that somebody may be about to press, and move it as little as there is room for.
function placeNotices() {
  if (phone.matches) $("top").after($("notices"));
  else $("stored-title").before($("notices"));
}
placeNotices();
phone.addEventListener("change", placeNotices);
phone.addEventListener("change", () => { for (const name of Object.keys(parts)) show(name, name === "inspector" && !phone.matches && isOpen(name), false); });

document.addEventListener("click", (event) => {
  if (!$("session-menu").contains(event.target)) $("session-menu").open = false;
  if (!phone.matches || !isOpen("sidebar") || toggles.sidebar.contains(event.target)) return;
  if (!parts.sidebar.contains(event.target) || /** @type {Element} */ (event.target).closest("[aria-current]")) show("sidebar", false); // what is open already changes no address
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    if (phone.matches) show("sidebar", true);
    $("find-session").focus();
  }
  if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
  if ($("session-menu").open) {
    $("session-menu").open = false;
    $("session-menu").firstElementChild.focus();
  } else if (phone.matches) {
    for (const name of Object.keys(parts)) if (isOpen(name)) show(name, false);
  }
});
$("skip").addEventListener("click", (event) => { event.preventDefault(); $("message").focus(); });

$("toggle-sidebar").append(icon("menu"));
$("toggle-inspector").append(icon("panel"));
$("close-inspector").append(icon("close"));
$("send").append(icon("send"));
$("stop").append(icon("stop"));
$("newest").append(icon("down"));
$("session-menu").firstElementChild.append(icon("more"));
$("new-session").prepend(icon("plus"));

// The colours are the device's, unless another choice was made here.
const theme = recall("theme") ?? "";
document.documentElement.dataset.theme = theme;
$("theme").value = theme;
$("theme").addEventListener("change", () => {
  document.documentElement.dataset.theme = $("theme").value;
  if ($("theme").value) remember("theme", $("theme").value);
  else forget("theme");
});

// startShell opens what was open the last time; a wide screen has room for it.
export function startShell() {
  if (recall("inspector") && wide.matches) openInspector(false);
}
