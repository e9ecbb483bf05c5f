// What pages and the component build with. Text enters the document as text, never as markup.

type Attributes = Record<string, unknown>;
type Child = Node | string | number | null | undefined | false;
type Element<K extends string> = K extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[K] : HTMLElement;

/**
 * h makes an element: h("button", { class: "quiet", onclick: go }, "Go", icon("go")).
 * An attribute that is false or missing is left out; a child that is null or false too.
 */
export function h<K extends string>(tag: K, attributes: Attributes = {}, ...children: (Child | Child[])[]): Element<K> {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value as EventListener);
    else if (name === "class") e.className = String(value);
    else if (value === true) e.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) e.setAttribute(name, String(value));
  }
  e.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false).map((child) => child instanceof Node ? child : String(child)));
  return e as Element<K>;
}

export const button = (text: Child, onclick: (event: MouseEvent) => void, attributes: Attributes = {}, ...more: (Child | Child[])[]) => h("button", { type: "button", onclick, ...attributes }, text, ...more);

/** iconButton has a name for those who hear it, and a tooltip for those who hover. */
export const iconButton = (name: string, label: string, onclick: (event: MouseEvent) => void, attributes: Attributes = {}) =>
  h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...attributes }, icon(name));

const paths: Record<string, string> = {
  again: "M19 12a7 7 0 1 1-2-5M18 3v4.5h-4.5",
  archive: "M4 8h16v11H4zM3 4h18v4H3zM10 12h4",
  back: "M15 5l-7 7 7 7",
  branch: "M6 4v16M6 15c0-5 11-3 11-8M14 9l3-3 3 3",
  chat: "M4 5h16v11H9l-5 4z",
  check: "M5 12.5l4.5 4.5L19 7.5",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  dash: "M6 12h12",
  down: "M12 5v14M6 13l6 6 6-6",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  menu: "M4 7h16M4 12h16M4 17h16",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  panel: "M4 5h16v14H4zM15 5v14",
  pin: "M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v5",
  plus: "M12 5v14M5 12h14",
  search: "M11 18a7 7 0 1 1 0-14 7 7 0 0 1 0 14zM16 16l4.5 4.5",
  save: "M12 4v11M7 10l5 5 5-5M5 20h14",
  send: "M12 19V6M6 11l6-6 6 6",
  stop: "M8 8h8v8H8z",
  table: "M4 5h16v14H4zM4 10h16M10 10v9",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  up: "M7 11v9H4v-9zM7 11l4-8c1.7 0 2.5 1 2.2 2.6L12.6 9H19c1 0 1.7.9 1.4 1.9l-2 7.6c-.2.9-.9 1.5-1.8 1.5H7",
  "down-thumb": "M17 13V4h3v9zM17 13l-4 8c-1.7 0-2.5-1-2.2-2.6l.6-3.4H5c-1 0-1.7-.9-1.4-1.9l2-7.6C5.8 4.6 6.5 4 7.4 4H17",
  warn: "M12 4l9 16H3zM12 10v4M12 17h.01",
};

export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", paths[name] ?? "");
  svg.append(path);
  return svg;
}

