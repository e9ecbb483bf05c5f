// What a reply says that stands below it as well.

import type { Turn } from "./index.js";

const plain = (text: string | null) => (text ?? "").trim().replace(/[.?!]$/, "").toLowerCase();

/** dropOptions takes a list out of a text that says nothing but what these labels say. */
export function dropOptions(root: HTMLElement, labels: string[]): void {
  const known = new Set(labels.map(plain));
  const list = [...root.querySelectorAll("ul, ol")].findLast((l) => [...l.children].every((item) => known.has(plain(item.textContent))));
  list?.remove();
}

const canBeUndone = "This can be undone.";

/**
 * dropUndo takes out of a reply the paragraph on undoing its turn: the button or the line below says the same, and what has been undone cannot be
 * again.
 */
export function dropUndo(root: HTMLElement, undo: Turn["undo"]): void {
  const below = [canBeUndone, undo?.reason ?? canBeUndone].map(plain);
  if (undo) [...root.querySelectorAll("* + p")].find((p) => below.includes(plain(p.textContent)))?.remove();
}
