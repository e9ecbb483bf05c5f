// What a program in TypeScript may write, and may not.
import { Alfred, type Streamed, type Turn } from "alfred-client";

const alfred = new Alfred({ url: "http://localhost:8080" });
const turn: Turn = await alfred.ask("id", "hello");
const text: string | null = turn.reply;

function heard(event: Streamed): string {
  if (event.type === "reply.delta") return event.data.text;
  if (event.type === "plan") return event.data.steps.map((step) => step.description).join();
  // @ts-expect-error a turn that has begun says nothing yet
  if (event.type === "turn.started") return event.data.text;
  return "";
}
// @ts-expect-error there is no such route
await alfred.api.GET("/v1/nothing");
console.log(text, heard);
