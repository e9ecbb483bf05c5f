// Rows and drafts as cards that open.

import type { Alfred, Artifact, RowType, ToolResult, Wrote } from "./index.js";
import { button, h } from "./dom.js";
import { columnTitle, isEmpty, shown } from "./format.js";
import type { Wording } from "./wording.js";

const most = 6; // cards before the rest is asked for

export interface Card { ref: string; kind: string; label: string; fields: [string, string][]; action?: Wrote["action"] }

/** Types are the kinds of rows there are, read once. */
export class Types {
  #all: Promise<RowType[]> | null = null;

  constructor(readonly alfred: Alfred) {}

  async all(): Promise<RowType[]> {
    this.#all ??= this.alfred.api.GET("/v1/data").then(({ data }) => data?.items ?? []);
    try {
      return await this.#all;
    } catch (error) {
      this.#all = null; // what failed is asked again
      throw error;
    }
  }
}

const isPart = (types: RowType[], name: string) => types.some((parent) => parent.children.some((child) => child.type === name));

const nameOf = (type: RowType) => type.columns.find((c) => type.fields.some((f) => f.name === c && f.kind === "text")) ?? type.columns[0] ?? "";

// fieldsOf are a row's values with their columns' titles, in the order of the type's form; parts of the row last.
function fieldsOf(types: RowType[], type: RowType, row: Record<string, any>): [string, string][] {
  const own = type.fields.filter((f) => f.name !== nameOf(type)).flatMap((f): [string, string][] => {
    const value = f.references ? row[`_${f.name}_label`] : row[f.name];
    return isEmpty(value) ? [] : [[columnTitle(f.name, f.references), shown(value, f.kind)]];
  });
  const parts = type.children.flatMap((child): [string, string][] => {
    const part = types.find((t) => t.type === child.type);
    const rows: Record<string, any>[] = Array.isArray(row[child.table]) ? row[child.table] : [];
    return part && rows.length ? [[columnTitle(part.plural), rows.map((r) => shown(r[nameOf(part)])).filter(Boolean).join("\n")]] : [];
  });
  return [...own, ...parts];
}

/** cardsOf are the rows that a turn has read or written, each once as it was seen last. */
export function cardsOf(types: RowType[], results: ToolResult[], wrote: Wrote[]): Card[] {
  const cards = new Map<string, Card>();
  for (const result of results) {
    const type = types.find((t) => t.type === result.entity_type);
    if (!type || isPart(types, type.type)) continue;
    result.rows.forEach((row, i) => {
      const ref = result.refs[i];
      const label = shown(row[nameOf(type)]);
      if (ref && label && !ref.startsWith("gen_")) cards.set(ref, { ref, kind: type.name, label, fields: fieldsOf(types, type, row) });
    });
  }
  const alone = wrote.every(({ type }) => isPart(types, type)); // parts are told with their rows
  for (const { action, type: name, ref, label } of wrote) {
    const type = types.find((t) => t.type === name);
    if (type && (alone || !isPart(types, name))) cards.set(ref, { fields: [], ...cards.get(ref), ref, kind: type.name, label, action });
  }
  return [...cards.values()];
}

export function draftCard(types: RowType[], { ref, type: name, label, content }: Artifact): Card | null {
  const type = types.find((t) => t.type === name);
  return type ? { ref, kind: type.name, label, fields: fieldsOf(types, type, content) } : null;
}

export function drawCard(words: Wording, { ref, kind, label, fields, action }: Card, buttons: HTMLElement[] = []): HTMLElement {
  const name = action === "deleted" ? h("s", {}, label) : h("b", { dir: "auto" }, label);
  const card = h("details", { class: buttons.length ? "" : "card", part: "card", "data-ref": ref },
    h("summary", {}, h("span", { class: "kind" }, buttons.length ? `${words.notSaved} · ${kind}` : action ? `${words[action]} · ${kind}` : kind), name),
    h("dl", {}, fields.map(([title, value]) => h("div", {}, h("dt", {}, title), h("dd", {}, value)))));
  return buttons.length ? h("div", { class: "card draft" }, card, h("div", { class: "buttons" }, buttons)) : card;
}

/** drawCards shows the first of them; the rest is behind a button. */
export function drawCards(words: Wording, cards: Card[]): HTMLElement[] {
  if (!cards.length) return [];
  const grid = h("div", { class: "cards" }, cards.slice(0, most).map((card) => drawCard(words, card)));
  if (cards.length <= most) return [grid];
  const more = button(`${cards.length - most} ${words.more}`, () => {
    const rest = cards.slice(most).map((card) => drawCard(words, card));
    grid.append(...rest);
    rest[0]?.querySelector("summary")?.focus();
    more.remove();
  }, { class: "quiet" });
  return [grid, more];
}
