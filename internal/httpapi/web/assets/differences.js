// What differs between two texts.

import { diffLines } from "diff";

// differences are the lines of both in order: {value, added, removed}.
/** @param {string} before @param {string} after @returns {{value: string, added?: boolean, removed?: boolean}[]} */
export const differences = (before, after) => diffLines(before, after);
