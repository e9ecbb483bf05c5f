// The API as the page uses it.

import { askForKey, authorization } from "./key.js";
import { away, lost, reachable } from "./connection.js";

/** @import { Problem } from "../../../../client/typescript/dist/api" */

// ApiError is an answer that says no; code is stable.
export class ApiError extends Error {
  /** @param {number} status @param {Partial<Problem>} problem */
  constructor(status, problem) {
    super([problem.detail || "Something went wrong.", ...(problem.errors ?? [])].join(" "));
    this.code = problem.code;
    this.status = status;
  }
}

// Unreachable: no answer came, so that what was asked for may or may not have happened.
export class Unreachable extends Error {
  constructor() { super("Alfred cannot be reached."); }
}

// request answers with a response that is fine, and asks for a key where the server wants one.
export async function request(path, options = {}) {
  let response;
  const sent = authorization();
  try {
    response = await fetch(path, { ...options, headers: { ...sent, ...options.headers } });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    lost();
    throw new Unreachable();
  }
  if (response.ok) return response;
  if (response.status === 401) {
    await askForKey(sent);
    return request(path, options);
  }
  if (away(response.status)) {
    lost();
    throw new Unreachable();
  }
  throw new ApiError(response.status, await response.json().catch(() => ({})));
}

/**
 * @template T what the route answers
 * @param {string} method @param {string} path @param {object} [body] @param {Record<string, string>} [headers]
 * @returns {Promise<T>}
 */
export async function call(method, path, body, headers = {}) {
  const response = await request(path, body === undefined ? { method, headers }
    : { method, headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) });
  return response.status === 204 ? null : response.json();
}

// get reads as soon as the server is there.
/** @type {<T>(path: string) => Promise<T>} */
export const get = (path) => call("GET", path).catch(async (error) => {
  if (!(error instanceof Unreachable)) throw error;
  await reachable();
  return get(path);
});

// whole reads a list to its end, or as many pages as given.
/**
 * @template T an item
 * @param {string} path @param {number} [pages]
 * @returns {Promise<T[]>}
 */
export async function whole(path, pages = Infinity) {
  const items = [];
  let cursor = "";
  for (let i = 0; i < pages; i += 1) {
    /** @type {{items: T[], next_cursor: string}} */
    const page = await get(`${path}${path.includes("?") ? "&" : "?"}limit=200&cursor=${encodeURIComponent(cursor)}`);
    items.push(...page.items);
    cursor = page.next_cursor;
    if (!cursor) break;
  }
  return items;
}
