// A conversation's events as they happen. EventSource cannot send a key, so the stream is read by hand.

import { ApiError, Unreachable, request } from "./api.js";
import { reachable } from "./connection.js";

const silence = 40000; // ms; the server says something each 15 s
const hiddenFor = 60000; // ms; then a page that nobody sees and that waits for nothing lets go of the stream
const firstPause = 200;
const longestPause = 5000;
const tooMany = 429; // other tabs have all the streams that the key may open: one of them will be closed

const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

const shown = () => document.visibilityState === "visible" ? Promise.resolve()
  : new Promise((resolve) => { document.addEventListener("visibilitychange", resolve, { once: true }); });

// events yields {id, type, data} after the given id, for ever, and ends when the conversation is deleted. A cut is
// told by {type: "cut"}, its end by {type: "resumed"}; nothing is lost or told twice between them.
export async function* events(session, after, signal, busy) {
  let last = after;
  let cut = false;
  for (let pause = firstPause; !signal.aborted; pause = Math.min(pause * 2, longestPause)) {
    const attempt = watch(signal, busy);
    try {
      const response = await request(`/v1/sessions/${session}/events`, { signal: attempt.signal, headers: last ? { "Last-Event-ID": last } : {} });
      if (cut) yield { type: "resumed" };
      cut = false;
      for await (const event of parse(response.body, attempt.heard)) {
        pause = firstPause;
        if (event.id) last = event.id;
        if (event.type) yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status === 404) return;
      if (error instanceof ApiError && error.status < 500 && error.status !== tooMany) throw error;
      if (error instanceof Unreachable) pause = firstPause;
    } finally {
      attempt.stop();
    }
    if (signal.aborted) return;
    if (!cut && busy()) yield { type: "cut" };
    cut = true;
    await sleep(pause);
    await reachable();
    if (!busy()) await shown();
  }
}

// watch ends an attempt that has gone silent: a connection that a sleeping device has lost says nothing of it.
function watch(signal, busy) {
  const control = new AbortController();
  let heardAt = Date.now();
  let hiddenAt = 0;
  const look = () => {
    if (document.visibilityState === "visible") hiddenAt = 0;
    else hiddenAt ||= Date.now();
    if (Date.now() - heardAt > silence || (hiddenAt && !busy() && Date.now() - hiddenAt > hiddenFor)) control.abort();
  };
  const again = () => control.abort();
  const timer = setInterval(look, 5000);
  document.addEventListener("visibilitychange", look);
  window.addEventListener("online", again);
  signal.addEventListener("abort", again);
  return {
    signal: control.signal,
    heard: () => { heardAt = Date.now(); },
    stop: () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
      window.removeEventListener("online", again);
      signal.removeEventListener("abort", again);
      control.abort();
    },
  };
}

async function* parse(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      const blocks = (buffer + value).split("\n\n");
      buffer = blocks.pop();
      for (const block of blocks) yield fieldsOf(block);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function fieldsOf(block) {
  const fields = {};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
  }
  return fields.data ? { id: fields.id, type: fields.event, data: JSON.parse(fields.data) } : {};
}
