// What is kept to be sent when its conversation is opened.

import { recall, remember } from "./store.js";

export const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

// unsent keeps a text for a conversation.
/** @param {string} session @param {string} text */
export const unsent = (session, text) => remember(`outbox:${session}`, [...recall(`outbox:${session}`) ?? [], { key: newKey(), text }]);
