// Alfred's API from TypeScript, in browsers and in Node.
import createClient from "openapi-fetch";
import { follow } from "./events.js";
/** AlfredError is an answer that says no. code is stable, message is for people. */
export class AlfredError extends Error {
    status;
    problem;
    name = "AlfredError";
    constructor(status, problem) {
        super([problem.detail ?? `The server answered ${status}.`, ...problem.errors ?? []].join(" "));
        this.status = status;
        this.problem = problem;
    }
    get code() { return this.problem.code ?? "internal"; }
}
const passing = (status) => status >= 500 || status === 429;
/** Alfred is a client. Every answer that says no is thrown as an AlfredError; that nobody was there as fetch's TypeError. */
export class Alfred {
    /** api has every route with its types: api.GET("/v1/sessions/{id}", { params: { path: { id } } }). */
    api;
    #url;
    #token;
    #send;
    #kept = null;
    #asked = null;
    constructor({ url = "", token = "", fetch: send = fetch } = {}) {
        this.#url = url.replace(/\/$/, "");
        this.#token = token;
        this.#send = (...request) => send(...request); // a browser's fetch must not be called on an object
        this.api = createClient({ baseUrl: this.#url, fetch: (request) => this.#request(request) });
    }
    async #request(request) {
        const again = typeof this.#token === "function" ? request.clone() : null;
        const token = await this.#tokenNow();
        let response = await this.#signed(request, token);
        if (response.status === 401 && again)
            response = await this.#signed(again, await this.#tokenNow(token));
        if (response.ok)
            return response;
        throw new AlfredError(response.status, await response.json().catch(() => ({})));
    }
    #signed(request, token) {
        if (token)
            request.headers.set("Authorization", `Bearer ${token}`);
        return this.#send(request);
    }
    // #tokenNow is the token there is, or another one in place of what was refused, asked for once by all that wait for it.
    async #tokenNow(refused) {
        const give = this.#token;
        if (typeof give === "string")
            return give;
        if (this.#kept !== null && this.#kept !== refused)
            return this.#kept;
        this.#asked ??= (async () => {
            try {
                this.#kept = await give(refused !== undefined);
                return this.#kept;
            }
            finally {
                this.#asked = null;
            }
        })();
        return this.#asked;
    }
    /** here tells in which time zone the user is, for "today" and times without an offset; this browser's if left out. */
    async here(timezone = Intl.DateTimeFormat().resolvedOptions().timeZone) {
        await this.api.PATCH("/v1/user", { body: { timezone } });
    }
    /** begin starts a conversation. */
    async begin(title = "") {
        return whole(await this.api.POST("/v1/sessions", { body: { title } }));
    }
    /** say sends a message and waits for nothing. */
    async say(session, message, { answer, key = newKey(), signal } = {}) {
        return whole(await this.api.POST("/v1/sessions/{id}/turns", {
            params: { path: { id: session }, header: { "Idempotency-Key": key } }, body: { message, ...answer && { answer } }, ...signal && { signal },
        }));
    }
    /** wait returns a turn when it has ended, well or not: see its status. The end of the signal ends the waiting, not the turn. */
    async wait(turn, { signal } = {}) {
        for (;;) {
            const found = whole(await this.api.GET("/v1/turns/{id}", { params: { path: { id: turn }, query: { wait: "30s" } }, ...signal && { signal } }));
            if (found.status !== "queued" && found.status !== "running")
                return found;
        }
    }
    /** ask sends a message and waits until its turn has ended. */
    async ask(session, message, said = {}) {
        return this.wait((await this.say(session, message, said)).id, said);
    }
    /** cancel ends a turn; what was written by then stays. */
    async cancel(turn) {
        await this.api.POST("/v1/turns/{id}/cancel", { params: { path: { id: turn } } });
    }
    /** undo takes back what a turn wrote, in a turn of its own. */
    async undo(turn) {
        return whole(await this.api.POST("/v1/turns/{id}/undo", { params: { path: { id: turn } } }));
    }
    /**
     * followTurn yields a turn's events in order and ends with it. The text of reply.delta is provisional: reply.reset takes back
     * what came so far, and reply has all of it.
     */
    followTurn(turn, options = {}) {
        return follow((after, signal) => this.#stream(`/v1/turns/${encodeURIComponent(turn)}/events`, after, signal), true, options);
    }
    /** followSession yields the events of all turns of a conversation until the signal, or until it is deleted: an AlfredError then, not_found. */
    followSession(session, options = {}) {
        return follow((after, signal) => this.#stream(`/v1/sessions/${encodeURIComponent(session)}/events`, after, signal), false, options);
    }
    // #stream is null where trying again may help.
    async #stream(path, after, signal) {
        try {
            return await this.#request(new Request(this.#url + path, { signal, headers: after ? { "Last-Event-ID": after } : {} }));
        }
        catch (error) {
            if (error instanceof AlfredError && passing(error.status))
                return null;
            throw error;
        }
    }
}
/** newKey is a key for a message. */
export const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
// whole is what an answer says; what is none was thrown before.
const whole = ({ data }) => data;
