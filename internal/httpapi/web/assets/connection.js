// Whether the server can be reached: says so when it cannot, and tries again.

import { $ } from "./dom.js";

const firstPause = 500;
const longestPause = 10000;

/** @type {{promise?: Promise<void>, resolve?: () => void}} */
let waiting = null; // {promise, resolve} while the server is away
let timer = 0;
let pause = firstPause;

async function probe() {
  clearTimeout(timer);
  const answer = await fetch("/healthz", { cache: "no-store" }).catch(() => null);
  if (!waiting) return;
  if (answer?.ok) {
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

// lost is called by who got no answer.
export function lost() {
  if (waiting) return;
  waiting = {};
  waiting.promise = new Promise((resolve) => { waiting.resolve = resolve; });
  pause = firstPause;
  $("banner").hidden = false;
  probe();
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
