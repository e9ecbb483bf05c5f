// Looking at a draft and changing it. It refers to rows by their refs, as models do.

import { ApiError } from "./api.js";
import { openDialog } from "./dialog.js";
import { button, h } from "./dom.js";
import { formOf } from "./form.js";
import { guarded } from "./notice.js";
import { typeOf } from "./types.js";

/** @import { Artifact, Entity } from "../../../../client/typescript/dist/api" */

// openDraft shows a draft's content. known is what the conversation knows: what a draft may refer to. keep(content) stores a changed one, save() makes a row of the draft.
/**
 * @param {Entity} draft @param {Artifact} found @param {Entity[]} known
 * @param {{keep: (content: object) => Promise<void>, save: () => Promise<void>}} on
 */
export async function openDraft(draft, found, known, { keep, save }) {
  const choices = async (name) => known.filter((e) => e.type === name).map((e) => ({ value: e.ref, label: e.label }));
  const form = await formOf(typeOf(draft.type), found.content, choices);
  const wrong = h("p", { class: "bad", role: "alert", hidden: true });
  const run = async (work) => {
    wrong.hidden = true;
    try {
      await work();
      dialog.close();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      wrong.hidden = false;
      wrong.textContent = error.message;
    }
  };
  const before = JSON.stringify(form.values());
  const edited = () => JSON.stringify(form.values()) !== before;
  const submit = (event) => {
    event.preventDefault();
    guarded(() => run(() => edited() ? keep(form.values()) : null));
  };
  const dialog = openDialog(draft.label, h("form", { onsubmit: submit },
    h("p", {}, h("span", { class: "badge" }, "Not saved"), h("span", { class: "soft" }, ` version ${found.version}`)),
    form.element, h("div", { class: "buttons" }, wrong, h("span", { class: "gap" }), button("Close", () => dialog.leave()),
      h("button", { type: "submit" }, "Keep changes"),
      button("Save", () => guarded(() => run(async () => {
        if (edited()) await keep(form.values());
        await save();
      })), { class: "primary" }))), { wide: true, unsaved: edited });
}
