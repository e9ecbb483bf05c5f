// A conversation as a file: Markdown to read, JSON to work with.

import { whole } from "./api.js";
import { h } from "./dom.js";
import { plain } from "./turn.js";

/** @import { Session, TurnLine } from "../../../../client/typescript/dist/api" */

// download hands a text over as a file.
export function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

export const fileName = (title) => (title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "conversation").toLowerCase();

// exportSession downloads a conversation as kind, "md" or "json".
/** @param {Session} session @param {"md" | "json"} kind */
export async function exportSession(session, kind) {
  /** @type {TurnLine[]} */
  const turns = await whole(`/v1/sessions/${session.id}/turns`);
  const name = `${fileName(session.title)}.${kind}`;
  if (kind === "json") return download(name, "application/json", JSON.stringify({ ...session, turns }, null, 2));
  const said = turns.map((t) => `## You, ${new Date(t.created_at).toLocaleString()}\n\n${plain(t.message)}\n\n## Alfred\n\n${t.reply ?? t.error?.message ?? ""}\n`);
  return download(name, "text/markdown", `# ${session.title || "Conversation"}\n\n${said.join("\n")}`);
}
