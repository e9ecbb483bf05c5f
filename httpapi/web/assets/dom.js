// What every part of the page builds with. Text enters the document as text, never as markup.

export const $ = (id) => document.getElementById(id);

export function element(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

export function button(text, action) {
  const e = element("button", "", text);
  e.type = "button";
  e.addEventListener("click", action);
  return e;
}

export function notice(text) { $("notice").textContent = text; }
