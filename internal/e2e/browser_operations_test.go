package e2e_test

import (
	"os"
	"path/filepath"
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

// Names that programs write in capitals are read in words, a key of several columns by what it refers to, and a file may name the columns in
// either way: "Member key" stood over people, and no column of a file was known. A range is read as two times, without brackets.
func TestNamesInCapitalsAreReadInWords(t *testing.T) {
	t.Parallel()

	b := browse(t)
	c := talkIn(t, `CREATE SCHEMA oars; SET LOCAL search_path = oars;
		CREATE TABLE "Users" ("UserCode" text PRIMARY KEY, "UserName" text NOT NULL);
		CREATE TABLE "Members" ("UserCode" text NOT NULL REFERENCES "Users", "MemberNo" integer NOT NULL, "FirstName" text NOT NULL, "LastName" text NOT NULL, PRIMARY KEY ("UserCode", "MemberNo"));
		CREATE TABLE "Fees" ("FeeNo" serial PRIMARY KEY, "UserCode" text NOT NULL REFERENCES "Users", "MemberNo" integer NOT NULL, "FeeYear" integer NOT NULL, "DueDate" date NOT NULL, "Season" daterange, "Hours" tsrange,
			FOREIGN KEY ("UserCode", "MemberNo") REFERENCES "Members");
		INSERT INTO "Users" VALUES ('ROW', 'Rowers');
		INSERT INTO "Members" VALUES ('ROW', 1, 'Ada', 'Oar');
		INSERT INTO "Fees" ("UserCode", "MemberNo", "FeeYear", "DueDate", "Season", "Hours")
			VALUES ('ROW', 1, 2026, '2026-03-31', '[2026-01-01,2026-02-01)', '["2026-03-31 18:00","2026-03-31 18:40")')`)
	d := testfactory.Views(t, c.pool, "oars", strings.NewReplacer("\n  - type: fee\n", "\n  - type: fee\n    writes: [create]\n    columns: [member_key, \"FeeYear\", \"DueDate\", \"Season\"]\n")).Domain
	c.exec(`INSERT INTO oars_alfred.alfred_accounts VALUES ($1, 'ROW')`)
	h := openHouse(t, fixtures{model: offline.New, pool: c.pool, domain: d})
	ada := h.guest("ada")
	c.exec(`UPDATE users SET timezone = 'Asia/Tokyo' WHERE id = $1`)
	b.enter(ada, h.url)
	b.click(`#types [data-type="fee"]`)
	b.shows("#row-count", "1 fee")
	h.requireRows(t, b.eval(`Intl.DateTimeFormat().resolvedOptions().timeZone`), `SELECT timezone FROM users WHERE name = 'ada'`) // names of rows have the times of their columns
	require.Equal(t, "Fee|Member|Due date|Member no|Fee year|Season|Hours", b.eval(`[...document.querySelectorAll("#row-table th[data-column]")].map((e) => e.textContent.trim()).join("|")`))
	require.Equal(t, "Jan 1 – 31, 2026|Mar 31, 2026, 6:00 – 6:40 PM", b.eval(`[...document.querySelectorAll("#row-table tbody td")].slice(-2).map((e) => e.textContent.replace(/\s/g, " ")).join("|")`))
	b.click("#new-row")
	b.shows("dialog[open] small", "range of dates ([2026-01-01,2026-02-01): its end excluded)")
	b.click("dialog[open] .icon-button")
	file := filepath.Join(t.TempDir(), "fees.csv")
	require.NoError(t, os.WriteFile(file, []byte("Member,FeeYear,Due date\nAda Oar,2027,2027-03-31\n"), 0o600))
	b.click("#import-rows")
	b.upload(file)
	b.shows("dialog[open] th:nth-child(4)", "Due date")
	require.Equal(t, "Line|Member|Fee year|Due date", b.eval(`[...document.querySelectorAll("dialog[open] thead th")].slice(0, 4).map((e) => e.textContent).join("|")`))
	b.requireNoTrouble()
}

// A row that programs have marked as deleted is not shown, nor is its key where others name it: a uuid stood under Customer.
func TestKeysOfGoneRowsAreNotShown(t *testing.T) {
	t.Parallel()

	b := browse(t)
	c := talkIn(t, `CREATE SCHEMA calls; SET LOCAL search_path = calls;
		CREATE TABLE users (id integer PRIMARY KEY, name text NOT NULL);
		CREATE TABLE customers (id uuid PRIMARY KEY, user_id integer NOT NULL REFERENCES users, name text NOT NULL, is_deleted boolean NOT NULL DEFAULT false);
		CREATE TABLE tickets (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES users, title text NOT NULL, customer_id uuid REFERENCES customers);
		INSERT INTO users VALUES (1, 'Ada');
		INSERT INTO customers VALUES ('a2cf62ba-ba95-4810-b4eb-f4b6e1c60aa3', 1, 'Bay Clinic', true), ('b2cf62ba-ba95-4810-b4eb-f4b6e1c60aa3', 1, 'Mill Hotel', false);
		INSERT INTO tickets VALUES (1, 1, 'Alarm', 'a2cf62ba-ba95-4810-b4eb-f4b6e1c60aa3'), (2, 1, 'Badge', 'b2cf62ba-ba95-4810-b4eb-f4b6e1c60aa3'), (3, 1, 'Cable', NULL)`)
	d := testfactory.Views(t, c.pool, "calls", strings.NewReplacer("\n  - type: ticket\n", "\n  - type: ticket\n    writes: [update]\n    columns: [title, customer_id]\n")).Domain
	c.exec(`INSERT INTO calls_alfred.alfred_accounts VALUES ($1, 1)`)
	h := openHouse(t, fixtures{model: offline.New, pool: c.pool, domain: d})
	b.enter(h.guest("ada"), h.url)
	b.click(`#types [data-type="ticket"]`)
	b.shows("#row-count", "3 tickets")
	require.Equal(t, "Alarm|not shown|Badge|Mill Hotel|Cable|", b.eval(`[...document.querySelectorAll("#row-table tbody tr")].map((row) => [row.querySelector("th").textContent, row.querySelector("td:not(.pick-row)").textContent].join("|")).join("|")`))
	b.click(`#row-table tbody th button`)
	b.until(`document.querySelector("dialog[open] select[name=customer_id]") !== null`)
	require.Equal(t, "not shown", b.eval(`document.querySelector("dialog[open] select[name=customer_id]").selectedOptions[0].textContent`))
	b.requireNoTrouble()
}
