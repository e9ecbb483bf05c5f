/**
 * stayAtEnd keeps the end of a list in view and returns what brings it there. parts are what in it changes its size; newest is the
 * button that is shown when the reader is elsewhere.
 */
export declare function stayAtEnd(list: HTMLElement, parts: Element[], newest: HTMLElement): () => void;
