// What the session knows, what is not saved yet, and what is stored.

import { call } from "./api.js";
import { $, button, element } from "./dom.js";

const tiers = [["generated", "Not yet saved"], ["recent", "Recent"], ["retained", "Kept from earlier"], ["excluded", "Not wanted"], ["background", "Background"]];

// showEntities draws the registry, and a card for each draft. send(text) speaks for the user.
export async function showEntities(session, send, again) {
  const { items } = await call("GET", `/v1/sessions/${session}/entities`);
  const groups = tiers.map(([tier, title]) => [title, items.filter((e) => e.tier === tier)]).filter(([, list]) => list.length);
  $("entities").replaceChildren(...groups.flatMap(([title, list]) => {
    const ul = element("ul");
    ul.append(...list.map((e) => entityLine(session, e, again)));
    return [element("h3", "", `${title} (${list.length})`), ul];
  }));
  if (!groups.length) $("entities").replaceChildren(element("p", "soft", "Nothing yet."));
  $("drafts").replaceChildren(...items.filter((e) => e.tier === "generated").map((e) => draftCard(e, send)));
}

function entityLine(session, e, again) {
  const li = element("li");
  const about = element("span", "about");
  about.append(element("span", "label", e.label), " ", element("code", "", e.ref), element("span", "soft", ` ${e.action}`));
  if (e.reason) about.append(element("em", "soft", ` — ${e.reason}`));
  li.append(about);
  if (e.state !== "pending" && e.tier !== "excluded") {
    const pinned = e.reason === "pinned";
    const pin = button(pinned ? "Unpin" : "Pin", async () => {
      await call(pinned ? "DELETE" : "PUT", `/v1/sessions/${session}/entities/${encodeURIComponent(e.ref)}/pin`);
      await again();
    });
    pin.setAttribute("aria-label", `${pin.textContent} ${e.label}`);
    li.append(pin);
  }
  return li;
}

function draftCard(e, send) {
  const card = element("div", "card");
  const name = element("span", "about");
  name.append(element("span", "label", e.label), element("span", "soft", " not saved"));
  const act = (word) => {
    const b = button(word, () => send(`${word} ${e.label}`));
    b.setAttribute("aria-label", `${word} ${e.label}`);
    return b;
  };
  card.append(name, act("Save"), act("Discard"));
  return card;
}

let types = [];

// showTypes fills the choice of tables.
export async function showTypes() {
  types = (await call("GET", "/v1/data")).items;
  $("types").replaceChildren(...types.map((t) => {
    const option = element("option", "", t.plural);
    option.value = t.type;
    return option;
  }));
}

// showRows draws the chosen table.
export async function showRows() {
  const type = types.find((t) => t.type === $("types").value);
  if (!type) return;
  const { items, total } = await call("GET", `/v1/data/${encodeURIComponent(type.type)}?limit=100`);
  const columns = type.columns.filter((c) => items.some((row) => filled(row[c])));
  const table = element("table");
  const head = element("tr");
  head.append(...columns.map((c) => Object.assign(element("th", "", c.replaceAll("_", " ")), { scope: "col" })));
  table.createTHead().append(head);
  const body = table.createTBody();
  for (const row of items) {
    const tr = element("tr");
    tr.append(...columns.map((c) => element("td", "", shown(row[c]))));
    body.append(tr);
  }
  const caption = items.length < total ? `${items.length} of ${total}` : `${total} ${total === 1 ? type.name : type.plural}`;
  $("rows").replaceChildren(element("p", "soft", caption), ...(items.length ? [table] : []));
}

const filled = (value) => value !== null && value !== "" && value !== false && !(Array.isArray(value) && value.length === 0);

function shown(value) {
  if (!filled(value)) return "";
  if (value === true) return "yes";
  if (Array.isArray(value)) return value.map(shown).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
