// A list whose end stays in view, whatever grows or shrinks, unless the reader has scrolled up. A browser scrolls too, when
// something shrinks or moves, and says so a frame later, when the size may be the old one again. So scrolling is the reader's
// doing only under the reader's hand, or when neither the size nor anything in the list has just changed.
const touched = 500; // ms; scrolling goes on for a while after a hand
const upwards = ["ArrowUp", "PageUp", "Home"];
const near = 40; // px; so close to the end is at it
/**
 * stayAtEnd keeps the end of a list in view and returns what brings it there. parts are what in it changes its size; newest is the
 * button that is shown when the reader is elsewhere.
 */
export function stayAtEnd(list, parts, newest) {
    let atEnd = true;
    let top = 0;
    let size = "";
    let handAt = -Infinity;
    let isChanging = false;
    let frame = 0;
    const sizeNow = () => `${list.scrollHeight} ${list.clientHeight}`;
    const settle = () => {
        top = list.scrollTop;
        size = sizeNow();
        newest.hidden = atEnd;
    };
    const follow = () => {
        if (atEnd)
            list.scrollTop = list.scrollHeight;
        settle();
    };
    const hand = () => { handAt = performance.now(); };
    const changed = () => {
        isChanging = true;
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(() => { frame = requestAnimationFrame(() => { isChanging = false; }); });
    };
    list.addEventListener("scroll", () => {
        const isReader = (size === sizeNow() && !isChanging) || performance.now() - handAt < touched;
        if (list.scrollHeight - list.scrollTop - list.clientHeight < near)
            atEnd = true;
        else if (isReader && list.scrollTop < top - 2)
            atEnd = false;
        if (atEnd && !isReader)
            follow();
        else
            settle();
    });
    for (const kind of ["wheel", "touchmove"])
        list.addEventListener(kind, hand, { passive: true });
    list.addEventListener("pointerdown", (e) => { if (e.target === list)
        hand(); }); // its scrollbar
    list.addEventListener("keydown", (e) => { if (upwards.includes(e.key))
        hand(); });
    list.addEventListener("focusin", (e) => { if (e.target instanceof Element && e.target.matches(":focus-visible"))
        hand(); }); // a keyboard or a screen reader goes there
    new MutationObserver(changed).observe(list, { subtree: true, childList: true, characterData: true, attributes: true });
    const sizes = new ResizeObserver(follow);
    for (const part of [list, ...parts])
        sizes.observe(part);
    const toEnd = () => {
        atEnd = true;
        follow();
    };
    newest.addEventListener("click", toEnd);
    return toEnd;
}
