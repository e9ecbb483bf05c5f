package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm/offline"
	"alfred/internal/testfactory"
)

// W06: operations are buttons on a row's card. A confirmation asks with the owner's own preview, and a refusal by the
// owner's rules is shown in their words.
func TestW06OperationsAreButtons(t *testing.T) {
	t.Parallel()

	b := browse(t)
	c := talkOver(t, "testdata/rental.sql")
	d, _ := rentalOf(t, c)
	c.exec(`INSERT INTO rental_alfred.alfred_accounts VALUES ($1, 'C1')`)
	h := openHouse(t, fixtures{model: offline.New, pool: c.pool, domain: d})
	b.enter(h.guest("ada"), h.url)
	b.click(`#types [data-type="hire"]`)
	b.shows("#row-count", "3 hires")
	b.fill("#find-row", "Shelf")
	b.shows("#row-count", "1 hire")
	b.click("#row-table tbody button")
	b.shows("dialog[open] .operations", "Cancel hire")
	require.Equal(t, "Hire lines|Refunds", b.eval(`[...document.querySelectorAll("dialog[open] .parts legend")].map((e) => e.textContent).join("|")`))
	b.counts("dialog[open] .parts :is(button, :enabled:not(fieldset))", 0) // nothing can be written there
	b.look("card")

	b.eval(`[...document.querySelectorAll("dialog[open] .operations button")].find((e) => e.textContent === "Cancel hire").click()`)
	b.fill(`dialog[open]:last-of-type [name="reason"]`, "no time")
	b.look("arguments")
	b.click("dialog[open]:last-of-type .primary")
	b.shows("dialog[open]:last-of-type", "Shelf would be cancelled and 12.50 refunded.")
	b.look("preview")
	h.requireRows(t, "booked", `SELECT status FROM rental.hires WHERE title = 'Shelf'`)
	b.eval(`[...document.querySelectorAll("dialog[open]:last-of-type button")].find((e) => e.textContent === "Cancel hire").click()`)
	b.shows("#row-table", "cancelled")
	b.counts("dialog[open]", 0)

	// The same rules refuse a change by hand.
	b.click("#row-table tbody button")
	b.fill(`dialog[open] [name="street"]`, "2 New Street")
	b.click("dialog[open] [type=submit]")
	b.shows("dialog[open] [role=alert]", "What is out already is not sent elsewhere.")
	b.click("dialog[open] header button")
	b.eval(`[...document.querySelectorAll("dialog[open]:last-of-type button")].find((e) => e.textContent === "Discard").click()`)
	h.requireRows(t, "cancelled 12.50", `SELECT h.status || ' ' || r.amount FROM rental.hires AS h JOIN rental.refunds AS r ON (r.branch, r.hire) = (h.branch, h.number) WHERE title = 'Shelf'`)
}

// A deletion that takes other people's rows along says so before it goes on, of one row and of many.
func TestDeletionsThatTakeRowsOfOthers(t *testing.T) {
	t.Parallel()

	b := browse(t)
	c := talkIn(t, testfactory.Forum+`INSERT INTO forum.channels (created_by, name) VALUES (1, 'games'); INSERT INTO forum.messages (user_id, channel_id, title) VALUES (2, 3, 'chess?')`)
	d := testfactory.Views(t, c.pool, "forum", strings.NewReplacer("\n  - type: channel\n", "\n  - type: channel\n    writes: [create, update, delete]\n    columns: [name]\n")).Domain
	c.exec(`INSERT INTO forum_alfred.alfred_accounts VALUES ($1, 1)`)
	h := openHouse(t, fixtures{model: offline.New, pool: c.pool, domain: d})
	press := func(label string) {
		t.Helper()
		found := `[...[...document.querySelectorAll("dialog[open]")].at(-1)?.querySelectorAll("button") ?? []].find((e) => e.textContent === "` + label + `")`
		b.until(found)
		b.eval(found + ".click()")
	}
	const taken = "With the channel, messages of others are deleted or changed"

	b.enter(h.guest("ada"), h.url)
	b.click(`#types [data-type="channel"]`)
	b.shows("#row-count", "3 channels")
	b.fill("#find-row", "general")
	b.shows("#row-count", "1 channel")
	b.click("#row-table tbody button")
	b.shows("dialog[open]", "Delete")
	press("Delete")
	b.shows("dialog[open]:last-of-type", "The row and its parts will be gone.")
	press("Delete")
	b.shows("dialog[open]:last-of-type", taken)
	b.look("deletion")
	press("Keep")
	b.counts("dialog[open]", 1)
	h.requireRows(t, "4", `SELECT count(*)::text FROM forum.messages`)
	press("Delete")
	b.shows("dialog[open]:last-of-type", "The row and its parts will be gone.")
	press("Delete")
	b.shows("dialog[open]:last-of-type", taken)
	press("Delete")
	b.counts("dialog[open]", 0)
	h.requireRows(t, "2", `SELECT count(*)::text FROM forum.messages`)

	b.fill("#find-row", "")
	b.shows("#row-count", "2 channels")
	b.click(`#row-table thead input`)
	b.shows("#row-bulk", "2 channels chosen")
	b.click("#row-bulk .danger")
	b.shows("dialog[open]:last-of-type", "The rows and their parts will be gone.")
	press("Delete")
	b.shows("dialog[open]:last-of-type", taken)
	b.look("deletions")
	press("Delete")
	b.shows("#row-count", "0 channels")
	h.requireRows(t, "0", `SELECT count(*)::text FROM forum.messages`)
}
