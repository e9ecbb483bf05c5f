// A stream of server-sent events over as many connections as it takes.
const silence = 45_000; // ms; the server says something each 15 s
const firstPause = 250;
const longestPause = 5000;
const pause = (ms, signal) => new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
});
/**
 * follow yields events until they are over: at a turn's end, when there is nothing more to tell, or at the signal. A lost
 * connection is taken up again where it broke. What connect refuses for good it throws.
 */
export async function* follow(connect, ends, options = {}) {
    const { signal, onConnection = () => { } } = options;
    let last = options.after ?? "";
    let wait = firstPause;
    while (!signal?.aborted) {
        const attempt = new AbortController();
        const stop = () => attempt.abort();
        signal?.addEventListener("abort", stop, { once: true });
        let silent = setTimeout(stop, silence);
        try {
            const response = await connect(last, attempt.signal);
            if (response?.status === 204)
                return;
            if (response?.body) {
                onConnection(true);
                const heard = () => { clearTimeout(silent); silent = setTimeout(stop, silence); };
                for await (const { id, type, data } of parseEvents(response.body, heard)) {
                    if (!type)
                        continue;
                    last = id ?? last;
                    wait = firstPause;
                    yield { id: last, type, data };
                    if (ends && isLast(type))
                        return;
                }
            }
        }
        catch (error) {
            if (signal?.aborted)
                return;
            if (!isLost(error))
                throw error;
        }
        finally {
            clearTimeout(silent);
            signal?.removeEventListener("abort", stop);
            attempt.abort();
        }
        if (signal?.aborted)
            return;
        onConnection(false);
        await pause(wait, signal);
        wait = Math.min(wait * 2, longestPause);
    }
}
/** isLost says whether an error is one of the connection, and not an answer: fetch throws TypeError, and what is given up AbortError. */
export const isLost = (error) => error instanceof TypeError || (error instanceof DOMException && error.name === "AbortError");
export const isLast = (type) => type === "turn.finished" || type === "turn.failed" || type === "turn.cancelled";
/** parseEvents reads a stream's blocks. heard is called for each piece that comes, comments too. */
export async function* parseEvents(body, heard = () => { }) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let buffer = "";
    try {
        for (;;) {
            const { done, value } = await reader.read();
            if (done)
                return;
            heard();
            const blocks = (buffer + value).split("\n\n");
            buffer = blocks.pop() ?? "";
            for (const block of blocks)
                yield fieldsOf(block);
        }
    }
    finally {
        reader.cancel().catch(() => { }); // it is gone already, or goes now
    }
}
function fieldsOf(block) {
    const fields = {};
    for (const line of block.split("\n")) {
        const colon = line.indexOf(":");
        if (colon > 0)
            fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
    }
    if (!fields.data)
        return {};
    return { ...fields.id !== undefined && { id: fields.id }, ...fields.event !== undefined && { type: fields.event }, data: JSON.parse(fields.data) };
}
