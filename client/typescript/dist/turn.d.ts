import type { Answer, EnqueuedTurn, Question, Streamed, Turn, TurnLine } from "./index.js";
import { type Card } from "./cards.js";
import type { Wording } from "./wording.js";
export interface Doings {
    say: (text: string, answer?: Answer) => void;
    stop: (turn: string) => void;
    undo: (turn: string) => void;
    announce: (text: string) => void;
}
export type Begun = Pick<EnqueuedTurn, "id" | "number" | "status"> & {
    message: string;
};
export declare class TurnView {
    #private;
    readonly words: Wording;
    readonly turn: Begun;
    readonly on: Doings;
    readonly item: HTMLElement;
    status: Turn["status"];
    constructor(words: Wording, turn: Begun, on: Doings, name: string);
    get isOpen(): boolean;
    connection(there: boolean): void;
    hear(event: Streamed): void;
    ask({ id, options }: Pick<Question, "id" | "options">): void;
    closeQuestion(): void;
    end(turn: Pick<Turn | TurnLine, "status" | "reply" | "said" | "error">, aloud: boolean): void;
    told({ undo, undoes, unwritten }: Pick<Turn, "undo" | "undoes" | "unwritten">, cards: Card[]): void;
}
