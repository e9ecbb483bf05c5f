// What went right or wrong, said in passing.

import { ApiError, Unreachable } from "./api.js";
import { $, button, h, iconButton } from "./dom.js";

const shownFor = 6000; // ms, unless there is something to do about it

// notice shows a line. action is {text, run}.
export function notice(text, { bad = false, action = null } = {}) {
  const line = h("div", { class: bad ? "notice bad" : "notice" }, h("span", {}, text));
  const end = () => line.remove();
  if (action) line.append(button(action.text, () => { end(); action.run(); }));
  line.append(iconButton("close", "Dismiss", end));
  $("notices").append(line);
  if (!action && !bad) setTimeout(end, shownFor);
}

export const clearNotices = () => $("notices").replaceChildren();

// guarded says what went wrong, and answers nothing then. That the server is away the banner says.
/**
 * @template T
 * @param {() => T | Promise<T>} work
 * @returns {Promise<T | undefined>}
 */
export async function guarded(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) notice(error.message, { bad: true });
    else if (!(error instanceof Unreachable)) throw error;
    return undefined;
  }
}
