// What the conversation knows: each row and draft with the tier it is in, what was done to it last, and why it is kept.

import { call, whole } from "./api.js";
import { on } from "./bus.js";
import { running, turns } from "./conversation.js";
import { button, h, iconButton } from "./dom.js";
import { guarded } from "./notice.js";
import { brief } from "./turn.js";
import { isPart } from "./types.js";

/** @import { Entity, Session } from "../../../../client/typescript/dist/api" */

const tiers = [
  ["generated", "Not saved", "Drafts. They never age out of view."],
  ["recent", "Recent", "Touched in the last two turns: seen with their rows."],
  ["retained", "Kept from earlier", "Older, and kept for a reason."],
  ["excluded", "Not wanted", "Ruled out, and not offered again."],
  ["background", "Background", "Known and resolvable by name, but not in view."],
];
const folded = 8; // lines of a tier before the rest folds

/** @type {import("./bus.js").Heard["registry"] | null} */
let known = null; // the registry now
let asOf = 0; // a turn, 0 for now
let against = 0; // a turn to compare with, 0 for none

on("registry", (now) => { known = now; });
on("session", () => { known = null; asOf = 0; against = 0; });

/** @param {Session} session @param {() => void} redraw */
export async function showEntities(session, redraw) {
  const ended = turns().filter((t) => !running(t.status));
  /** @type {Entity[]} */
  const items = asOf ? await whole(`/v1/sessions/${session.id}/entities?keys=true&turn=${asOf}`) : known?.items ?? [];
  const turnOption = (t, chosen) => h("option", { value: t.number, selected: t.number === chosen }, `turn ${t.number}: ${brief(t.message)}`);
  const compare = ended.length > 1 && h("p", { class: "pick" }, h("label", { for: "against" }, "Changed since"), h("select", { id: "against", onchange: (event) => { against = Number(event.target.value); redraw(); } },
    h("option", { value: 0 }, "—"), [...ended].reverse().map((t) => turnOption(t, against))));
  if (against) return [asOfPick(), compare, changes(await whole(`/v1/sessions/${session.id}/entities?turn=${against}`), items)];
  const groups = tiers.map(([tier, title, what]) => ({ tier, title, what, items: items.filter((e) => e.tier === tier) })).filter((g) => g.items.length);
  function asOfPick() {
    return h("p", { class: "pick" }, h("label", { for: "as-of" }, "As of"), h("select", { id: "as-of", onchange: (event) => { asOf = Number(event.target.value); redraw(); } },
      h("option", { value: 0 }, "now"), [...ended].reverse().map((t) => turnOption(t, asOf))));
  }
  return [
    asOfPick(), compare,
    ...groups.map((g) => h("section", { class: `tier tier-${g.tier}` }, h("h3", { title: g.what }, g.title, h("span", { class: "count" }, g.items.length)),
      fold(g.items, (e) => line(session, e, redraw)))),
    groups.length === 0 && h("p", { class: "soft none" }, asOf ? "Nothing was known then." : "Nothing yet. What Alfred reads or drafts in this conversation is listed here, with the reason why it is kept in view."),
  ].filter(Boolean);
}

/** @param {Entity} e */
const did = (e) => e.action.replace(":user", " by you");

// changes are what came, went, and is seen otherwise between two states of the registry.
/** @param {Entity[]} before @param {Entity[]} after */
function changes(before, after) {
  const old = new Map(before.map((e) => [e.ref, e]));
  const title = Object.fromEntries(tiers);
  const lines = after.flatMap((e) => {
    const was = old.get(e.ref);
    old.delete(e.ref);
    if (!was) return [["new", e, title[e.tier]]];
    const what = [was.tier !== e.tier && `${title[was.tier]} → ${title[e.tier]}`, was.action !== e.action && `${did(was)} → ${did(e)}`, was.label !== e.label && `was called ${was.label}`,
      was.reason !== e.reason && (e.reason ? `kept: ${e.reason}` : "no longer kept for a reason")].filter(Boolean).join("; ");
    return what ? [["changed", e, what]] : [];
  });
  const all = [...lines, ...[...old.values()].map((e) => ["gone", e, title[e.tier]])];
  return all.length ? h("ul", { class: "entities changes" }, all.map(([kind, e, what]) => h("li", { class: kind }, h("div", { class: "about" },
    h("span", { class: "label" }, e.label), h("p", { class: "soft" }, h("code", {}, e.ref), ` ${kind} · ${what}`)))))
    : h("p", { class: "soft none" }, "Nothing changed.");
}

// fold shows the first of a tier. Parts of other rows, a recipe's ingredients, come last.
/** @param {Entity[]} items @param {(e: Entity) => HTMLElement} draw */
function fold(items, draw) {
  const own = items.filter((e) => !isPart(e.type));
  const first = own.length <= folded + 2 ? own : own.slice(0, folded);
  const rest = items.filter((e) => !first.includes(e));
  if (!rest.length) return h("ul", { class: "entities" }, first.map(draw));
  const more = h("ul", { class: "entities", hidden: true });
  const show = button(`${rest.length} more${rest.every((e) => isPart(e.type)) ? ", parts of these" : ""}`, () => {
    more.replaceChildren(...rest.map(draw));
    more.hidden = false;
    show.remove();
  }, { class: "quiet" });
  return [h("ul", { class: "entities" }, first.map(draw)), more, show];
}

/** @param {Session} session @param {Entity} e @param {() => void} redraw */
function line(session, e, redraw) {
  const turn = e.turn_created === e.turn_last_ref ? `turn ${e.turn_created}` : `turns ${e.turn_created}–${e.turn_last_ref}`;
  const pinned = e.reason === "pinned";
  const pin = async () => {
    await call(pinned ? "DELETE" : "PUT", `/v1/sessions/${session.id}/entities/${encodeURIComponent(e.ref)}/pin`);
    /** @type {import("../../../../client/typescript/dist/api").EntityPage} */
    const { items } = await call("GET", `/v1/sessions/${session.id}/entities`);
    known = { ...known, items };
    redraw();
  };
  return h("li", { "data-ref": e.ref },
    h("div", { class: "about" }, h("span", { class: "label" }, e.label), h("p", { class: "soft" }, h("code", {}, e.ref), ` ${did(e)} · ${turn}`),
      e.reason && h("p", { class: "reason" }, pinned ? "pinned by you" : e.reason)),
    !asOf && e.state !== "pending" && e.tier !== "excluded" && iconButton("pin", `${pinned ? "Unpin" : "Pin"} ${e.label}`, () => guarded(pin), { "aria-pressed": String(pinned) }));
}
