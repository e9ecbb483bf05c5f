// OpenAI's own client, pointed at Alfred: a message, a streamed one in the same session, a refusal, the models.
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.ALFRED_API + "/v1", apiKey: process.env.ALFRED_KEY, maxRetries: 0 });
const ask = (content) => ({ model: "alfred", messages: [{ role: "user", content }] });

const { data, response } = await client.chat.completions.create(ask("Read my recipes")).withResponse();
const session = response.headers.get("x-session-id");

const stream = await client.chat.completions.create(
  { ...ask("And now?"), stream: true, stream_options: { include_usage: true } },
  { headers: { "X-Session-Id": session } },
);
const streamed = { text: "", usage: null, finish: null };
for await (const chunk of stream) {
  streamed.text += chunk.choices[0]?.delta.content ?? "";
  streamed.finish = chunk.choices[0]?.finish_reason ?? streamed.finish;
  streamed.usage = chunk.usage ?? streamed.usage;
}

let refused;
try {
  await client.chat.completions.create({ ...ask("hi"), model: "nobody" });
} catch (e) {
  refused = { kind: e.constructor.name, status: e.status, code: e.code, param: e.param };
}
const models = await client.models.list();
console.log(JSON.stringify({
  session, streamed, refused,
  reply: data.choices[0].message.content, finish: data.choices[0].finish_reason, usage: data.usage,
  models: models.data.map((m) => m.id),
}));
