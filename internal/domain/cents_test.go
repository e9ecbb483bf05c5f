package domain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// coined keeps money in cents, as programs of most payment services do.
const coined = `CREATE SCHEMA coined; CREATE TABLE coined.users (id integer PRIMARY KEY, name text NOT NULL);
	CREATE TABLE coined.fees (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer NOT NULL REFERENCES coined.users, title text NOT NULL,
		price_cents bigint NOT NULL CHECK (price_cents >= 0), "discountInCents" integer DEFAULT 50, tip_cents integer, tip integer);
	COMMENT ON COLUMN coined.fees.price_cents IS 'in cents';
	COMMENT ON COLUMN coined.fees."discountInCents" IS 'for members';
	INSERT INTO coined.users VALUES (1, 'Ada'), (2, 'Eve');
	INSERT INTO coined.fees (user_id, title, price_cents) VALUES (1, 'Old', 9500), (2, 'Hers', 1)`

// Amounts in cents are shown and written as people say them: models read 9500 and wrote 95.
func TestCents(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, coined)
	d := attached(t, tx, "coined", "    # read only; to allow more: writes: [create, update, delete] and columns: [title, price, discount, tip_cents, tip]\n",
		"    writes: [create, update, delete]\n    columns: [title, price, discount, tip_cents, tip]\n")
	require.Contains(t, d.Text, "    cents: {price_cents: price, \"discountInCents\": discount} # unsure: they count hundredths, and views show what people say")
	require.Contains(t, d.Text, "{?price: price:{price:0.00}}")
	fee := d.ByType("fee")
	require.Contains(t, fee.Describe(), "- price: number, required\n")
	require.Contains(t, fee.Describe(), "- discount: number. for members\n")
	require.NotContains(t, strings.ToLower(fee.Describe()), "price_cents")

	seen := `SELECT string_agg(concat_ws(' ', title, price, discount), ', ' ORDER BY id) FROM coined_alfred.fees`
	require.Equal(t, "Old 95.00 0.50", as(t, tx, adaID, seen))
	exec(t, tx, `SELECT set_config('role', 'alfred_tenant', true), set_config('alfred.user_id', '`+adaID+`', true);
		INSERT INTO coined_alfred.fees (title, price) VALUES ('New', 4.5);
		INSERT INTO coined_alfred.fees (title, price, discount) VALUES ('Newer', 0.29, 0);
		UPDATE coined_alfred.fees SET price = 12.34, discount = NULL WHERE title = 'Old'; UPDATE coined_alfred.fees SET title = 'Renamed' WHERE title = 'New';
		RESET ROLE`)
	require.Equal(t, "Old 12.34, Renamed 4.50 0.50, Newer 0.29 0.00", as(t, tx, adaID, seen))
	exec(t, tx, `DO $$ BEGIN ASSERT (SELECT string_agg(concat_ws(' ', title, price_cents, "discountInCents"), ', ' ORDER BY id) FROM coined.fees WHERE user_id = 1) = 'Old 1234, Renamed 450 50, Newer 29 0', 'as programs write them'; END $$`)
	exec(t, tx, `SELECT set_config('role', 'alfred_tenant', true), set_config('alfred.user_id', '`+adaID+`', true);
		DELETE FROM coined_alfred.fees WHERE title = 'Old'; SELECT set_config('role', 'alfred_undo', true);
		INSERT INTO coined_alfred.fees (id, user_id, title, price_cents, "discountInCents", price) VALUES (1, 1, 'Old', 1234, 7, 12.34); RESET ROLE`)
	require.Equal(t, "Old 12.34 0.07, Renamed 4.50 0.50, Newer 0.29 0.00", as(t, tx, adaID, seen), "as it was")

	for field, why := range map[string]string{
		`{cost_cents: cost}`:                   "fee: cents: column cost_cents does not exist in fees",
		`{title: name}`:                        "fee: cents: title is no whole number",
		`{tip_cents: tip}`:                     "fee: cents: fees has a column tip of its own",
		`{price_cents: cost, tip_cents: cost}`: "fee: cents: two columns are to be called cost",
		`{price_cents: ""}`:                    `fee: cents: "" is no name for what price_cents holds`,
	} {
		text := strings.Replace(d.Text, `cents: {price_cents: price, "discountInCents": discount}`, "cents: "+field, 1)
		require.ErrorContains(t, refusedViews(t, tx, strings.Replace(text, "columns: [title, price, discount, tip_cents, tip]", "columns: [title]", 1)), why)
	}
}

// Not everything that is called so counts hundredths of an amount: 19 per cent were 0.19, and a key that had lost its name ended init.
func TestWhatIsNoAmountInCents(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA minted; CREATE TABLE minted.users (id integer PRIMARY KEY, name text NOT NULL);
		CREATE TABLE minted.coins (value_cents integer PRIMARY KEY, metal text NOT NULL);
		CREATE TABLE minted.bills (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES minted.users, title text NOT NULL, vat_per_cent integer,
			version_major integer, version_minor integer, net_cents integer, gross_cents integer GENERATED ALWAYS AS (net_cents * 2) STORED)`)
	d := attached(t, tx, "minted")
	require.Contains(t, d.Text, "    cents: {net_cents: net, gross_cents: gross} # unsure")
	require.Equal(t, 1, strings.Count(d.Text, "    cents: {"))
	require.Contains(t, d.ByType("bill").Describe(), "- gross: number, never written\n", "it is computed")
}
