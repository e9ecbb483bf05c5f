/** dropOptions takes a list out of a text that says nothing but what these labels say. */
export declare function dropOptions(root: HTMLElement, labels: string[]): void;
