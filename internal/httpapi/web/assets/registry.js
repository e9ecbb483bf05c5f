// What the conversation knows now, read once for all who show it.

import { ApiError, get } from "./api.js";
import { emit, on } from "./bus.js";
import { guarded } from "./notice.js";

/** @import { EntityPage, Session } from "../../../../client/typescript/dist/api" */

const gathering = 100; // ms; events come in bursts

/** @type {Session | null} */
let session = null;
let timer = 0;
/** @type {import("../../../../client/typescript/dist/api").Entity[]} */
let items = [];
let before = ""; // what was told last: what has not changed is not drawn anew under somebody's finger

// rowOf is the row that the conversation knows by a ref.
export const rowOf = (ref) => items.find((e) => e.ref === ref && e.key);

function tell(known) {
  ({ items } = known);
  const now = JSON.stringify(known);
  if (now !== before) emit("registry", known);
  before = now;
}

async function read() {
  const { id } = session;
  /** @type {EntityPage} */
  const known = await guarded(() => get(`/v1/sessions/${id}/entities?keys=true`).catch((error) => {
    if (error instanceof ApiError && error.status === 404) return null; // deleted: the conversation says so
    throw error;
  }));
  if (known && session?.id === id) tell(known);
}

on("session", (now) => {
  session = now;
  tell({ current_turn: now?.last_turn ?? 0, items: [] });
  if (session) read();
});
function soon() {
  clearTimeout(timer);
  timer = setTimeout(() => { if (session) read(); }, gathering);
}

const tabs = new BroadcastChannel("stale"); // what is changed by hand, no stream tells the others of
tabs.onmessage = ({ data }) => { if (data === session?.id) soon(); };
on("stale", () => {
  soon();
  if (session) tabs.postMessage(session.id);
});
