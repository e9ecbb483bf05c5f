package domain_test

import (
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// rentals are tables of a program that knows no foreign keys, as Rails made them for years: keys are integers there, and bigints here.
const rentals = `CREATE SCHEMA rentals;
	CREATE TABLE rentals.users (id bigserial PRIMARY KEY, email text NOT NULL, name text NOT NULL);
	CREATE TABLE rentals.models (id bigserial PRIMARY KEY, name text NOT NULL);
	CREATE TABLE rentals.bikes (id bigserial PRIMARY KEY, model_id integer, user_id integer, name text NOT NULL);
	CREATE TABLE rentals.rents (id bigserial PRIMARY KEY, bike_id integer NOT NULL, last_bike_id integer, other_bike_id integer, uuid text, day date NOT NULL);
	CREATE TABLE rentals.notes (id bigserial PRIMARY KEY, user_id integer NOT NULL, subject_id integer, subject_type text, model_id text, text text NOT NULL);
	INSERT INTO rentals.users (email, name) VALUES ('ada@example.com', 'Ada'), ('eve@example.com', 'Eve');
	INSERT INTO rentals.models (name) VALUES ('Tourer');
	INSERT INTO rentals.bikes (model_id, user_id, name) VALUES (1, 1, 'Blue'), (1, 2, 'Red'), (77, 1, 'Lost');
	INSERT INTO rentals.rents (bike_id, last_bike_id, other_bike_id, day) VALUES (1, 3, 7, '2026-05-01'), (2, 9, NULL, '2026-05-02'), (99, NULL, NULL, '2026-05-03');
	INSERT INTO rentals.notes (user_id, text) VALUES (1, 'oil')`

// Without foreign keys, names say where columns point: nearly every table was left out, and what was left showed keys of rows.
func TestInitFollowsNames(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, rentals)
	d := attached(t, tx, "rentals", "    # read only; to allow more: writes: [create, update, delete] and columns: [bike_id, last_bike_id, day]", "    writes: [create, update]\n    columns: [bike_id, day]")
	require.Contains(t, d.Text, `accounts: "users"`)
	require.Contains(t, d.Text, "references: {model_id: model} # unsure: no foreign key says so")
	require.Contains(t, d.Text, "references: {bike_id: bike, last_bike_id: bike} # unsure", "other_bike_id holds none")
	require.Contains(t, d.Text, "hidden: [other_bike_id, uuid]")
	require.Contains(t, d.Text, "owned_by: [bike_id] # unsure: its rows are those of whom the bikes are")
	require.Contains(t, d.Text, "no foreign key knows of rents.bike_id, rents.last_bike_id, which would go on pointing at what is deleted")
	require.Contains(t, d.Text, "hidden: [subject_id, model_id]", "a text is no key of the models")
	require.True(t, d.ByType("model").Reference)
	require.Same(t, d.ByType("bike"), d.ByType("rent").Column("bike_id").FK.Entity)

	require.Equal(t, "Blue Lost", as(t, tx, adaID, `SELECT string_agg(name, ' ' ORDER BY id) FROM rentals_alfred.bikes`))
	require.Equal(t, "2026-05-01", as(t, tx, adaID, `SELECT string_agg(day::text, ' ') FROM rentals_alfred.rents`), "whose bike is gone is nobody's")
	require.Equal(t, "3", as(t, tx, adaID, `INSERT INTO rentals_alfred.rents (bike_id, day) VALUES (3, '2026-06-01') RETURNING bike_id::text`))
	require.Contains(t, as(t, tx, adaID, `UPDATE rentals_alfred.rents SET bike_id = 2 RETURNING 'moved'`), "no such row of bikes", "it is Eve's")
}

// Where no table is called like a key, its values say where it leads: those of uuids and the like are keys of one table alone. A parent
// is a row of the same table.
func TestInitFollowsValues(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA ledger;
		CREATE TABLE ledger.users (id serial PRIMARY KEY, name text NOT NULL, parent_id integer);
		CREATE TABLE ledger.purses (guid varchar(32) PRIMARY KEY, name text NOT NULL, parent_guid varchar(32), other_guid varchar(32));
		CREATE TABLE ledger.transactions (guid varchar(32) PRIMARY KEY, num text NOT NULL, description text NOT NULL, import_id text);
		CREATE TABLE ledger.splits (guid varchar(32) PRIMARY KEY, tx_guid varchar(32) NOT NULL, into_guid varchar(32) NOT NULL, any_guid varchar(32) NOT NULL, memo text NOT NULL);
		CREATE TABLE ledger.codes (id text PRIMARY KEY, name text NOT NULL);
		CREATE TABLE ledger.stages (id serial PRIMARY KEY, name text NOT NULL, parent_id integer);
		INSERT INTO ledger.stages (name, parent_id) VALUES ('first', 7);
		INSERT INTO ledger.codes VALUES ('a', 'A'); INSERT INTO ledger.transactions VALUES (md5('t1'), '', 'Rent', 'a');
		INSERT INTO ledger.purses VALUES (md5('a1'), 'Assets', NULL, md5('x')), (md5('a2'), 'Cash', md5('a1'), NULL);
		INSERT INTO ledger.splits VALUES (md5('s1'), md5('t1'), md5('a2'), md5('t1'), ''), (md5('s2'), md5('t1'), md5('a1'), md5('a1'), '')`)
	d := bound(t, tx, "ledger")
	text := d.Text
	require.Contains(t, text, "references: {parent_id: user} # unsure", "as far as anybody knows")
	require.Contains(t, d.ByType("split").Describe(), "- tx_guid: ref (transaction_1), required\n", "a ref has no length")
	require.Contains(t, text, "references: {parent_guid: purse} # unsure", "other_guid holds no key")
	require.Contains(t, text, "references: {tx_guid: transaction, into_guid: purse} # unsure", "any_guid holds those of two tables")
	require.NotContains(t, text, "import_id: code", "a short text may be called like a row by chance")
	require.Contains(t, text, `label: "{description}" # unsure`, "num is empty")
	require.NotContains(t, text, "parent_id: stage", "it holds no keys of stages")
}

