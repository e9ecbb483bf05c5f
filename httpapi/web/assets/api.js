// The API as the page uses it. A key, where the server asks for one, lives in this tab only.

export class ApiError extends Error {
  constructor(problem) {
    super(problem.detail || "Something went wrong.");
    this.code = problem.code;
    this.status = problem.status;
    this.turnId = problem.turn_id;
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

// events yields {id, type, data} of a turn until its end. EventSource cannot send
// a key, so the stream is read by hand; a lost connection resumes after the last event.
export async function* events(turnId) {
  let last = "";
  for (;;) {
    try {
      const response = await fetch(`/v1/turns/${turnId}/events`, { headers: headers(last ? { "Last-Event-ID": last } : {}) });
      if (!response.ok) throw new ApiError({ status: response.status, ...(await response.json().catch(() => ({}))) });
      for await (const event of parse(response.body)) {
        last = event.id;
        yield event;
        if (["turn.finished", "turn.failed", "turn.cancelled"].includes(event.type)) return;
      }
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

async function* parse(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
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
}
