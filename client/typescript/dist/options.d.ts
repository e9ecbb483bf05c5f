import type { Turn } from "./index.js";
/** dropOptions takes a list out of a text that says nothing but what these labels say. */
export declare function dropOptions(root: HTMLElement, labels: string[]): void;
/**
 * dropUndo takes out of a reply the paragraph on undoing its turn: the button or the line below says the same, and what has been undone cannot be
 * again.
 */
export declare function dropUndo(root: HTMLElement, undo: Turn["undo"]): void;
