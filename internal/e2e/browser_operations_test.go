package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm/offline"
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
