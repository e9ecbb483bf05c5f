// The little of Markdown that replies are written in, as elements. All else, HTML above all, stays the text it is.

import { h } from "./dom.js";

const bullet = /^\s*[-*•]\s+(.*)$/;
const numbered = /^\s*(\d{1,3})[.)]\s+(.*)$/;
const heading = /^#{1,6}\s+(.*)$/;
const fence = /^\s*```/;
const inlineMarks = /(\*\*[^*\n]+\*\*|`[^`\n]+`|(?<![\w*])\*[^*\s](?:[^*\n]*[^*\s])?\*(?![\w*]))/;

function inline(text) {
  return text.split(inlineMarks).map((part) => {
    if (part.length > 4 && part.startsWith("**") && part.endsWith("**")) return h("strong", {}, part.slice(2, -2));
    if (part.length > 2 && part.startsWith("`") && part.endsWith("`")) return h("code", {}, part.slice(1, -1));
    if (part.length > 2 && part.startsWith("*") && part.endsWith("*")) return h("em", {}, part.slice(1, -1));
    return part;
  });
}

// run takes the lines that a rule fits, beginning at from.
function run(lines, from, rule) {
  let to = from;
  while (to < lines.length && rule.test(lines[to])) to += 1;
  return to;
}

// render turns a text into block elements.
export function render(text) {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks = [];
  for (let i = 0; i < lines.length;) {
    const line = lines[i];
    if (line.trim() === "") {
      i += 1;
    } else if (fence.test(line)) {
      let end = i + 1;
      while (end < lines.length && !fence.test(lines[end])) end += 1;
      blocks.push(h("pre", {}, lines.slice(i + 1, end).join("\n")));
      i = end + 1;
    } else if (heading.test(line)) {
      blocks.push(h("h3", {}, inline(heading.exec(line)[1])));
      i += 1;
    } else if (bullet.test(line)) {
      const end = run(lines, i, bullet);
      blocks.push(h("ul", {}, lines.slice(i, end).map((l) => h("li", {}, inline(bullet.exec(l)[1])))));
      i = end;
    } else if (numbered.test(line)) {
      const end = run(lines, i, numbered);
      blocks.push(h("ol", { start: numbered.exec(line)[1] }, lines.slice(i, end).map((l) => h("li", {}, inline(numbered.exec(l)[2])))));
      i = end;
    } else {
      const from = i;
      while (i < lines.length && lines[i].trim() !== "" && ![fence, heading, bullet, numbered].some((rule) => rule.test(lines[i]))) i += 1;
      blocks.push(h("p", {}, lines.slice(from, i).flatMap((l, n) => n ? [h("br"), ...inline(l)] : inline(l))));
    }
  }
  return blocks;
}
