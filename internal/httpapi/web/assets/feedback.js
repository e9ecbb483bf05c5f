// What the person thinks of a reply: a thumb, and why.

import { call } from "./api.js";
import { ask } from "./dialog.js";
import { announce, iconButton } from "./dom.js";
import { guarded } from "./notice.js";

/** @import { Feedback } from "../../../../client/typescript/dist/api" */

// thumbs are two buttons for a turn; show(given) presses the one that was chosen.
/** @param {string} turn @param {string} name */
export function thumbs(turn, name) {
  let given = "";
  const path = `/v1/turns/${turn}/feedback`;
  const up = iconButton("up", `${name} was good`, () => choose("up"), { "aria-pressed": "false" });
  const down = iconButton("down-thumb", `${name} was not good`, () => choose("down"), { "aria-pressed": "false" });
  /** @param {Pick<Feedback, "rating"> | null | undefined} feedback */
  const show = (feedback) => {
    given = feedback?.rating ?? "";
    up.setAttribute("aria-pressed", String(given === "up"));
    down.setAttribute("aria-pressed", String(given === "down"));
  };
  const choose = (rating) => guarded(async () => {
    if (given === rating) {
      await call("DELETE", path);
      show(null);
      return;
    }
    show(await call("PUT", path, { rating }));
    const text = rating === "down" && await ask("What was wrong?", "In your words (may be left empty)", "", "Send", { required: false });
    if (text) await call("PUT", path, { rating, text });
    announce("Thank you");
  });
  return { buttons: [up, down], show };
}
