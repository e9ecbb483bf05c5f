// Whether the server can be reached: says so when it cannot, and tries again.

import { $ } from "./dom.js";
import { authorization } from "./key.js";

const firstPause = 500;
const longestPause = 10000;

/** @type {{promise?: Promise<void>, resolve?: () => void}} */
let waiting = null; // {promise, resolve} while the server is away
let timer = 0;
let pause = firstPause;

async function probe() {
  clearTimeout(timer);
  // A route that reads the database: a server without it cannot be reached either.
  const answer = await fetch("/v1/user", { cache: "no-store", headers: authorization() }).catch(() => null);
  if (!waiting) return;
  if (answer && !away(answer.status)) {
    $("banner").hidden = true;
    const { resolve } = waiting;
    waiting = null;
    resolve();
    return;
  }
  clearTimeout(timer);
  timer = setTimeout(probe, pause);
  pause = Math.min(pause * 2, longestPause);
}

// away: a proxy without a server behind it, or a server that is stopping or is without its database.
export const away = (status) => [502, 503, 504].includes(status);

// lost is called by who got no answer.
export function lost() {
  if (waiting) return;
  waiting = {};
  waiting.promise = new Promise((resolve) => { waiting.resolve = resolve; });
  pause = firstPause;
  $("banner").hidden = false;
  timer = setTimeout(probe, pause);
}

// reachable resolves at once, or when the server is there again.
export const reachable = () => waiting?.promise ?? Promise.resolve();

// A device that wakes up, or is in reach of a network again, need not wait for the timer.
function wake() {
  if (waiting && document.visibilityState === "visible") {
    pause = firstPause;
    probe();
  }
}
window.addEventListener("online", wake);
document.addEventListener("visibilitychange", wake);
$("try-now").addEventListener("click", wake);
