// Replies are Markdown. What a model writes as HTML stays the text it is; what comes of the rest is sanitised all the same.

import DOMPurify from "dompurify";
import { micromark } from "micromark";
import { gfmAutolinkLiteral, gfmAutolinkLiteralHtml } from "micromark-extension-gfm-autolink-literal";
import { gfmStrikethrough, gfmStrikethroughHtml } from "micromark-extension-gfm-strikethrough";
import { gfmTable, gfmTableHtml } from "micromark-extension-gfm-table";

const options = {
  extensions: [gfmAutolinkLiteral(), gfmStrikethrough({ singleTilde: false }), gfmTable()],
  htmlExtensions: [gfmAutolinkLiteralHtml(), gfmStrikethroughHtml(), gfmTableHtml()],
};

const allowed = {
  ALLOWED_TAGS: ["a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li", "ol", "p", "pre", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul"],
  ALLOWED_ATTR: ["align", "alt", "href", "start"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
};

/** fragment turns a text into elements. */
export function fragment(text: string): DocumentFragment {
  const made = DOMPurify.sanitize(micromark(text, options), { ...allowed, RETURN_DOM_FRAGMENT: true });
  for (const link of made.querySelectorAll("a")) {
    if (!link.getAttribute("href")) link.replaceWith(...link.childNodes);
    else Object.assign(link, { target: "_blank", rel: "noopener noreferrer" });
  }
  for (const picture of made.querySelectorAll("img")) picture.replaceWith(picture.alt); // nothing is loaded from elsewhere
  for (const title of made.querySelectorAll("h1, h2, h4, h5, h6")) { // the page has its own outline; a reply's titles are all of one rank in it
    const same = document.createElement("h3");
    same.append(...title.childNodes);
    title.replaceWith(same);
  }
  for (const table of made.querySelectorAll("table")) {
    const frame = document.createElement("div");
    Object.assign(frame, { className: "table", tabIndex: 0 });
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", "Table");
    table.replaceWith(frame);
    frame.append(table);
  }
  return made;
}
