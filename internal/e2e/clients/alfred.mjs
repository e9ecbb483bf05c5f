// Our own client as it is published: a reply that is waited for, a stream whose connection is cut after each event, a problem.
import { Alfred, AlfredError } from "alfred-client";

let connections = 0;
const cutting = async (request) => {
  const response = await fetch(request);
  if (!request.url.includes("/events") || response.status !== 200) return response;
  connections += 1;
  let seen = "";
  const once = new TransformStream({ transform(piece, to) {
    seen += new TextDecoder().decode(piece);
    const end = seen.indexOf("\n\n", seen.indexOf("id:"));
    if (seen.indexOf("id:") < 0 || end < 0) return;
    to.enqueue(new TextEncoder().encode(seen.slice(0, end + 2)));
    to.terminate();
  } });
  return new Response(response.body.pipeThrough(once), { status: 200, headers: response.headers });
};
const alfred = new Alfred({ url: process.env.ALFRED_API, token: () => process.env.ALFRED_KEY, fetch: cutting });
const { id } = await alfred.begin("Packed");
const { reply } = await alfred.ask(id, "Read my recipes");

await alfred.say(id, "And now?", { key: "one" });
const made = await alfred.say(id, "And now?", { key: "one" });
const kinds = [];
let streamed = "";
for await (const { type, data } of alfred.followTurn(made.id)) {
  if (type !== "reply.delta" && type !== "reply.reset") kinds.push(type);
  if (type === "reply") streamed = data.text;
}
let code = "";
try {
  await alfred.wait("00000000-0000-7000-8000-000000000000");
} catch (error) {
  if (error instanceof AlfredError) ({ code } = error);
}
const { data } = await alfred.api.GET("/v1/sessions/{id}/turns", { params: { path: { id } } });
console.log(JSON.stringify({ reply, code, streamed, kinds, connections, turns: data.items.length }));
process.exit(0);
