// What is drafted and not saved: a card for each, over the message box.

import { call, request } from "./api.js";
import { emit, on } from "./bus.js";
import { confirm } from "./dialog.js";
import { $, button, h } from "./dom.js";
import { guarded, notice } from "./notice.js";
import { typeOf } from "./types.js";

/** @import { Artifact, Entity, Session } from "../../../../client/typescript/dist/api" */

/** @type {Session | null} */
let session = null;
/** @type {Entity[]} */
let known = [];

const path = (ref) => `/v1/sessions/${session.id}/artifacts/${encodeURIComponent(ref)}`;

const learned = "Alfred learns of it with your next message.";

// look opens a draft.
/** @param {Entity} draft */
export async function look(draft) {
  const response = await guarded(() => request(path(draft.ref)));
  if (!response) return;
  const asSeen = { "If-Match": response.headers.get("ETag") };
  const { openDraft } = await import("./more.js");
  await openDraft(draft, await response.json(), known, {
    keep: async (content) => {
      /** @type {Artifact} */
      const { version } = await call("PATCH", path(draft.ref), { content }, asSeen);
      asSeen["If-Match"] = `"${version}"`;
      emit("stale");
      notice(`${draft.label} is changed. It is still not saved. ${learned}`);
    },
    save: async () => {
      await call("POST", `${path(draft.ref)}/save`, undefined, asSeen);
      saved([draft]);
    },
  });
}

function saved(drafts) {
  emit("stale");
  emit("saved", drafts.map((d) => d.label));
  notice(`Saved ${drafts.map((d) => d.label).join(", ")}. ${learned}`);
}

// save keeps drafts as rows. One that refers to another has to wait for it: what fails is tried again as long as others succeed.
/** @param {Entity[]} drafts */
async function save(drafts) {
  const done = [];
  let left = drafts;
  let wrong = null;
  do {
    wrong = null;
    const before = done.length;
    for (const draft of left) {
      try {
        await call("POST", `${path(draft.ref)}/save`);
        done.push(draft);
      } catch (error) {
        wrong = error;
      }
    }
    left = left.filter((d) => !done.includes(d));
    if (done.length === before) break;
  } while (left.length);
  if (done.length) saved(done);
  if (wrong) throw wrong;
}

async function discard(draft) {
  if (!await confirm("Discard this draft?", `${draft.label} is not saved. It will be gone.`, "Discard")) return;
  await guarded(() => call("DELETE", path(draft.ref)));
  emit("stale");
}

/** @param {Entity} draft */
function card(draft) {
  const named = (verb) => ({ "aria-label": `${verb} ${draft.label}` });
  return h("li", { class: "card", "data-ref": draft.ref },
    h("p", { class: "about" }, h("span", { class: "badge" }, "Not saved"), h("span", { class: "soft" }, typeOf(draft.type)?.name ?? draft.type)),
    button(draft.label, () => guarded(() => look(draft)), { class: "name", "aria-label": `Look at ${draft.label}` }),
    h("div", { class: "buttons" },
      button("Save", () => guarded(() => save([draft])), { class: "primary", ...named("Save") }),
      button("Change", () => guarded(() => look(draft)), named("Change")),
      button("Discard", () => discard(draft), { class: "quiet", ...named("Discard") })));
}

on("session", (now) => { session = now; });
on("registry", ({ items }) => {
  known = items;
  const drafts = items.filter((e) => e.tier === "generated");
  $("drafts").hidden = drafts.length === 0;
  const all = drafts.length > 1 && h("p", { class: "soft" }, `${drafts.length} drafts, not saved `,
    button("Save all", () => guarded(() => save(drafts)), { class: "quiet" }));
  $("drafts").replaceChildren(...[all, drafts.length > 0 && h("ul", {}, drafts.map(card))].filter(Boolean));
});
