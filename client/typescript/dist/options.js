// What a reply lists that the buttons below it say.
const plain = (text) => (text ?? "").trim().replace(/[.?!]$/, "").toLowerCase();
/** dropOptions takes a list out of a text that says nothing but what these labels say. */
export function dropOptions(root, labels) {
    const known = new Set(labels.map(plain));
    const list = [...root.querySelectorAll("ul, ol")].findLast((l) => [...l.children].every((item) => known.has(plain(item.textContent))));
    list?.remove();
}
