import type { Usage } from "./api.js";
export declare const count: (n: number) => string;
export declare const plural: (n: number, one: string, many?: string) => string;
export declare const exactTime: (at: string) => string;
/** when is short: the time today, the day before that. */
export declare function when(at: string): string;
export declare function duration(ms: number | null | undefined): string;
export declare const money: (usd: number) => string;
/** spent sums up what calls of models used: "2 calls · 1,024 in · 80 out · $0.002". */
export declare function spent({ calls, input_tokens: input, output_tokens: output, cached_tokens: cached, cost_usd: cost }: Omit<Usage, "calls"> & {
    calls?: number;
}): string;
export declare const words: (name: string) => string;
export declare const capital: (text: string) => string;
/** spoken is a name of the database as people read it: orderItem and order_item are "order item", SKU stays. */
export declare const spoken: (name: string) => string;
/** columnTitle is what people call a column: a reference, as those are whose names end in id or begin with it, by what it refers to. */
export declare const columnTitle: (column: string, references?: string) => string;
/** literally is a text that stands for itself in a pattern. */
export declare const literally: (text: string) => string;
export declare const isEmpty: (value: unknown) => boolean;
/** shown writes a value of a row. */
export declare function shown(value: any, kind?: string): string;
