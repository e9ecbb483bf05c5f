// Dialogs that are made when they are needed.

import { button, h, iconButton } from "./dom.js";

// openDialog shows content under a title and answers with the dialog. It is gone once closed.
export function openDialog(title, content, { wide = false, onclose = () => {} } = {}) {
  const id = `dialog-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  const dialog = h("dialog", { class: wide ? "wide" : "", "aria-labelledby": id, onclose: () => { dialog.remove(); onclose(); } },
    h("header", {}, h("h2", { id }, title), iconButton("close", "Close", () => dialog.close())), content);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

// confirm asks before what cannot be undone; it resolves to whether to go on.
export function confirm(title, text, verb) {
  return new Promise((resolve) => {
    let yes = false;
    const dialog = openDialog(title, h("div", {}, h("p", {}, text), h("div", { class: "buttons" },
      button("Keep", () => dialog.close()),
      button(verb, () => { yes = true; dialog.close(); }, { class: "danger" }))), { onclose: () => resolve(yes) });
  });
}

// ask asks for one line; it resolves to the line, or null.
export function ask(title, label, value, verb) {
  return new Promise((resolve) => {
    let answer = null;
    const input = h("input", { type: "text", value, required: true, maxlength: 200, id: "ask-line" });
    const dialog = openDialog(title, h("form", { onsubmit: (event) => { event.preventDefault(); answer = input.value.trim(); dialog.close(); } },
      h("label", { for: "ask-line" }, label), input, h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, verb))),
    { onclose: () => resolve(answer) });
    input.select();
  });
}