// To whom rows belong may be guessed wrong where a program knows people and companies: the other guess is named.
func TestInitNamesOtherAccounts(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA guild;
		CREATE TABLE guild.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE guild.companies (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE guild.events (id serial PRIMARY KEY, company_id integer NOT NULL, title text NOT NULL);
		CREATE TABLE guild.payments (id serial PRIMARY KEY, user_id integer, company_id integer, day date NOT NULL);
		CREATE TABLE guild.members (id serial PRIMARY KEY, user_id integer, since date NOT NULL)`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"guild"}})
	require.NoError(t, err)
	require.Contains(t, text, `accounts: "companies"`)
	require.Contains(t, text, `owner: "company_id" # unsure; where rows are those of users, run init again with --accounts=TABLE`)
	text, err = domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"guild"}, Accounts: "users"})
	require.NoError(t, err)
	require.Contains(t, text, `owner: "user_id" # unsure; where rows are those of companies, run`)
}

// A declaration may say where a column points, however it is called.
func TestReferencesLead(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, rentals+`; ALTER TABLE rentals.rents DROP last_bike_id; ALTER TABLE rentals.rents RENAME bike_id TO what`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"rentals"}})
	require.NoError(t, err)
	require.Contains(t, text, "# left out, rents: no foreign key connects it to its rows' owners")
	v := bound(t, tx, "rentals", "\nsubdomains:", "  - {type: rent, table: rents, owned_by: [what], references: {what: bike}, label: \"{_what_label}\"}\n\nsubdomains:")
	require.Same(t, v.ByType("bike"), v.ByType("rent").Column("what").FK.Entity)
}

// People are found by their passwords, whatever they are called.
func TestInitFindsPeopleInOtherLanguages(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA lanche;
		CREATE TABLE lanche.usuario (id serial PRIMARY KEY, nome text NOT NULL, email text NOT NULL, senha text NOT NULL);
		CREATE TABLE lanche.produto (id serial PRIMARY KEY, nome text NOT NULL);
		CREATE TABLE lanche.pedido (id serial PRIMARY KEY, usuario_id integer NOT NULL REFERENCES lanche.usuario, feito date NOT NULL);
		CREATE TABLE lanche.item (id serial PRIMARY KEY, pedido_id integer NOT NULL REFERENCES lanche.pedido, produto_id integer NOT NULL REFERENCES lanche.produto)`)
	d := attached(t, tx, "lanche")
	require.Contains(t, d.Text, `accounts: "usuario"`)
	require.True(t, d.ByType("usuario").Column("senha").Hidden)
	require.False(t, d.ByType("item").Reference)
}

// A table without a key that only pairs rows is known by its pairs.
func TestInitKnowsPairs(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA fairs;
		CREATE TABLE fairs.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE fairs.tags (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE fairs.stalls (id serial PRIMARY KEY, user_id integer NOT NULL, name text NOT NULL);
		CREATE TABLE fairs.stalls_tags (stall_id integer NOT NULL, tag_id integer NOT NULL);
		CREATE TABLE fairs.stalls_seen (stall_id integer NOT NULL, tag_id integer NOT NULL, pieces integer);
		CREATE TABLE fairs.stalls_sold (stall_id integer NOT NULL, tag_id integer NOT NULL, pieces integer);
		CREATE UNIQUE INDEX ON fairs.stalls_sold (tag_id, stall_id);
		INSERT INTO fairs.users (name) VALUES ('Ada'), ('Eve'); INSERT INTO fairs.tags (name) VALUES ('Cheese'), ('Wine');
		INSERT INTO fairs.stalls (user_id, name) VALUES (1, 'Brie'), (2, 'Merlot'); INSERT INTO fairs.stalls_tags VALUES (1, 1), (2, 2)`)
	d := attached(t, tx, "fairs", "    # read only; to allow more: writes: [create, update, delete] and columns: [stall_id, tag_id]", "    writes: [create, delete]\n    columns: [stall_id, tag_id]")
	require.Contains(t, d.Text, `label: "{_stall_id_label} · {_tag_id_label}"`)
	require.Equal(t, "key", d.ByTable("stalls_sold").Key.Name, "with more columns, a unique index over the pair tells rows apart")
	require.Contains(t, d.Text, "# left out, stalls_seen: it has no key: nothing tells its rows apart; a unique index over columns that are never null would")
	require.Equal(t, "1:1", as(t, tx, adaID, `SELECT string_agg(key, ' ') FROM fairs_alfred.stalls_tags`))
	require.Equal(t, "1:2", as(t, tx, adaID, `INSERT INTO fairs_alfred.stalls_tags (stall_id, tag_id) VALUES (1, 2) RETURNING key`))
	require.Equal(t, "1", as(t, tx, adaID, `WITH gone AS (DELETE FROM fairs_alfred.stalls_tags WHERE key = '1:1' RETURNING 1) SELECT count(*)::text FROM gone`))
}

