type Attributes = Record<string, unknown>;
type Child = Node | string | number | null | undefined | false;
type Element<K extends string> = K extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[K] : HTMLElement;
/**
 * h makes an element: h("button", { class: "quiet", onclick: go }, "Go", icon("go")).
 * An attribute that is false or missing is left out; a child that is null or false too.
 */
export declare function h<K extends string>(tag: K, attributes?: Attributes, ...children: (Child | Child[])[]): Element<K>;
export declare const button: (text: Child, onclick: (event: MouseEvent) => void, attributes?: Attributes, ...more: (Child | Child[])[]) => HTMLButtonElement;
/** iconButton has a name for those who hear it, and a tooltip for those who hover. */
export declare const iconButton: (name: string, label: string, onclick: (event: MouseEvent) => void, attributes?: Attributes) => HTMLButtonElement;
export declare function icon(name: string): SVGSVGElement;
export {};
