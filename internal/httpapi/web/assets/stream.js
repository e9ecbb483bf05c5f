// A conversation's events as they happen, from the stream that all tabs of this browser share.

import { ApiError } from "./api.js";
import { lost, reachable } from "./connection.js";
import { address } from "./dom.js";
import { askForKey, authorization } from "./key.js";

const hub = address("hub");
const signOfLife = 20000; // ms
const hiddenFor = 60000; // ms; then a page that nobody sees and that waits for nothing lets go of the stream

/** @type {MessagePort | null} */
let port = null;
let names = 0; // each watch has its own: what was told of one before is not heard

// connect finds the hub: shared with the other tabs, or our own where there are no SharedWorkers.
async function connect() {
  if (port) return port;
  if ("SharedWorker" in window) {
    try {
      const worker = new SharedWorker(hub, { type: "module" });
      port = worker.port;
      port.start();
      return port;
    } catch { /* a browser that has them and forbids them */ }
  }
  const { join } = await import(hub);
  const channel = new MessageChannel();
  join(channel.port1);
  port = channel.port2;
  port.start();
  return port;
}

// events yields {id, type, data} after the given id, for ever, and ends when the conversation is deleted. A cut is
// told by {type: "cut"}, its end by {type: "resumed"}; nothing is lost or told twice between them.
/** @param {string} session @param {string} after @param {AbortSignal} signal @param {() => boolean} busy */
export async function* events(session, after, signal, busy) {
  const heard = [];
  let wake = () => {};
  let last = after;
  let hiddenAt = 0;
  const to = await connect();
  let name = 0;
  let sent = {};
  const watch = () => {
    sent = authorization();
    to.postMessage({ watch: { name, session, after: last }, headers: sent });
  };
  const anew = () => { names += 1; name = names; watch(); };
  const leave = () => { if (name === names) to.postMessage({ watch: null, headers: authorization() }); };
  const hear = ({ data }) => { if (data.name === name) heard.push(data); wake(); };
  const look = () => {
    const seen = document.visibilityState === "visible";
    hiddenAt = seen ? 0 : hiddenAt || Date.now();
    if (hiddenAt && !busy() && Date.now() - hiddenAt > hiddenFor) leave();
    else watch();
  };
  const again = () => to.postMessage({ again: true });
  const timer = setInterval(look, signOfLife);
  const over = new AbortController();
  const until = { signal: over.signal };
  to.addEventListener("message", hear, until);
  document.addEventListener("visibilitychange", look, until);
  window.addEventListener("pagehide", leave, until);
  window.addEventListener("pageshow", look, until);
  window.addEventListener("online", again, until);
  signal.addEventListener("abort", () => wake(), until);
  try {
    anew();
    for (;;) {
      while (!heard.length && !signal.aborted) await new Promise((resolve) => { wake = () => resolve(null); });
      if (signal.aborted) return;
      const { event, cut, away, resumed, gone, refused } = heard.shift();
      if (gone) return;
      if (event) {
        last = event.id;
        yield event;
      } else if (resumed) {
        yield { type: "resumed" };
      } else if (cut) {
        if (busy()) yield { type: "cut" };
        if (away) lost();
        reachable().then(again);
      } else if (refused?.status === 401) {
        await askForKey(sent);
        anew();
      } else if (refused) {
        throw new ApiError(refused.status, refused.problem);
      }
    }
  } finally {
    leave();
    clearInterval(timer);
    over.abort();
  }
}
