// Keeps what a node asked, was answered, read and streamed, with the statement that the peers in Go use: one per node, as
// the checkpointer takes no statements into its transaction.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const sql = (name) => readFileSync(new URL(`../work/${name}.sql`, import.meta.url), "utf8");
export const schema = sql("schema");
const statement = { name: "keep", text: sql("keep") };

const hashed = (text) => createHash("sha256").update(text).digest("hex").slice(0, 32);

// keeper returns what is called at each node; it does nothing without a file.
export function keeper(pool, file) {
  if (!file) return async () => {};
  const { texts, turns } = JSON.parse(readFileSync(file, "utf8"));
  return async (session, turn, node) => {
    for (const r of turns[turn][node] ?? []) {
      const parts = (r.parts ?? []).map(({ shared, text }) => ({ shared, text: texts[text], hash: hashed(texts[text]) }));
      const own = parts.filter((p) => !p.shared);
      const shared = parts.filter((p) => p.shared);
      const [hash, text] = [(p) => p.hash, (p) => p.text];
      const values = [session, turn, r.n, node, r.outline, parts.map(hash), r.response, own.map(hash), own.map(text), shared.map(hash), shared.map(text)];
      await pool.query({ ...statement, values: [...values, r.results, r.events] });
    }
  };
}
