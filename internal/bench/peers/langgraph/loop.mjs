// A plain agent loop on LangGraph.js: one model with tools, and the conversation as its messages. It reads a recorded
// conversation and has it again with the recorded answers and results. It prints each call of the model: which messages
// are new, how many of the oldest it was not sent, and what it answered.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { AIMessage, HumanMessage, ToolMessage, trimMessages } from "@langchain/core/messages";
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const { values } = parseArgs({ options: { turns: { type: "string", default: "0" } } }); // 0: the whole history
const kept = Number(values.turns);
const { turns } = JSON.parse(readFileSync(0, "utf8"));

const said = (m) => [m.content, ...(m.tool_calls ?? []).flatMap((c) => [c.name, JSON.stringify(c.args)])].join("");
const isHuman = (m) => m.getType() === "human";
const window = (messages) => trimMessages(messages, { strategy: "last", startOn: "human", maxTokens: kept, tokenCounter: (list) => list.filter(isHuman).length });

let turn = 0;
let told = 0; // messages that were printed
async function agent({ messages }) {
  const history = kept ? await window(messages) : messages;
  const asked = messages.findLastIndex(isHuman);
  const round = messages.slice(asked).filter((m) => m.tool_calls?.length).length;
  const { rounds, reply } = turns[turn];
  const uses = rounds?.[round] ?? [];
  const answer = new AIMessage({ content: uses.length ? "" : reply, tool_calls: uses.map((u, i) => ({ id: `${turn}.${round}.${i}`, name: u.tool, args: u.args })) });
  const calls = uses.map((u) => ({ name: u.tool, args: u.args }));
  console.log(JSON.stringify({ turn, added: messages.slice(told).map(said), skipped: messages.length - history.length, text: answer.content, calls }));
  told = messages.length;
  return { messages: [answer] };
}

function work({ messages }) {
  const answer = messages.at(-1);
  return {
    messages: answer.tool_calls.map((c) => {
      const [, round, i] = c.id.split(".").map(Number);
      return new ToolMessage({ tool_call_id: c.id, name: c.name, content: JSON.stringify(turns[turn].rounds[round][i].rows) });
    }),
  };
}

const graph = new StateGraph(MessagesAnnotation)
  .addNode("agent", agent)
  .addNode("tools", work)
  .addEdge(START, "agent")
  .addConditionalEdges("agent", ({ messages }) => (messages.at(-1).tool_calls?.length ? "tools" : END), ["tools", END])
  .addEdge("tools", "agent")
  .compile({ checkpointer: new MemorySaver() });

for (; turn < turns.length; turn++) {
  await graph.invoke({ messages: [new HumanMessage(turns[turn].message)] }, { configurable: { thread_id: "one" } });
}
