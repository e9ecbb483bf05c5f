// What every part of the page builds with.

// $ is an element of index.html, of whatever kind it has there.
/** @type {(id: string) => any} */
export const $ = (id) => document.getElementById(id);

// address is where a file of the page is that is not loaded with it, under the name that the build gave it.
/** @type {(name: string) => string} */
export const address = (name) => document.querySelector(`meta[name="${name}"]`).getAttribute("content");

export { button, h, icon, iconButton } from "../../../../client/typescript/src/dom.ts";

// focusMessage lets who has a keyboard go on writing; on a screen that is touched it would open one.
export function focusMessage() {
  const touched = window.matchMedia("(pointer: coarse)").matches;
  if (!touched && !document.querySelector("dialog[open]")) $("message").focus();
}

// announce tells those who listen what others see.
export function announce(text) { $("announcer").textContent = text; }
