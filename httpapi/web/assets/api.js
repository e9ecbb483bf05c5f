// The API as the page uses it. A key, where the server asks for one, lives in this tab only.

export class ApiError extends Error {
  constructor(problem) {
    super(problem.detail || "Something went wrong.");
    this.code = problem.code;
    this.status = problem.status;
  }
}

const key = () => sessionStorage.getItem("key");

function headers(extra) {
  return key() ? { Authorization: `Bearer ${key()}`, ...extra } : { ...extra };
}

export async function call(method, path, body, extra = {}) {
  const response = await fetch(path, {
    method,
    headers: headers(body === undefined ? extra : { "Content-Type": "application/json", ...extra }),
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (response.status === 204) return null;
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new ApiError({ status: response.status, ...answer });
  return answer;
}

const last = ["turn.finished", "turn.failed", "turn.cancelled"];

// events yields {id, type, data} of a turn until its end. EventSource cannot send a key, so the stream is read by hand;
// a lost connection is taken up again after the last event, and {type: "connection", lost} tells of it.
export async function* events(turnId, signal) {
  let seen = "";
  let lost = false;
  for (let pause = 500; !signal.aborted; pause = Math.min(pause * 2, 10000)) {
    try {
      const response = await fetch(`/v1/turns/${turnId}/events`, { headers: headers(seen ? { "Last-Event-ID": seen } : {}), signal });
      if (response.status === 204) return;
      if (!response.ok) throw new ApiError({ status: response.status, ...(await response.json().catch(() => ({}))) });
      if (lost) yield { type: "connection", lost: false };
      lost = false;
      for await (const event of parse(response.body)) {
        seen = event.id;
        pause = 500;
        yield event;
        if (last.includes(event.type)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status < 500) throw error;
    }
    if (!lost) yield { type: "connection", lost: true };
    lost = true;
    await new Promise((resolve) => { setTimeout(resolve, pause); });
  }
}

async function* parse(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      buffer += value;
      const blocks = buffer.split("\n\n");
      buffer = blocks.pop();
      for (const block of blocks) {
        const fields = Object.fromEntries(block.split("\n").filter((line) => !line.startsWith(":"))
          .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()]));
        if (fields.data) yield { id: fields.id, type: fields.event, data: JSON.parse(fields.data) };
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
