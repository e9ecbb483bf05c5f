import type { Alfred, Artifact, RowType, ToolResult, Wrote } from "./index.js";
import type { Wording } from "./wording.js";
export interface Card {
    ref: string;
    kind: string;
    label: string;
    fields: [string, string][];
    action?: Wrote["action"];
}
/** Types are the kinds of rows there are, read once. */
export declare class Types {
    #private;
    readonly alfred: Alfred;
    constructor(alfred: Alfred);
    all(): Promise<RowType[]>;
}
/** cardsOf are the rows that a turn has read or written, each once as it was seen last. */
export declare function cardsOf(types: RowType[], results: ToolResult[], wrote: Wrote[]): Card[];
export declare function draftCard(types: RowType[], { ref, type: name, label, content }: Artifact): Card | null;
export declare function drawCard(words: Wording, { ref, kind, label, fields, action }: Card, buttons?: HTMLElement[]): HTMLElement;
/** drawCards shows the first of them; the rest is behind a button. */
export declare function drawCards(words: Wording, cards: Card[]): HTMLElement[];
