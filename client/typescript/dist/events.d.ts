import type { TurnEvent } from "./api.js";
/** Streamed is one thing that happened in a turn. id is where to go on from; data always has seq, turn_id, number, type and at. */
export type Streamed = {
    [E in TurnEvent as E["type"]]: {
        id: string;
        type: E["type"];
        data: E;
    };
}[TurnEvent["type"]];
export interface FollowOptions {
    /** after is the id of the last event that is known already. */
    after?: string;
    signal?: AbortSignal;
    /** onConnection is told when the connection is lost, and when it is there again. */
    onConnection?: (there: boolean) => void;
}
/** Fields are what an event's lines say; a comment has none. */
export interface Fields {
    id?: string;
    type?: string;
    data?: any;
}
/**
 * follow yields events until they are over: at a turn's end, when there is nothing more to tell, or at the signal. A lost
 * connection is taken up again where it broke. What connect refuses for good it throws.
 */
export declare function follow(connect: (after: string, signal: AbortSignal) => Promise<Response | null>, ends: boolean, options?: FollowOptions): AsyncGenerator<Streamed, void, undefined>;
/** isLost says whether an error is one of the connection, and not an answer: fetch throws TypeError, and what is given up AbortError. */
export declare const isLost: (error: unknown) => boolean;
export declare const isLast: (type: string) => type is "turn.finished" | "turn.failed" | "turn.cancelled";
/** parseEvents reads a stream's blocks. heard is called for each piece that comes, comments too. */
export declare function parseEvents(body: ReadableStream<Uint8Array>, heard?: () => void): AsyncGenerator<Fields, void, undefined>;
