// How values are written for people.

import type { Usage } from "./api.js";

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const exact = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const number = new Intl.NumberFormat();

export const count = (n: number) => number.format(n);

export const plural = (n: number, one: string, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

export const exactTime = (at: string) => exact.format(new Date(at));

/** when is short: the time today, the day before that. */
export function when(at: string): string {
  const date = new Date(at);
  return date.toDateString() === new Date().toDateString() ? clock.format(date) : day.format(date);
}

export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "";
  return ms < 1000 ? `${count(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

export const money = (usd: number) => usd > 0 ? `$${usd < 0.01 ? usd.toFixed(5) : usd.toFixed(3)}` : "";

/** spent sums up what calls of models used: "2 calls · 1,024 in · 80 out · $0.002". */
export function spent({ calls, input_tokens: input, output_tokens: output, cached_tokens: cached, cost_usd: cost }: Omit<Usage, "calls"> & { calls?: number }): string {
  const tokens = `${count(input)} in${cached ? ` (${count(cached)} cached)` : ""} · ${count(output)} out`;
  return [calls === undefined ? "" : plural(calls, "call"), tokens, money(cost)].filter(Boolean).join(" · ");
}

export const words = (name: string) => name.replaceAll("_", " ");

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** spoken is a name of the database as people read it: orderItem and order_item are "order item", SKU stays. */
export const spoken = (name: string) => words(/[a-z0-9][A-Z]/.test(name) ? name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase() : name);

/** columnTitle is what people call a column: a reference, as those are whose names end in id or begin with it, by what it refers to. */
export const columnTitle = (column: string, references?: string) => capital(spoken(column).replace(references ? /^id | (id|key|uuid|guid)$/ : / id$/, ""));

/** literally is a text that stands for itself in a pattern. */
export const literally = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

export const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)
  || (typeof value === "object" && Object.keys(value).length === 0);

const rangeText = /^[[(]"?(\d{4}-\d\d-\d\d[^",]*)?"?,"?(\d{4}-\d\d-\d\d[^",]*)?"?([\])])$/;
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

// range says from when to when a range of days or times goes: a day that ends it without being part of it is the day after. Any other text is unchanged.
function range(text: string): string {
  const [found, from, to, end] = rangeText.exec(text) ?? [];
  if (!found || !from && !to) return text;
  const days = (from ?? to)!.length === 10;
  const at = (bound: string, later = 0) => {
    const date = new Date(days ? `${bound}T00:00` : bound.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00"));
    date.setDate(date.getDate() + later);
    return date;
  };
  const format = days ? day : moment;
  if (!to) return `from ${format.format(at(from!))}`;
  const last = at(to, days && end === ")" ? -1 : 0);
  return from ? format.formatRange(at(from), last) : `until ${format.format(last)}`;
}

/** shown writes a value of a row. */
export function shown(value: any, kind?: string): string {
  if (isEmpty(value)) return "";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value)) return value.map((item) => shown(item)).join(", ");
  if (typeof value === "string" && /^[[(]/.test(value)) return range(value);
  if (kind === "timestamp") return when(value);
  if (kind === "date") return day.format(new Date(`${value}T00:00`));
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
