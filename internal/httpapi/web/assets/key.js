// The key, where the server asks for one. It lives in this tab only.

import { $ } from "./dom.js";

export function authorization() {
  const key = sessionStorage.getItem("key");
  return key ? { Authorization: `Bearer ${key}` } : {};
}

let asking = null;

// askForKey resolves when the person has given one; whether it is right the next request says. A late refusal of what was sent
// before the person gave the present one does not ask again.
/** @param {{Authorization?: string}} sent with the request that was refused */
export async function askForKey(sent) {
  if (sent.Authorization !== authorization().Authorization) return;
  asking ??= new Promise((resolve) => {
    const dialog = $("key-dialog");
    $("key-wrong").hidden = !sessionStorage.getItem("key");
    $("key").value = "";
    dialog.addEventListener("close", () => {
      sessionStorage.setItem("key", $("key").value.trim());
      asking = null;
      resolve();
    }, { once: true });
    dialog.showModal();
  });
  await asking;
}

$("key-dialog").addEventListener("cancel", (event) => event.preventDefault()); // nothing works without one
