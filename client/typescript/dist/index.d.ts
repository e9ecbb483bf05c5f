import { type Client } from "openapi-fetch";
import type { Answer, EnqueuedTurn, paths, Problem, Session, Turn } from "./api.js";
import { type FollowOptions, type Streamed } from "./events.js";
export type * from "./api.js";
export type { FollowOptions, Streamed } from "./events.js";
/** Token is a key or a signed token, or what gives one. What it gave is kept until the server refuses it; then it is asked again, with expired set. */
export type Token = string | ((expired: boolean) => string | Promise<string>);
export interface AlfredOptions {
    /** url is where the API is, such as https://alfred.example; in a page its own origin if left out. */
    url?: string;
    /** token is sent with every request; nothing for servers that ask for none. */
    token?: Token;
    fetch?: typeof fetch;
}
export interface Said {
    /** answer is the option of an open question that the message is. */
    answer?: Answer;
    /** key makes it safe to send a message again whose answer was lost: under one key it arrives once. */
    key?: string;
    signal?: AbortSignal;
}
/** AlfredError is an answer that says no. code is stable, message is for people. */
export declare class AlfredError extends Error {
    readonly status: number;
    readonly problem: Partial<Problem>;
    name: string;
    constructor(status: number, problem: Partial<Problem>);
    get code(): string;
}
/** Alfred is a client. Every answer that says no is thrown as an AlfredError; that nobody was there as fetch's TypeError. */
export declare class Alfred {
    #private;
    /** api has every route with its types: api.GET("/v1/sessions/{id}", { params: { path: { id } } }). */
    readonly api: Client<paths>;
    constructor({ url, token, fetch: send }?: AlfredOptions);
    /** here tells in which time zone the user is, for "today" and times without an offset; this browser's if left out. */
    here(timezone?: string): Promise<void>;
    /** begin starts a conversation. */
    begin(title?: string): Promise<Session>;
    /** say sends a message and waits for nothing. */
    say(session: string, message: string, { answer, key, signal }?: Said): Promise<EnqueuedTurn>;
    /** wait returns a turn when it has ended, well or not: see its status. The end of the signal ends the waiting, not the turn. */
    wait(turn: string, { signal }?: {
        signal?: AbortSignal;
    }): Promise<Turn>;
    /** ask sends a message and waits until its turn has ended. */
    ask(session: string, message: string, said?: Said): Promise<Turn>;
    /** cancel ends a turn; what was written by then stays. */
    cancel(turn: string): Promise<void>;
    /** undo takes back what a turn wrote, in a turn of its own. */
    undo(turn: string): Promise<EnqueuedTurn>;
    /**
     * followTurn yields a turn's events in order and ends with it. The text of reply.delta is provisional: reply.reset takes back
     * what came so far, and reply has all of it.
     */
    followTurn(turn: string, options?: FollowOptions): AsyncGenerator<Streamed, void, undefined>;
    /** followSession yields the events of all turns of a conversation until the signal, or until it is deleted: an AlfredError then, not_found. */
    followSession(session: string, options?: FollowOptions): AsyncGenerator<Streamed, void, undefined>;
}
/** newKey is a key for a message. */
export declare const newKey: () => string;
