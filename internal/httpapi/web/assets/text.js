// Replies as elements: Markdown, with rows that can be opened. What renders Markdown comes after the first screen.

import { button } from "./dom.js";
import { literally } from "./format.js";

/** @type {((text: string) => DocumentFragment) | null} */
let make = null;
const loading = () => import("../../../../client/typescript/src/markdown.ts").then(({ fragment }) => { make = fragment; });

// prepare fetches what renders Markdown: a reply is on its way. Where it fails it is asked for again when there is something to write.
export const prepare = () => { loading().catch(() => {}); };

/** @type {WeakMap<Element, string>} */
const wanted = new WeakMap();

// write shows a text in an element, as plain text until Markdown can be rendered.
/** @param {HTMLElement} into @param {string} text @param {() => void} [done] */
export function write(into, text, done = () => {}) {
  wanted.set(into, text);
  if (make) {
    into.replaceChildren(make(text));
    done();
    return;
  }
  into.replaceChildren(text);
  loading().then(() => { if (wanted.get(into) === text) write(into, text, done); }).catch(() => {}); // it stays plain
}

// put shows elements in place of a text that may still be waiting to be rendered.
/** @param {HTMLElement} into @param {Node[]} nodes */
export function put(into, ...nodes) {
  wanted.delete(into);
  into.replaceChildren(...nodes);
}

/** @typedef {{label: string, open: () => void}} Named */

// link makes the names of rows in an element into buttons that open them.
/** @param {HTMLElement} root @param {Named[]} named */
export function link(root, named) {
  const names = new Map(named.filter(({ label }) => label.trim().length > 2).map((n) => [n.label, n]));
  if (!names.size) return;
  const longest = [...names.keys()].sort((a, b) => b.length - a.length).map(literally);
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${longest.join("|")})(?![\\p{L}\\p{N}])`, "gu");
  eachText(root, (text) => {
    const parts = text.data.split(pattern);
    if (parts.length === 1) return;
    text.replaceWith(...parts.map((part, i) => i % 2 ? button(part, names.get(part).open, { class: "link row-link" }) : part));
  });
}

// openMore makes what a list leaves out, "… and 152 more", into a button.
/** @param {HTMLElement} root @param {() => void} open */
export function openMore(root, open) {
  eachText(root, (text) => {
    const match = /(?:…|\.\.\.) and \d[\d,]* more/.exec(text.data);
    if (!match) return;
    text.replaceWith(text.data.slice(0, match.index), button(match[0], open, { class: "link" }), text.data.slice(match.index + match[0].length));
  });
}

/** @param {HTMLElement} root @param {(text: Text) => void} each */
function eachText(root, each) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest("a, button, code, pre") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  /** @type {any[]} */
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts) each(text);
}
