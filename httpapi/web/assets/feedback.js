// What the reader thinks of a reply: a thumb, and why.

import { call } from "./api.js";
import { ask } from "./dialog.js";
import { notice } from "./notice.js";

// rate says so, or takes it back when it is said again, and answers with what is said now; null when nothing changed.
/** @param {string} turn @param {string} verdict @param {string} before */
export async function rate(turn, verdict, before) {
  const path = `/v1/turns/${turn}/feedback`;
  if (verdict === before) {
    await call("DELETE", path);
    return "";
  }
  await call("PUT", path, { verdict });
  if (verdict === "up") return verdict;
  const comment = await ask("What was wrong with it?", "In your words; leave it empty to say nothing more", "", "Send", { required: false });
  if (comment) await call("PUT", path, { verdict, comment });
  notice("Thank you. It is kept with the turn.");
  return verdict;
}
