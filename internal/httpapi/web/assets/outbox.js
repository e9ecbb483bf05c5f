// Messages on their way. One that does not arrive stays here, also over a reload, and is sent again under the same
// key when the server is back, so that it arrives once.

import { ApiError, Unreachable } from "./api.js";
import { emit } from "./bus.js";
import { reachable } from "./connection.js";
import { deliver } from "./conversation.js";
import { $, button, h } from "./dom.js";
import { notice } from "./notice.js";
import { forget, recall, remember } from "./store.js";
import { toEnd } from "./turn.js";
import { newKey } from "./unsent.js";

// fresh stands for the conversation that begins with its first message.
export const fresh = "new";

let session = null;
/** @type {{key: string, text: string, answer?: import("../../../../client/typescript/dist/api").Answer}[]} */
let items = [];
let tried = false; // the first has failed once
/** @type {(text: string, error: Error | null) => void} */
let refused = () => {};
/** @type {() => Promise<string>} */
let begin = async () => fresh;

// openOutbox shows a conversation's. no(text, error) is given back what the server refuses; start() makes the conversation
// that a first message waits for and answers with its id.
export function openOutbox(id, no, start) {
  begin = start;
  session = id;
  items = recall(`outbox:${id}`) ?? [];
  refused = no;
  tried = false;
  draw();
  if (items.length) flush(id);
}

export function closeOutbox() {
  session = null;
  items = [];
  draw();
}

// post sends a text, or keeps it until it can be sent. answer is the option of a question that it is.
/** @param {string} text @param {import("../../../../client/typescript/dist/api").Answer} [answer] */
export function post(text, answer) {
  items.push({ key: newKey(), text, answer });
  keep();
  if (items.length === 1) flush(session);
}

// takeAll empties the outbox into one text: the conversation is gone.
export function takeAll() {
  const text = items.map((item) => item.text).join("\n\n");
  items = [];
  keep();
  return text;
}

// move takes what was written for a new conversation into it.
async function move() {
  const id = await begin();
  if (session !== fresh) return; // another is shown meanwhile; the text waits where new ones begin
  remember(`outbox:${id}`, items);
  forget(`outbox:${fresh}`);
  items = [];
  emit("began", id);
}

async function flush(id) {
  while (session === id && items.length) {
    const [first] = items;
    try {
      if (id === fresh) return await move();
      await deliver(id, first.text, first.key, first.answer);
      done(id, first);
    } catch (error) {
      if (error instanceof Unreachable) {
        tried = true;
        draw();
        await reachable();
      } else if (error instanceof ApiError) {
        done(id, first);
        if (session === id) refused(first.text, error);
      } else {
        throw error;
      }
    }
  }
}

function done(id, item) {
  tried = false;
  if (session !== id) {
    const left = (recall(`outbox:${id}`) ?? []).filter((other) => other.key !== item.key);
    if (left.length) remember(`outbox:${id}`, left);
    else forget(`outbox:${id}`);
    return;
  }
  items = items.filter((other) => other !== item);
  keep();
}

function keep() {
  if (items.length) remember(`outbox:${session}`, items);
  else forget(`outbox:${session}`);
  draw();
}

function draw() {
  $("outbox").replaceChildren(...items.map((item) => h("li", { class: "unsent" }, h("p", { class: "said" }, item.text),
    tried && h("p", { class: "soft" }, "Not sent yet. ", button("Take back", () => {
      items = items.filter((other) => other !== item);
      keep();
      refused(item.text, null);
    }, { class: "quiet" })))));
  if (items.length) toEnd();
}

// explain says why a message was refused.
export function explain(error, reopen) {
  if (error?.code === "session_archived") notice("This conversation is archived.", { bad: true, action: { text: "Reopen it", run: reopen } });
  else if (error?.code === "question_closed") notice("That question is closed. Say it in words.", { bad: true });
  else if (error) notice(error.message, { bad: true });
}
