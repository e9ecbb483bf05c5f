package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

const odoo = `CREATE SCHEMA erp;
	CREATE TABLE erp.ir_module_module (id serial PRIMARY KEY, name varchar NOT NULL);
	CREATE TABLE erp.ir_attachment (id serial PRIMARY KEY, company_id integer, res_model varchar, res_id integer, name varchar NOT NULL);
	CREATE TABLE erp.res_company (id serial PRIMARY KEY, name varchar NOT NULL);
	CREATE TABLE erp.res_users (id serial PRIMARY KEY, company_id integer NOT NULL REFERENCES erp.res_company, login varchar NOT NULL);
	CREATE TABLE erp.sale_order (id serial PRIMARY KEY, company_id integer NOT NULL REFERENCES erp.res_company, create_uid integer REFERENCES erp.res_users, write_uid integer REFERENCES erp.res_users,
		name varchar NOT NULL, color integer, date_order timestamp NOT NULL, create_date timestamp, write_date timestamp);
	CREATE TABLE erp.uom_uom (id serial PRIMARY KEY, name jsonb NOT NULL, factor numeric NOT NULL, create_uid integer, create_date timestamp);
	CREATE TABLE erp.mail_message (id serial PRIMARY KEY, model varchar, res_id integer, author_id integer NOT NULL REFERENCES erp.res_users, subject varchar);
	CREATE TABLE erp.shape (id serial PRIMARY KEY, company_id integer NOT NULL REFERENCES erp.res_company, title jsonb, uom_id integer NOT NULL REFERENCES erp.uom_uom);
	CREATE TABLE erp.sale_order_tag_rel (order_id integer NOT NULL REFERENCES erp.sale_order ON DELETE CASCADE, uom_id integer NOT NULL REFERENCES erp.uom_uom, PRIMARY KEY (order_id, uom_id));
	INSERT INTO erp.res_company (name) VALUES ('Ada''s'), ('Eve''s');
	INSERT INTO erp.uom_uom (name, factor) VALUES ('{"en_US": "Units", "de_DE": "Stück"}', 1), ('{"en_US": "Hours"}', 1);
	INSERT INTO erp.shape (company_id, title, uom_id) VALUES (1, '{"en": "Round"}', 1), (1, '["none"]', 1), (1, NULL, 1)`

// Of Odoo's tables, its own bookkeeping was shown like the owner's data: who wrote a row last, when, a colour's number, by the
// session's own time.
func TestInitKnowsOdoo(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, odoo)
	d := bound(t, tx, "erp")
	require.Contains(t, d.Text, "utc: true")
	require.Contains(t, d.Text, "# left out, ir_attachment: ")
	order := d.ByType("sale_order")
	for _, name := range []string{"create_uid", "write_uid", "write_date"} {
		require.True(t, order.Column(name).Hidden, name)
	}
	require.False(t, order.Column("create_date").Hidden, "people ask when it was made")
	require.Contains(t, d.Text, `fills: {create: {create_date: "now()"}, update: {write_date: "now()"}}`)
	require.NotContains(t, d.Text, "{?color")
	require.NotContains(t, d.Text, "_create_uid_label", "nobody calls an order by who typed it")
	require.Contains(t, d.Text, `computed: [{name: name_text, sql: "coalesce(name->>'en_US', name->>'de_DE')"}]`)
	require.Contains(t, d.Text, `label: "{name_text}"`)
	require.Equal(t, "sale order tag", d.ByType("sale_order_tag").Name)
	require.True(t, d.ByType("mail_message").Column("res_id").Hidden)
}
