// Dialogs that are made when they are needed.

import { button, h, iconButton } from "./dom.js";

// openDialog shows content under a title and answers with the dialog, whose close button asks unsaved() what would be lost.
// It is gone once closed.
/** @param {string} title @param {HTMLElement} content @param {{wide?: boolean, onclose?: () => void, unsaved?: () => boolean}} [options] */
export function openDialog(title, content, { wide = false, onclose = () => {}, unsaved = () => false } = {}) {
  const id = `dialog-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  const leave = async () => {
    if (!unsaved() || await confirm("Discard your changes?", "What you changed here is not saved.", "Discard", "Go on editing")) dialog.close();
  };
  /** @type {any} */
  const dialog = h("dialog", { class: wide ? "wide" : "", "aria-labelledby": id, onclose: () => { dialog.remove(); onclose(); },
    oncancel: (event) => { if (event.target === dialog) { event.preventDefault(); leave(); } } }, // a file input tells its own cancel
    h("header", {}, h("h2", { id, dir: "auto" }, title), iconButton("close", "Close", leave)), content);
  // The first thing to fill in has the focus, else what the dialog is for; a form can be left as it is.
  const first = content.querySelector("input:not([type=checkbox], [disabled]), textarea:not([disabled]), select:not([disabled])") ?? content.querySelector("button.primary, button.danger");
  first?.setAttribute("autofocus", "");
  document.body.append(dialog);
  dialog.showModal();
  return Object.assign(dialog, { leave });
}

// confirm asks before what cannot be undone; it resolves to whether to go on.
export function confirm(title, text, verb, keep = "Keep") {
  return new Promise((resolve) => {
    let yes = false;
    const stay = button(keep, () => dialog.close(), { autofocus: true });
    const dialog = openDialog(title, h("div", {}, h("p", {}, text), h("div", { class: "buttons" }, stay,
      button(verb, () => { yes = true; dialog.close(); }, { class: "danger" }))), { onclose: () => resolve(yes) });
    stay.focus();
  });
}

// ask asks for one line; it resolves to the line, or null.
export function ask(title, label, value, verb, { required = true } = {}) {
  return new Promise((resolve) => {
    let answer = null;
    const input = h("input", { type: "text", value, required, maxlength: 200, id: "ask-line", dir: "auto" });
    const dialog = openDialog(title, h("form", { onsubmit: (event) => { event.preventDefault(); answer = input.value.trim(); dialog.close(); } },
      h("label", { for: "ask-line" }, label), input, h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, verb))),
    { onclose: () => resolve(answer), unsaved: () => input.value !== value });
    input.select();
  });
}