// A deletion that sets shared rows free of the deleted one needs no owner of theirs.
func TestViewsOfSharedRowsThatPointAtSomebodys(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA exams;
		CREATE TABLE exams.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE exams.courses (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES exams.users, title text NOT NULL);
		CREATE TABLE exams.tests (id serial PRIMARY KEY, course_id integer REFERENCES exams.courses ON DELETE SET NULL, title text NOT NULL);
		CREATE TABLE exams.results (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES exams.users, test_id integer NOT NULL REFERENCES exams.tests, points integer)`)
	d := attached(t, tx, "exams", "    # read only; to allow more: writes: [create, update, delete] and columns: [title]", "    writes: [delete]")
	require.True(t, d.ByType("test").Reference)
}

// Where nothing says whose rows are, all share them; what lets somebody in stays out.
func TestInitSharesAllWhereNobodyOwnsAnything(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA cards;
		CREATE TABLE cards.recipes (id serial PRIMARY KEY, title text NOT NULL);
		CREATE TABLE cards.login_codes (id serial PRIMARY KEY, digits text NOT NULL)`)
	d := bound(t, tx, "cards")
	require.True(t, d.ByType("recipe").Reference)
	require.Contains(t, d.Text, "# left out, login_codes: by its name or columns, its rows let people or programs in")
}

// What programs note of a file tells nobody which row it is.
func TestInitLeavesFilesOutOfLines(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA inns;
		CREATE TABLE inns.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE inns.hotels (id serial PRIMARY KEY, user_id integer NOT NULL, name text NOT NULL, stars integer, notes text,
			picture_file_name varchar, picture_content_type text, picture_file_size integer)`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"inns"}})
	require.NoError(t, err)
	require.Contains(t, text, `display: "{name}{?stars: stars:{stars}}"`)
	require.Contains(t, text, `semantic: "{name}.{?notes: {notes}.}"`)
}

// The accounts are the table that most rows name by the owner's column, whichever comes first.
func TestInitTakesTheAccountsOfMost(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA rack;
		CREATE TABLE rack.admins (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE rack.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE rack.audits (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES rack.admins, text text NOT NULL);
		CREATE TABLE rack.visits (id serial PRIMARY KEY, user_id text NOT NULL);
		CREATE TABLE rack.sites (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES rack.users, name text NOT NULL);
		CREATE TABLE rack.links (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES rack.users, name text NOT NULL)`)
	d := bound(t, tx, "rack")
	require.Contains(t, d.Text, `accounts: "users"`)
	require.NotContains(t, d.Text, "type: audit\n", "an admin's rows are not those of the user with the same number")
	require.NotContains(t, d.Text, "type: visit\n", "a text is no key of users")
}

// The same declaration makes the same views, whatever order its references are read in.
func TestViewsByNameStayTheSame(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA hub;
		CREATE TABLE hub.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE hub.aisles (id serial PRIMARY KEY, user_id integer NOT NULL, name text NOT NULL);
		CREATE TABLE hub.boxes (id serial PRIMARY KEY, user_id integer NOT NULL, name text NOT NULL);
		CREATE TABLE hub.cells (id serial PRIMARY KEY, user_id integer NOT NULL, name text NOT NULL);
		CREATE TABLE hub.parts (id serial PRIMARY KEY, aisle_id integer NOT NULL, box_id integer NOT NULL, cell_id integer NOT NULL, name text NOT NULL)`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"hub"}})
	require.NoError(t, err)
	text = regexp.MustCompile(`    owned_by: .*\n`).ReplaceAllString(text, "")
	decl, err := domain.Load(fstest.MapFS{"hub.yaml": {Data: []byte(text)}}, "hub.yaml")
	require.NoError(t, err)
	first, _, err := domain.Views(t.Context(), tx, decl)
	require.NoError(t, err)
	for range 20 {
		decl, err = domain.Load(fstest.MapFS{"hub.yaml": {Data: []byte(text)}}, "hub.yaml")
		require.NoError(t, err)
		again, _, err := domain.Views(t.Context(), tx, decl)
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
}
