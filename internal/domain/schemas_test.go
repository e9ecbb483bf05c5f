package domain_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/testfactory"
)

// A declaration covers several schemas of one database: their views stand in one schema, references lead from one to the other, and two
// tables of one name have the schema before it.
func TestViewsOfSeveralSchemas(t *testing.T) {
	t.Parallel()
	tx := dbtest.Tx(t)
	exec(t, tx, testfactory.Works)
	d := testfactory.Views(t, tx, "Sales,Production,Person", testfactory.WorksReview)
	require.Contains(t, d.Text, "\nsource: {schema: [\"Sales\", \"Production\", \"Person\"], accounts: \"Person\"} #")
	require.Contains(t, d.Text, "\n    table: \"Production_Note\" # Production.Note\n")
	require.Equal(t, domain.Schemas{"Sales", "Production", "Person"}, d.Decl.Source.Schema)
	require.Equal(t, "product", d.ByType("order_detail").Column("ProductID").Target().Type)
	require.Equal(t, "address", d.ByType("order").Column("ShipToID").Target().Type)
	require.Equal(t, "product", d.ByType("production_note").Column("ProductID").Target().Type)
	require.Contains(t, d.Text, `fills: {create: {id: "nextval('\"Production\".\"Note_seq\"')"}}`)
	require.Contains(t, d.Text, `fills: {create: {id: "nextval('\"Sales\".\"Note_seq\"')"}}`)

	exec(t, tx, `INSERT INTO "Sales_alfred".alfred_accounts VALUES ('`+adaID+`', 1), ('`+eveID+`', 2)`)
	require.Equal(t, "Spring", as(t, tx, adaID, `SELECT string_agg("Title", ', ') FROM "Sales_alfred"."Order"`))
	require.Equal(t, "too heavy", as(t, tx, adaID, `SELECT string_agg(body, ', ') FROM "Sales_alfred"."Production_Note"`))
	require.Equal(t, "100 call back", as(t, tx, adaID, `INSERT INTO "Sales_alfred"."Sales_Note" (body, "OrderID") VALUES ('call back', 1) RETURNING id || ' ' || body`))
	require.Equal(t, "200", as(t, tx, adaID, `INSERT INTO "Sales_alfred"."Production_Note" (body, "ProductID") VALUES ('fine', 2) RETURNING id`))
	require.Contains(t, as(t, tx, adaID, `UPDATE "Sales_alfred"."Order" SET "ShipToID" = 2 RETURNING 'moved'`), "There is no such row of Address")
	require.Equal(t, "too heavy!", as(t, tx, adaID, `SELECT "Sales_alfred".do_praise(1, '!')`), "its own schema's notes")
	require.Contains(t, as(t, tx, adaID, `SELECT "Sales_alfred".do_praise(2, '!')`), "There is no such row of Production_Note")

	proof, err := domain.Probe(t.Context(), tx, d.Decl)
	require.NoError(t, err)
	require.Empty(t, proof.Broken)

	exec(t, tx, `ALTER TABLE "Sales"."Order" OWNER TO alfred_undo`)
	_, notes, err := domain.Views(t.Context(), tx, d.Decl)
	require.NoError(t, err)
	require.Contains(t, strings.Join(notes, "\n"), `, which has to read "Sales"."Order" too, a table of alfred_undo: GRANT SELECT on it`)
}

