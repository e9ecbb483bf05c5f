// A list whose end stays in view, whatever grows or shrinks, unless the reader has scrolled up. What shrinks scrolls too, and may
// have grown again before that is heard: only what happens at one size, or under the reader's hand, is the reader's doing.
const touched = 500; // ms; scrolling goes on for a while after a hand
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
    list.addEventListener("scroll", () => {
        const isReader = size === sizeNow() || performance.now() - handAt < touched;
        if (list.scrollHeight - list.scrollTop - list.clientHeight < near)
            atEnd = true;
        else if (isReader && list.scrollTop < top - 2)
            atEnd = false;
        if (atEnd && !isReader)
            follow();
        else
            settle();
    });
    for (const hand of ["wheel", "touchmove", "pointerdown", "keydown"])
        list.addEventListener(hand, () => { handAt = performance.now(); }, { passive: true });
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
