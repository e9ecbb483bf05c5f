// Turns on LangGraph.js with its Postgres checkpointer: a graph of six nodes, a checkpoint after each, durability "sync".
// The row that a turn writes, and what else is kept (keep.mjs), are in transactions of their own: the checkpointer offers no
// other.
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import pg from "pg";
import { keeper, schema } from "./keep.mjs";

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    sessions: { type: "string", default: "1" },
    turns: { type: "string", default: "100" },
    history: { type: "string", default: "0" },
    keep: { type: "string", default: "" }, // file of what is to be kept of each turn, besides the checkpoints
  },
});
const [sessions, turns, history] = [values.sessions, values.turns, values.history].map(Number);
const nodes = ["understand", "think", "read", "write", "reply", "summarize"];
// Connections that are not needed for a while stay: their processor time is read at the end.
const pool = new pg.Pool({ connectionString: values.url, max: 20, idleTimeoutMillis: 0 });
await pool.query(schema);
const keep = keeper(pool, values.keep);

const answer = (node, turn) => `${node} of turn ${turn}: ${"the user wants milk on the list; ".repeat(9)}`;

async function work(node, { owner, turn }) {
  let said = answer(node, turn);
  if (node === "read") {
    const { rows } = await pool.query("SELECT coalesce(string_agg(name, ','), '') AS names FROM (SELECT name FROM shopping WHERE owner = $1 ORDER BY id DESC LIMIT 12) AS x", [owner]);
    said += rows[0].names;
  }
  if (node === "write") {
    await pool.query("INSERT INTO shopping (owner, name) VALUES ($1, $2)", [owner, `milk ${turn}`]);
  }
  await keep(owner, turn, node);
  return { messages: [{ role: node, content: said }] };
}

const state = Annotation.Root({
  messages: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
  owner: Annotation(),
  turn: Annotation(),
});
const builder = new StateGraph(state);
nodes.forEach((node) => builder.addNode(node, (s) => work(node, s)));
[START, ...nodes].forEach((node, i) => builder.addEdge(node, nodes[i] ?? END));
const checkpointer = new PostgresSaver(pool);
await checkpointer.setup();
const graph = builder.compile({ checkpointer });

// Only the last state is read again, so most turns of the history keep just that: a thousand turns would take many minutes. The last of
// them are like the measured ones.
const prepared = 3;
async function phase(from, count) {
  const took = [];
  await Promise.all(
    Array.from({ length: sessions }, async (_, s) => {
      const owner = `user ${s}`;
      for (let n = 0; n < count; n++) {
        const began = performance.now();
        const message = { role: "user", content: `put milk on the list, ${from + n}` };
        const durability = from + n < history - prepared ? "exit" : "sync";
        await graph.invoke({ messages: [message], owner, turn: from + n }, { configurable: { thread_id: owner }, durability });
        took.push(performance.now() - began);
      }
    }),
  );
  return took;
}

await phase(0, history);
const lines = createInterface({ input: process.stdin });
const told = () => new Promise((resolve) => lines.once("line", resolve));
console.log("seeded");
await told();
const began = performance.now();
const took = (await phase(history, turns)).sort((a, b) => a - b);
const seconds = (performance.now() - began) / 1000;
const at = (q) => took[Math.min(Math.floor(q * took.length), took.length - 1)];
console.log(JSON.stringify({ sessions, turns: took.length, seconds, p50_ms: at(0.5), p99_ms: at(0.99) }));
await told();
process.exit(0);