// Deferred triggers of every schema run before a decision is committed.
func TestDeferredTriggersOfSeveralSchemas(t *testing.T) {
	t.Parallel()
	tx := dbtest.Tx(t)
	exec(t, tx, testfactory.Works)
	d := testfactory.Views(t, tx, "Sales,Production,Person", testfactory.WorksReview)
	exec(t, tx, `INSERT INTO "Sales_alfred".alfred_accounts VALUES ('`+adaID+`', 1), ('`+eveID+`', 2)`)
	require.NotEmpty(t, d.Settle)
	exec(t, tx, `SELECT set_config('role', 'alfred_tenant', true), set_config('alfred.user_id', '`+adaID+`', true)`)
	exec(t, tx, `INSERT INTO "Sales_alfred"."Production_Note" (body, "ProductID") VALUES ('fine', 2)`)
	exec(t, tx, d.Settle)
	exec(t, tx, `RESET ROLE`)
	var counted int
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT count(*) FROM "Production"."Count"`).Scan(&counted))
	require.Equal(t, 1, counted)
}

// What a declaration says of several schemas has to be there, and be called by the names that the views have.
func TestSourcesOfSeveralSchemas(t *testing.T) {
	t.Parallel()
	tx := dbtest.Tx(t)
	exec(t, tx, testfactory.Works)
	_, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"Sales", "Person", "Persons"}})
	require.ErrorContains(t, err, `schema "Persons" does not exist or has no tables`)
	_, err = domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"Sales", "Person"}, Accounts: "Persons"})
	require.ErrorContains(t, err, "accounts: table Sales.Persons or Person.Persons does not exist")
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"Sales", "Production", "Person"}, Accounts: "Person.Person"})
	require.NoError(t, err)
	for change, refused := range map[[2]string]string{
		{`table: "Sales_Note"`, `table: "Note"`}:                       "table Note is called Sales_Note or Production_Note here",
		{`table: "Address"`, `table: "Person.Address"`}:                "table Person.Address is called Address here",
		{`table: "Address"`, `table: "Addresses"`}:                     "table Sales.Addresses or Production.Addresses or Person.Addresses does not exist",
		{`schema: ["Sales", `, `schema: ["Sales_alfred", `}:            "the views need a schema of their own",
		{`schema: ["Sales", "Production", `, `schema: [Sales, Prod, `}: `schema "Prod" does not exist or has no tables`,
	} {
		require.ErrorContains(t, refusedViews(t, tx, strings.Replace(text, change[0], change[1], 1)), refused)
	}
	_, err = domain.Load(fstest.MapFS{"d.yaml": {Data: []byte(strings.Replace(text, `schema: "Sales_alfred"`, `schema: [Sales, Person]`, 1))}}, "d.yaml")
	require.ErrorContains(t, err, "d.yaml:4: schema: views and tables stand in one schema")
	exec(t, tx, `CREATE TABLE "Sales"."Sales_Note" (id integer PRIMARY KEY)`)
	_, err = domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"Sales", "Production", "Person"}})
	require.ErrorContains(t, err, "tables Sales.Note and Sales.Sales_Note would both be called Sales_Note")
}

// based is shaped like a Supabase project: its users are in a schema of their own, whose tables nobody may be shown.
const based = `
CREATE SCHEMA base_auth; CREATE SCHEMA base;
CREATE TABLE base_auth.users (id uuid PRIMARY KEY, email text UNIQUE, encrypted_password text, email_change_token_new text);
CREATE TABLE base_auth.refresh_tokens (id bigserial PRIMARY KEY, user_id uuid REFERENCES base_auth.users, token text);
CREATE TABLE base_auth.instances (id uuid PRIMARY KEY);
CREATE TABLE base_auth.audit_log_entries (id uuid PRIMARY KEY, payload json);
CREATE TABLE base_auth.identities (id uuid PRIMARY KEY, user_id uuid NOT NULL REFERENCES base_auth.users, identity_data jsonb);
CREATE TABLE base.profiles (id uuid PRIMARY KEY REFERENCES base_auth.users ON DELETE CASCADE, display_name text NOT NULL);
CREATE TABLE base.projects (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), author uuid NOT NULL REFERENCES base_auth.users, title text NOT NULL);
CREATE TABLE base.tasks (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), project_id uuid NOT NULL REFERENCES base.projects ON DELETE CASCADE,
	assigned_to uuid REFERENCES base_auth.users, title text NOT NULL);
INSERT INTO base_auth.users VALUES ('` + adaID + `', 'ada@example.org'), ('` + eveID + `', 'eve@example.org');
INSERT INTO base.profiles VALUES ('` + adaID + `', 'Ada'), ('` + eveID + `', 'Eve');
INSERT INTO base.projects (author, title) VALUES ('` + adaID + `', 'Roof'), ('` + eveID + `', 'Cellar');
INSERT INTO base.tasks (project_id, assigned_to, title) SELECT id, author, 'Look at the ' || lower(title) FROM base.projects`

// Accounts may be in a schema of which nothing else is read: no view shows them, and what is read of them says who somebody is.
func TestAccountsOfAnotherSchema(t *testing.T) {
	t.Parallel()
	tx := dbtest.Tx(t)
	exec(t, tx, based)
	_, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"base"}, Accounts: "base_auth.people"})
	require.ErrorContains(t, err, "accounts: table base_auth.people does not exist")
	listed, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"base", "base_auth"}, Accounts: "base_auth.users"})
	require.NoError(t, err)
	require.Contains(t, listed, "\n# left out, identities: its schema only says who people are")
	require.NotContains(t, listed, "\n    table: \"users\"")
	require.Contains(t, listed, `{?assigned_to:, assigned to: {_assigned_to_label}}`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"base"}, Accounts: "base_auth.users"})
	require.NoError(t, err)
	require.Contains(t, text, "\nsource: {schema: \"base\", accounts: \"base_auth.users\"} #")
	require.Contains(t, text, "\n# left out, base_auth.users: its schema only says who people are")
	require.Contains(t, text, `{?assigned_to:, assigned to: {_assigned_to_label}}`)
	require.Contains(t, text, `SELECT concat_ws(' ', a.\"display_name\") FROM \"base_alfred\".\"profiles\" AS a WHERE a.\"id\" = `, "whom me means")

	decl, err := domain.Load(fstest.MapFS{"d.yaml": {Data: []byte(strings.Replace(text, `"base_auth.users"`, `"base_auth.users", login: email`, 1))}}, "d.yaml")
	require.NoError(t, err)
	sql, _, err := domain.Views(t.Context(), tx, decl)
	require.NoError(t, err)
	require.Contains(t, sql, `GRANT SELECT ("id", "email") ON "base_auth"."users" TO "alfred_views_base_alfred"`)
	require.NoError(t, domain.Attach(t.Context(), tx, decl, sql))
	exec(t, tx, `INSERT INTO alfred.users (id, name) VALUES ('`+adaID+`', 'ada@example.org'), ('`+eveID+`', 'eve@example.org')`)
	require.Equal(t, "Look at the roof", as(t, tx, adaID, `SELECT string_agg(title, ', ') FROM base_alfred.tasks`))
	require.Equal(t, "Eve", as(t, tx, eveID, `SELECT string_agg(display_name, ', ') FROM base_alfred.profiles`))
	d, err := domain.Bind(t.Context(), tx, decl)
	require.NoError(t, err)
	require.Equal(t, "profile", d.ByType("task").Column("assigned_to").Target().Type)
	proof, err := domain.Probe(t.Context(), tx, decl)
	require.NoError(t, err)
	require.Empty(t, proof.Broken)

	exec(t, tx, `ALTER TABLE base_auth.users ENABLE ROW LEVEL SECURITY`)
	_, notes, err := domain.Views(t.Context(), tx, decl)
	require.NoError(t, err)
	require.Contains(t, strings.Join(notes, "\n"), "base_auth.users has row-level security of its own")
	decl.Entities[0].Table = "base_auth.users"
	_, _, err = domain.Views(t.Context(), tx, decl)
	require.ErrorContains(t, err, "base_auth.users: its schema only says who people are")
}
