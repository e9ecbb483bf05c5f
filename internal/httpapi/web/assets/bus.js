// How the parts of the page hear of each other without knowing each other.
//
//   session        another conversation is shown, or none
//   loaded         nothing: its turns are there
//   registry       {current_turn, items}: what the conversation knows now
//   stale          what is shown may have changed: a turn ended, a row or draft was changed
//   turn           {id, number, status}: a turn was added or has changed its status
//   inspect        {id, number}: somebody asks how this turn came about
//   busy           whether a turn waits or runs
//   stop           nothing: the turn that runs is to end
//   say            {text, answer}: the user speaks by a button, which may be an option of a question
//   edit           {message, number}: what was said is to be said otherwise
//   began          id: the conversation that a first message waited for is there
//   saved          labels: drafts were saved by hand
//   open           a row or draft that the conversation knows: it is to be shown

/** @import { Entity, EntityPage, Session } from "../../../../client/typescript/dist/api" */
/**
 * @typedef {object} Heard
 * @property {Session | null} session
 * @property {undefined} loaded
 * @property {Pick<EntityPage, "current_turn" | "items">} registry
 * @property {undefined} stale
 * @property {{id: string, number: number, status: string}} turn
 * @property {{id: string, number: number}} inspect
 * @property {{text: string, answer?: import("../../../../client/typescript/dist/api").Answer}} say
 * @property {{message: string, number: number}} edit
 * @property {string} began
 * @property {boolean} busy
 * @property {undefined} stop
 * @property {string[]} saved
 * @property {Entity} open
 */

const bus = new EventTarget();

/** @type {<K extends keyof Heard>(name: K, detail?: Heard[K]) => void} */
export const emit = (name, detail) => { bus.dispatchEvent(new CustomEvent(name, { detail })); };

/** @type {<K extends keyof Heard>(name: K, heard: (detail: Heard[K]) => void) => void} */
export const on = (name, heard) => { bus.addEventListener(name, (/** @type {CustomEvent} */ event) => heard(event.detail)); };
