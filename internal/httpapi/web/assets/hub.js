// One stream for all tabs of a browser: HTTP/1.1 gives a host six connections, and a stream holds one. It runs in a
// SharedWorker, or in the page itself where there is none. Tabs say each while what they watch:
//
//   {watch: {name, session, after}, headers}   tell what happens in this session after that event; null: nothing
//   {again: true}                              the server is there again: do not wait
//
// and hear, with the name of their watch, {event}, {cut: true, away}, {resumed: true}, {gone: true} or
// {refused: {status, problem}}.

import { parseEvents } from "../../../../client/typescript/src/events.ts";

const silence = 40000; // ms; the server says something each 15 s
const forgotten = 180000; // ms; tabs speak each 20 s, those out of sight each minute: who does not is gone
const gathering = 20; // ms; tabs come in bursts
const firstPause = 200;
const longestPause = 5000;
const tooMany = 429; // another program has all the streams that the key may open

/** @typedef {{watch: {name: number, session: string, after: string} | null, headers: string, heardAt: number, cut: boolean, tell: (what: object) => void}} Member */

/** @type {Set<Member>} */
const members = new Set();
/** @type {Map<string, ReturnType<typeof streamOf>>} */
const streams = new Map(); // by who asks: tabs may have different keys

// join takes in a tab at the other end of a port.
/** @param {MessagePort} port */
export function join(port) {
  /** @type {Member} */
  const member = { watch: null, headers: "{}", heardAt: Date.now(), cut: false, tell: (what) => port.postMessage({ ...what, name: member.watch?.name }) };
  port.onmessage = ({ data }) => {
    member.heardAt = Date.now();
    members.add(member);
    if (data.again) streams.get(member.headers)?.again();
    if (!("watch" in data)) return;
    const headers = JSON.stringify(data.headers);
    if (headers === member.headers && data.watch?.name === member.watch?.name) return;
    const before = member.headers;
    Object.assign(member, { watch: data.watch, headers, cut: false });
    for (const each of new Set([before, headers])) change(each);
  };
  port.start();
}

const watching = (headers) => [...members].filter((m) => m.watch && m.headers === headers);

// change brings the stream to what its tabs watch now.
function change(headers) {
  streams.get(headers)?.stop();
  streams.delete(headers);
  if (watching(headers).length) streams.set(headers, streamOf(headers));
}

function streamOf(headers) {
  let stopped = false;
  let attempt = new AbortController();
  let heardAt = Date.now();
  let wake = () => {};
  let pause = firstPause;

  const look = setInterval(() => {
    for (const m of watching(headers)) {
      if (Date.now() - m.heardAt < forgotten) continue;
      members.delete(m);
      m.watch = null;
      change(headers);
    }
    if (Date.now() - heardAt > silence) attempt.abort(); // a sleeping device does not notice that a connection is gone
  }, 5000);

  // read answers whether nobody was there.
  async function read() {
    const told = watching(headers);
    const query = told.map(({ watch }) => `session=${watch.session}${watch.after ? `.${watch.after}` : ""}`).join("&");
    const response = await fetch(`/v1/events?${query}`, { headers: JSON.parse(headers), signal: attempt.signal }).catch(() => null);
    if (!response || [502, 503, 504].includes(response.status)) return true; // nobody there, or a proxy without a server behind it
    if (!response.ok) return refused(told, response);
    for (const m of told) if (m.cut) m.tell({ resumed: true });
    for (const m of told) m.cut = false;
    for await (const event of parseEvents(response.body, () => { heardAt = Date.now(); })) {
      pause = firstPause;
      if (event.type) pass(told, event);
    }
    return false;
  }

  /** @param {Member[]} told @param {{id?: string, type?: string, data?: any}} event */
  function pass(told, { id, type, data }) {
    const [n, number, seq] = id.split(".");
    const member = told[Number(n) - 1];
    if (!member?.watch) return;
    if (type === "session.deleted") {
      member.tell({ gone: true });
      member.watch = null;
      return;
    }
    member.watch.after = `${number}.${seq}`;
    member.tell({ event: { id: member.watch.after, type, data } });
  }

  async function refused(told, response) {
    if (response.status >= 500 || response.status === tooMany) return false;
    const problem = await response.json().catch(() => ({}));
    for (const m of told) {
      m.tell({ refused: { status: response.status, problem } });
      m.watch = null;
    }
    return false;
  }

  async function run() {
    await new Promise((resolve) => { setTimeout(resolve, gathering); });
    while (!stopped && watching(headers).length) {
      attempt = new AbortController();
      heardAt = Date.now();
      const away = await read().catch(() => false);
      if (stopped) break;
      for (const m of watching(headers)) {
        if (!m.cut || away) m.tell({ cut: true, away });
        m.cut = true;
      }
      await new Promise((resolve) => { wake = () => resolve(null); setTimeout(resolve, pause); });
      pause = Math.min(pause * 2, longestPause);
    }
    clearInterval(look);
  }
  run();
  return {
    stop: () => { stopped = true; clearInterval(look); attempt.abort(); wake(); },
    again: () => { pause = firstPause; wake(); },
  };
}

// In a SharedWorker each tab connects; in a page nothing does.
if (!("document" in globalThis)) globalThis.addEventListener("connect", (/** @type {MessageEvent} */ event) => join(event.ports[0]));
