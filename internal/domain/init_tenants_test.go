package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// bureau is a program that several organizations use, whose members share projects, tasks and invoices: all that they have is deleted
// with them.
const bureau = `
CREATE SCHEMA bureau;
CREATE TABLE bureau.users (id bigserial PRIMARY KEY, name text NOT NULL);
CREATE TABLE bureau.accounts (id bigserial PRIMARY KEY, user_id bigint NOT NULL REFERENCES bureau.users ON DELETE CASCADE, provider text NOT NULL, access_token text, refresh_token text);
CREATE TABLE bureau.organizations (id bigserial PRIMARY KEY, name text NOT NULL);
CREATE TABLE bureau.memberships (id bigserial PRIMARY KEY, organization_id bigint NOT NULL REFERENCES bureau.organizations ON DELETE CASCADE, user_id bigint NOT NULL REFERENCES bureau.users ON DELETE CASCADE, role text NOT NULL, UNIQUE (organization_id, user_id));
CREATE TABLE bureau.clients (id bigserial PRIMARY KEY, organization_id bigint NOT NULL REFERENCES bureau.organizations ON DELETE CASCADE, name text NOT NULL);
CREATE TABLE bureau.projects (id bigserial PRIMARY KEY, organization_id bigint NOT NULL REFERENCES bureau.organizations ON DELETE CASCADE, client_id bigint REFERENCES bureau.clients, name text NOT NULL);
CREATE TABLE bureau.tasks (id bigserial PRIMARY KEY, project_id bigint NOT NULL REFERENCES bureau.projects ON DELETE CASCADE, title text NOT NULL);
CREATE TABLE bureau.labels (id bigserial PRIMARY KEY, organization_id bigint NOT NULL REFERENCES bureau.organizations ON DELETE CASCADE, name text NOT NULL);
CREATE TABLE bureau.task_labels (task_id bigint REFERENCES bureau.tasks ON DELETE CASCADE, label_id bigint REFERENCES bureau.labels ON DELETE CASCADE, PRIMARY KEY (task_id, label_id));
CREATE TABLE bureau.comments (id bigserial PRIMARY KEY, task_id bigint NOT NULL REFERENCES bureau.tasks ON DELETE CASCADE, text text NOT NULL);
CREATE TABLE bureau.reactions (comment_id bigint REFERENCES bureau.comments ON DELETE CASCADE, user_id bigint REFERENCES bureau.users ON DELETE CASCADE, PRIMARY KEY (comment_id, user_id));
CREATE TABLE bureau.time_entries (id bigserial PRIMARY KEY, project_id bigint NOT NULL REFERENCES bureau.projects ON DELETE CASCADE, task_id bigint REFERENCES bureau.tasks ON DELETE SET NULL, minutes integer NOT NULL);
CREATE TABLE bureau.invoices (id bigserial PRIMARY KEY, organization_id bigint NOT NULL REFERENCES bureau.organizations ON DELETE CASCADE, client_id bigint NOT NULL REFERENCES bureau.clients, number text NOT NULL, due_on date,
	subtotal numeric(12,2) NOT NULL, tax_rate numeric(5,2) NOT NULL, discount_rate numeric(4,2) NOT NULL, total numeric(12,2) NOT NULL, UNIQUE (organization_id, number));
CREATE TABLE bureau.invoice_items (id bigserial PRIMARY KEY, invoice_id bigint NOT NULL REFERENCES bureau.invoices ON DELETE CASCADE, what text NOT NULL);
CREATE TABLE bureau.refunds (id bigserial PRIMARY KEY, invoice_item_id bigint NOT NULL REFERENCES bureau.invoice_items, reason text NOT NULL);`

// Parts of a row are what only it has; what further rows point at people know by itself, though it is deleted with a row, as a
// project with its organization. A pair points at nothing, and items of an invoice are its parts, whatever points at them.
func TestInitTellsPartsFromWhatStandsAlone(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, bureau)
	v := bound(t, tx, "bureau")
	require.Contains(t, v.Text, "# left out, accounts: by its name or columns, its rows let people or programs in\n")
	d := v.Domain
	parts := map[string][]string{}
	for _, e := range d.Entities {
		for _, child := range e.Children {
			parts[e.Type] = append(parts[e.Type], child.Entity.Type)
		}
	}
	require.Equal(t, map[string][]string{
		"organization": {"membership"}, "project": {"time_entry"}, "task": {"comment"}, "comment": {"reaction"}, "invoice": {"invoice_item"},
	}, parts)
}

// Models are told who the user is among the people whom rows name: "assigned to me" named nobody.
func TestInitTellsWhoTheUserIs(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, bureau+`INSERT INTO bureau.users (name) VALUES ('Ada'), ('Eve')`)
	d := attached(t, tx, "bureau").Domain
	require.Len(t, d.Profile, 1)
	require.Equal(t, "Eve", as(t, tx, eveID, d.Profile[0].SQL))
}

// An invoice is called by its number, of which each organization has its own, and beside it stands what there is to pay.
func TestInitCallsRowsAsOneCompanyDoes(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, bureau)
	invoice := bound(t, tx, "bureau").ByType("invoice")
	require.Equal(t, "{number}", invoice.Label.String())
	require.Equal(t, "{number}{?due_on:, due on: {due_on:Jan 2, 2006}}{?subtotal:, subtotal: {subtotal:0.00}}{?tax_rate:, tax rate: {tax_rate:0.00}}{?total:, total: {total:0.00}}{?client_id:, client: {_client_id_label}}",
		invoice.Spoken.String())
}
