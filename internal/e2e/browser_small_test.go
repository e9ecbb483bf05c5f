package e2e_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// Y10: a form says what is wrong in plain words, is not lost by a key press, and starts with the first field to fill
// in. A thing has one name, singular or plural, and an empty result says what was searched for.
func TestY10Forms(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.click(`#types [data-type="inv"]`)
	b.shows("#row-count", "12 pantry items")
	require.Equal(t, "Pantry items|New pantry item", b.eval(`document.querySelector("#title").textContent + "|" + document.querySelector("#new-row").textContent`))
	b.fill("#find-row", "rice")
	b.shows("#row-count", "1 pantry item")
	b.click("#row-table tbody button")
	b.until(`document.activeElement.matches("dialog[open] input")`)
	b.fill(`dialog[open] [name="quantity"]`, "-1")
	b.click("dialog[open] [type=submit]")
	b.until(`!document.querySelector("dialog[open] [role=alert]").hidden`)
	wrong := b.text("dialog[open] [role=alert]")
	require.NotContains(t, wrong, "::")
	require.NotContains(t, wrong, ">=")
	require.Contains(t, wrong, "Quantity")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.shows("dialog[open]:last-of-type h2", "Discard your changes?")
	b.click("dialog[open]:last-of-type .buttons button")
	b.until(`document.querySelector('dialog[open] [name="quantity"]').value === "-1"`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.click("dialog[open]:last-of-type .danger")
	b.counts("dialog[open]", 0)
	b.fill("#find-row", "qqqq")
	b.shows("#row-table", "Nothing matches “qqqq”.")

	// A single row is changed, not created again.
	b.click(`#types [data-type="pref"]`)
	b.shows("#title", "Preferences")
	b.until(`document.querySelector("#row-table tbody tr, #row-table .none") !== null`)
	if b.eval(`document.querySelector("#row-table tbody tr") === null`) == "true" {
		b.click("#new-row")
		b.click("dialog[open] [type=submit]")
		b.counts("#row-table tbody tr", 1)
	}
	require.Equal(t, "true|", b.eval(`(document.querySelector("#new-row")?.hidden ?? true) + "|" + document.querySelector("#row-count").textContent`))

	b.click("#new-session")
	b.keys("@Basmati")
	b.until(`document.querySelector("#mentions li") !== null`)
	require.Equal(t, "Basmati ricepantry item", b.text("#mentions li"))
	b.requireNoTrouble()
}

// Y10: a notice covers nothing that can be pressed; long words break; a draft saved by hand is not asked for again.
func TestY10Conversation(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("Draft a Thai basil chicken")
	b.lastReply(1)
	b.until(`document.querySelector("` + answers + `") !== null || document.querySelector("#drafts .card") !== null`)
	b.click("#drafts .card .primary")
	b.counts("#drafts .card", 0)
	b.shows(".turn:last-child .stopped", "You saved Thai Basil Chicken.")
	require.Empty(t, b.answers(), "nothing is asked that was answered by hand")
	b.until(`document.querySelector("#notices .notice") !== null`)
	for _, size := range sizes {
		b.do(chromedp.EmulateViewport(size.width, size.height))
		require.Equal(t, "true", b.eval(`(() => {
			const [notices, send] = ["#notices", "#send"].map((s) => document.querySelector(s).getBoundingClientRect());
			return notices.bottom <= send.top || notices.top >= send.bottom || notices.right <= send.left || notices.left >= send.right;
		})()`), "%s: it covers Send", size.name)
	}
	b.do(chromedp.EmulateViewport(390, 780))
	b.eval(`document.querySelector(".turn:last-child .reply").append(Object.assign(document.createElement("p"), {id: "long", textContent: "unhurried ".repeat(60)}))`)
	require.Equal(t, "false", b.eval(`(() => { // a word that stands on two lines has two boxes
		const text = document.querySelector("#long").firstChild;
		return [...text.data.matchAll(/\S+/g)].some((m) => {
			const range = document.createRange();
			range.setStart(text, m.index);
			range.setEnd(text, m.index + m[0].length);
			return range.getClientRects().length > 1;
		});
	})()`), "words break within")
	b.requireNoTrouble()
}

// Y10: equal decisions of one turn are one line in Memory, however many rows they concern.
func TestY10DecisionsAreGrouped(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("What is in my pantry?")
	b.lastReply(1)
	_, err := h.pool.Exec(t.Context(), `INSERT INTO decisions (session_id, user_id, turn_number, action, ref, reason, actor)
		SELECT s.id, s.user_id, 1, 'demote', 'inv_' || n, 'out of mind', 'assistant' FROM sessions AS s, generate_series(1, 80) AS n`)
	require.NoError(t, err)
	b.click("#toggle-inspector")
	b.click("#tab-memory")
	b.shows("#panel .many summary", "80 rows")
	b.counts("#panel .many", 1)
	b.look("decisions")
	b.requireNoTrouble()
}

// Y10: a menu stands where it can be read and pressed, nothing is cut off at its edge, and words of a table are whole.
func TestY10NothingIsCutOff(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("Draft a Thai basil chicken")
	b.lastReply(1)
	b.counts("#drafts .card", 1)
	require.Empty(t, b.eval(`[...document.querySelectorAll("button, a")].map((e) => [e, getComputedStyle(e)])
		.filter(([, s]) => s.overflowX === "hidden" && parseFloat(s.paddingLeft) < parseFloat(s.borderTopLeftRadius)).map(([e]) => e.outerHTML).join()`), "a round corner takes a piece of a letter")
	inside := `[...document.querySelectorAll("details[open] > .menu-list button")].map((e) => e.getBoundingClientRect())
		.every((box) => box.width < 300 && box.left >= 0 && box.right <= innerWidth && box.bottom <= innerHeight)`
	whole := `[...document.querySelectorAll("#row-table td > span")].some((e) => {
		const range = document.createRange();
		range.selectNodeContents(e.firstChild ?? e);
		return e.textContent === "mediterranean" && range.getClientRects().length === 1;
	})`
	for _, size := range sizes {
		b.do(chromedp.EmulateViewport(size.width, size.height))
		for _, menu := range []string{"#top .menu summary", "#sessions .menu summary"} {
			b.click(menu)
			b.until(`document.querySelector("details[open] > .menu-list button") !== null && ` + inside)
			b.click(menu)
			b.eval(`document.querySelector("#toggle-sidebar").click()`) // where it is shown, the second menu is in the drawer
		}
		b.eval(`document.querySelector('#types [data-type="recipe"]').click()`)
		b.until(whole)
		require.Equal(t, "true", b.eval(`document.querySelector("#find-row").getBoundingClientRect().width > 140`), "%s: no room to search", size.name)
		b.eval(`history.back()`)
		b.until(`document.querySelector("#turns").offsetParent !== null`)
	}
	b.requireNoTrouble()
}

// Y10: an address of something deleted or somebody else's is not answered with another conversation as if that were meant.
func TestY10AddressOfNothing(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("Show my recipes")
	b.lastReply(1)
	for _, gone := range []string{"01a21a65-9c6c-7df7-9f82-e072b09f1799", "rows/nothing"} {
		b.click("#new-session")
		b.counts("#notices .notice", 0)
		b.eval(`location.hash = "` + gone + `"`)
		b.shows("#notices", "The address names nothing that is here")
		b.counts(".turn", 1)
	}
	b.requireNoTrouble()
}

// Y10: a draft that was saved in one tab is not offered to be saved in another.
func TestY10DraftSavedInAnotherTab(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	p := h.resident("ada")
	b := browse(t)
	b.enter(p, h.url)
	b.say("Draft a Thai basil chicken")
	b.lastReply(1)
	other := b.another()
	other.enter(p, h.url)
	other.counts("#drafts .card", 1)
	b.click("#drafts .card .primary")
	other.counts("#drafts .card", 0)
	other.requireNoTrouble()
}
