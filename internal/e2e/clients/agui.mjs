// AG-UI's own client, pointed at Alfred: two runs of one thread. It checks every event and their order itself.
import { HttpAgent } from "@ag-ui/client";

const agent = new HttpAgent({
  url: process.env.ALFRED_API + "/v1/agui",
  headers: { Authorization: "Bearer " + process.env.ALFRED_KEY },
  threadId: "tab 1",
});
const runs = [];
for (const content of ["Read my recipes", "And now?"]) {
  const events = [];
  agent.addMessage({ id: "message-" + runs.length, role: "user", content });
  await agent.runAgent({ runId: "run-" + runs.length }, { onEvent: ({ event }) => { events.push(event.type); } });
  runs.push(events);
}

// The same run once more is the turn that it was.
await agent.runAgent({ runId: "run-1" });

const stranger = new HttpAgent({ url: process.env.ALFRED_API + "/v1/agui", threadId: "tab 1" });
stranger.addMessage({ id: "m", role: "user", content: "hi" });
let refused;
try {
  await stranger.runAgent({ runId: "x" });
} catch (e) {
  refused = e.message;
}
console.log(JSON.stringify({ runs, refused, messages: agent.messages, state: agent.state }));
process.exit(0);
