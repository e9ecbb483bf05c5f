/** fragment turns a text into elements. */
export declare function fragment(text: string): DocumentFragment;
