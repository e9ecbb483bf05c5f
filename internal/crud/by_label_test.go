package crud_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

const lettings = `CREATE SCHEMA lettings;
CREATE TABLE lettings.users (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE lettings.houses (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer NOT NULL REFERENCES lettings.users, name text NOT NULL);
CREATE TABLE lettings.tenants (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer NOT NULL REFERENCES lettings.users, first_name text NOT NULL, last_name text NOT NULL);
CREATE TABLE lettings.leases (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, house_id integer NOT NULL REFERENCES lettings.houses, tenant_id integer NOT NULL REFERENCES lettings.tenants);
CREATE TABLE lettings.payments (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, lease_id integer NOT NULL REFERENCES lettings.leases, amount numeric(8, 2) NOT NULL);
INSERT INTO lettings.users VALUES (1, 'Ada'), (2, 'Eve');
INSERT INTO lettings.houses (user_id, name) VALUES (1, 'St. Anne''s'), (1, 'Mill Row');
INSERT INTO lettings.tenants (user_id, first_name, last_name) VALUES (1, 'Ben', 'O''Brien'), (1, 'Mia', 'Öztürk'), (2, 'Ben', 'O''Brien');
INSERT INTO lettings.leases (house_id, tenant_id) VALUES (1, 1), (2, 2), (2, 1), (2, 1)`

// A row is pointed to by what it is called, whatever that is made of: a first and a last name, or the rows that it stands between.
// Such names were refused with the ref of the row that is called exactly so.
func TestRowsAreNamedByAllThatTheyAreCalled(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "lettings", lettings, map[string][]string{"lease": {"house_id", "tenant_id"}, "payment": {"lease_id", "amount"}})
	pay := func(lease string) string {
		return `{"table": "payments", "data": {"lease_id": "` + lease + `", "amount": 700}}`
	}
	b.ok("write", vocab.ToolCreate, pay("St. Anne's · Ben O'Brien"))
	b.ok("write", vocab.ToolCreate, strings.ReplaceAll(pay("mill row, Mia Öztürk"), "700", "800"))
	require.Equal(t, "1 700.00, 2 800.00", query[string](b, `SELECT string_agg(lease_id || ' ' || amount, ', ' ORDER BY id) FROM lettings.payments`))
	require.Contains(t, b.refused("write", vocab.ToolCreate, pay("Mill Row · Ben O'Brien"), crud.CodeUnknownRef), "Several leases are called Mill Row · Ben O'Brien")

	b.exec(`INSERT INTO lettings.houses (user_id, name) VALUES (1, 'Court 1'); INSERT INTO lettings.tenants (user_id, first_name, last_name) VALUES (1, '1A', 'Doe');
		INSERT INTO lettings.leases (house_id, tenant_id) VALUES (3, 4)`)
	b.refused("write", vocab.ToolCreate, pay("Court 11A Doe"), crud.CodeUnknownRef)
	b.refused("write", vocab.ToolCreate, pay("· ?"), crud.CodeUnknownRef)

	amounts := b.rows(b.ok("read", vocab.ToolRead, `{"table": "payments", "filters": [{"field": "lease_id.tenant_id", "op": "=", "value": "ben o'brien"}]}`))
	require.Len(t, amounts, 1)
	b.ok("write", vocab.ToolCreate, `{"table": "leases", "data": {"house_id": "St. Anne's", "tenant_id": "Mia Öztürk"}}`)

	asked := b.decide("write", call(vocab.ToolDelete, `{"table": "payments", "filters": []}`), call(vocab.ToolCreate, pay("St. Anne's, Ben O'Brien"))).Approval
	require.Contains(t, asked.Text, "This would add 1 payment: St. Anne's · Ben O'Brien", "what waits for the same yes is named as it will be called")
}

// A part of a name finds the only row whose name holds it, for those who read. Whoever writes is told its name, and whoever names
// several is told which: without, a model read the rows to get the name.
func TestPartsOfNames(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "lettings", lettings, map[string][]string{"lease": {"house_id", "tenant_id"}, "payment": {"lease_id", "amount"}})
	leases := func(house string) string {
		return `{"table": "leases", "filters": [{"field": "house_id", "op": "=", "value": "` + house + `"}]}`
	}
	require.Len(t, b.rows(b.ok("read", vocab.ToolRead, leases("anne"))), 1)
	require.Contains(t, b.refused("read", vocab.ToolRead, leases("ann"), crud.CodeUnknownRef), "No house is called ann; there is St. Anne's.")
	b.refused("read", vocab.ToolRead, `{"table": "payments", "filters": [{"field": "lease_id.tenant_id", "op": "=", "value": "?"}]}`, crud.CodeUnknownRef)
	b.exec(`INSERT INTO lettings.houses (user_id, name) VALUES (1, 'Mews'), (2, 'Manor')`)
	require.Equal(t, "No house is called m; there is Mews, Mill Row.", b.refused("read", vocab.ToolRead, leases("m"), crud.CodeUnknownRef))
	require.Contains(t, b.refused("read", vocab.ToolRead, leases("Manor"), crud.CodeUnknownRef), "Manor does not exist in this conversation")
	refused := b.refused("write", vocab.ToolCreate, `{"table": "leases", "data": {"house_id": "mill", "tenant_id": "o'brien"}}`, crud.CodeUnknownRef)
	require.Contains(t, refused, "No house is called mill; there is Mill Row.")
	require.Contains(t, refused, "No tenant is called o'brien; there is Ben O'Brien.")

	b.exec(`INSERT INTO lettings.houses (user_id, name) VALUES (1, 'Mews')`)
	for _, name := range []string{`["Mews"]`, `["Mill", "Mews"]`} {
		several := `{"table": "leases", "filters": [{"field": "house_id", "op": "in", "value": ` + name + `}]}`
		require.Equal(t, "Several houses are called Mews: use the ref of the one that is meant. If it is not shown, read them, or say blocked with next: replan where a step may not read.", b.refused("read", vocab.ToolRead, several, crud.CodeUnknownRef))
	}
}

// Databases without a type for true keep it as 1, and models write it as such.
func TestNumbersForTrue(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "habits", `CREATE SCHEMA habits;
		CREATE TABLE habits.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE habits.habits (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES habits.users, name text NOT NULL, shared boolean);
		CREATE TABLE habits.logs (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES habits.users, habit_id integer NOT NULL REFERENCES habits.habits, done smallint NOT NULL DEFAULT 0, share numeric);
		INSERT INTO habits.users (name) VALUES ('Ada');
		INSERT INTO habits.habits (user_id, name) VALUES (1, '☕'), (1, '🧘 Stretch')`, map[string][]string{"habit": {"name", "shared"}, "log": {"habit_id", "done", "share"}})
	log := func(habit, values string) string {
		return `{"table": "logs", "data": {"habit_id": "` + habit + `", ` + values + `}}`
	}
	b.ok("write", vocab.ToolCreate, log("☕", `"done": true`))
	require.Len(t, b.rows(b.ok("read", vocab.ToolRead, `{"table": "logs", "filters": [{"field": "done", "op": "=", "value": true}]}`)), 1)
	b.ok("write", vocab.ToolCreate, `{"table": "habits", "data": {"name": "Tea", "shared": 1}}`)
	require.Contains(t, b.refused("write", vocab.ToolCreate, log("Stretch", `"done": 1`), crud.CodeUnknownRef), "No habit is called Stretch; there is 🧘 Stretch.")
	b.refused("write", vocab.ToolCreate, log("☕", `"share": true`), crud.CodeBadValue)
}

// What is to be changed or deleted is found by what it points to, as it is read: such a write was refused, and the rows were
// read for their refs alone.
func TestWritesFindRowsByWhatTheyPointTo(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "lettings", lettings, map[string][]string{"lease": {"house_id", "tenant_id"}, "payment": {"lease_id", "amount"}})
	b.exec(`INSERT INTO lettings.payments (lease_id, amount) VALUES (1, 700), (2, 800); INSERT INTO lettings.houses (user_id, name) VALUES (1, 'Mews'), (1, 'Mews')`)
	where := func(field, name string) string {
		return `"table": "payments", "filters": [{"field": "` + field + `", "op": "=", "value": "` + name + `"}]}`
	}
	b.ok("read", vocab.ToolRead, `{"detail": "full", `+where("lease_id.tenant_id", "Öztürk"))
	b.ok("write", vocab.ToolUpdate, `{"data": {"amount": 900}, `+where("lease_id", "Mill Row · Mia Öztürk"))
	require.Equal(t, "1 700.00, 2 900.00", query[string](b, `SELECT string_agg(lease_id || ' ' || amount, ', ' ORDER BY id) FROM lettings.payments`))
	for tool, args := range map[string]string{vocab.ToolUpdate: `{"data": {"amount": 1}, `, vocab.ToolDelete: "{"} {
		require.Contains(t, b.refused("write", tool, args+where("lease_id.house_id", "Mews"), crud.CodeUnknownRef), "Several houses are called Mews")
	}
	unseen := b.decide("write", call(vocab.ToolDelete, "{"+where("lease_id.tenant_id", "Ben O'Brien")))
	require.Contains(t, unseen.Approval.Text, "This would delete 1 payment")
	b.ok("write", vocab.ToolDelete, "{"+where("lease_id.tenant_id", "Öztürk"))
	require.EqualValues(t, 1, query[int64](b, `SELECT count(*) FROM lettings.payments`))
}

// Of rows that are called and described alike, a question says what tells them apart, so that "only the newest" is an answer.
func TestQuestionsTellRowsApart(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "talk", `CREATE SCHEMA talk;
		CREATE TABLE talk.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE talk.notes (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES talk.users, body text NOT NULL, kind text NOT NULL DEFAULT 'post', city text, created_at timestamptz NOT NULL);
		INSERT INTO talk.users (name) VALUES ('Ada'), ('Eve');
		INSERT INTO talk.notes (user_id, body, created_at) VALUES (1, 'Late', '2026-11-25 05:22:05.1234Z'), (1, 'Late', '2026-11-24 09:00Z'), (1, 'Early', '2026-11-23 07:00Z')`, map[string][]string{"note": {"body"}})
	asked := func(where string) string {
		return b.decide("write", call(vocab.ToolDelete, `{"table": "notes", "filters": [`+where+`]}`)).Approval.Text
	}
	require.Equal(t, "This would delete 3 notes: Early; Late, created at Nov 25, 2026 05:22; Late, created at Nov 24, 2026 09:00. This can be undone. Shall I?", asked(""))
	b.exec(`UPDATE talk.notes SET created_at = '2026-11-25 05:22:05.1234Z'`)
	require.Equal(t, "This would delete 2 notes: Late, Late. This can be undone. Shall I?", asked(`{"field": "body", "op": "ilike", "value": "late"}`), "nothing does")
}

// When a program made a row is told where a read asks for it, not in every list.
func TestStampsAreReadIfAskedFor(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "diary", `CREATE SCHEMA diary;
		CREATE TABLE diary.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE diary.notes (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES diary.users, body text NOT NULL, created_at timestamptz NOT NULL DEFAULT now());
		CREATE TABLE diary.photos (id serial PRIMARY KEY, note_id integer NOT NULL REFERENCES diary.notes ON DELETE CASCADE, title text NOT NULL, created_at timestamptz NOT NULL DEFAULT now());
		INSERT INTO diary.users (name) VALUES ('Ada'), ('Eve');
		INSERT INTO diary.notes (user_id, body) VALUES (1, 'Late');
		INSERT INTO diary.photos (note_id, title) VALUES (1, 'Me')`, map[string][]string{"note": {"body"}})
	require.NotContains(t, b.rows(b.ok("read", vocab.ToolRead, `{"table": "notes"}`))[0], "created_at")
	for _, asking := range []string{`"order_by": "created_at desc"`, `"filters": [{"field": "created_at", "op": ">", "value": "2026-11-01"}]`, `"detail": "full"`, `"columns": ["created_at"]`} {
		require.Contains(t, b.rows(b.ok("read", vocab.ToolRead, `{"table": "notes", `+asking+`}`))[0], "created_at", asking)
	}
}

// Whom a figure is about, and which of two an option means, is told even if both are called alike.
func TestFiguresAndOptionsTellRowsApart(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "till", `CREATE SCHEMA till;
		CREATE TABLE till.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE till.customers (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES till.users, first_name text NOT NULL, last_name text NOT NULL, email text);
		CREATE TABLE till.sales (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES till.users, customer_id integer NOT NULL REFERENCES till.customers, cents integer NOT NULL);
		INSERT INTO till.users (name) VALUES ('Ada');
		INSERT INTO till.customers (user_id, first_name, last_name, email) VALUES (1, 'Anna', 'Meier', 'a@one.de'), (1, 'Anna', 'Meier', 'a@two.de'), (1, 'Jon', 'Roe', 'j@one.de');
		INSERT INTO till.sales (user_id, customer_id, cents) VALUES (1, 1, 300), (1, 2, 200), (1, 3, 100)`, nil)
	rows := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "sales", "group_by": ["customer_id"], "aggregates": [{"fn": "sum", "column": "cents", "as": "n"}], "order_by": "n desc"}`))
	require.Equal(t, []any{"Anna Meier, email a@one.de", "Anna Meier, email a@two.de", "Jon Roe"}, []any{rows[0]["_customer_id_label"], rows[1]["_customer_id_label"], rows[2]["_customer_id_label"]})

	b.read("customers")
	lines, err := b.tools.Lines(t.Context(), b.tx, b.at(), []string{"customer_1", "customer_2"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"customer_1": "Anna Meier, email a@one.de", "customer_2": "Anna Meier, email a@two.de"}, lines)
}

// A name that two rows have is no leave to change both: Anna Meier's new phone number became that of her namesake, too.
func TestNamesakesAreNotChangedUnasked(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "club", `CREATE SCHEMA club;
		CREATE TABLE club.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE club.members (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES club.users, first_name text NOT NULL, last_name text NOT NULL, email text, phone text);
		CREATE TABLE club.halls (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES club.users, name text NOT NULL);
		CREATE TABLE club.tickets (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES club.users, hall_id integer NOT NULL REFERENCES club.halls, number integer NOT NULL, done boolean NOT NULL DEFAULT false, UNIQUE (hall_id, number));
		INSERT INTO club.users (name) VALUES ('Ada');
		INSERT INTO club.halls (user_id, name) VALUES (1, 'North'), (1, 'South');
		INSERT INTO club.tickets (user_id, hall_id, number) VALUES (1, 1, 7), (1, 2, 7), (1, 2, 8);
		INSERT INTO club.members (user_id, first_name, last_name, email) VALUES (1, 'Anna', 'Meier', 'a@one.de'), (1, 'Anna', 'Meier', 'a@two.de'), (1, 'Jon', 'Roe', 'j@one.de')`,
		map[string][]string{"member": {"first_name", "last_name", "email", "phone"}, "ticket": {"hall_id", "number", "done"}})
	b.read("members")
	b.read("tickets")
	update := func(filters string) *crud.Approval {
		return b.decide("write", call(vocab.ToolUpdate, `{"table": "members", "filters": [`+filters+`], "set": [{"column": "phone", "value": "5"}]}`)).Approval
	}
	asked := update(`{"field": "first_name", "op": "=", "value": "Anna"}, {"field": "last_name", "op": "=", "value": "Meier"}`)
	require.NotNil(t, asked)
	require.Contains(t, asked.Text, "This would change 2 members (phone: 5): Anna Meier, email a@one.de; Anna Meier, email a@two.de.")
	require.Nil(t, update(`{"field": "last_name", "op": "in", "value": ["Roe"]}`))
	require.Nil(t, update(`{"field": "id", "op": "in", "value": ["member_1", "member_2"]}`), "both are meant")
	require.Nil(t, update(`{"field": "id", "op": "in", "value": ["member_1", "member_2"]}, {"field": "last_name", "op": "=", "value": "Meier"}`), "whatever else they are called")
	done := func(numbers string) *crud.Approval {
		return b.decide("write", call(vocab.ToolUpdate, `{"table": "tickets", "filters": [{"field": "number", "op": "in", "value": `+numbers+`}], "set": [{"column": "done", "value": true}]}`)).Approval
	}
	require.NotNil(t, done(`[7, 8]`), "each hall has a ticket 7")
	require.Nil(t, done(`[8]`))
}

// Whoever says the number of a row has named it, whatever it is called: "put ticket 3055 on hold" was asked about.
func TestRowsAreNamedByTheirNumbers(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "help", `CREATE SCHEMA help;
		CREATE TABLE help.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE help.tickets (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES help.users, number integer NOT NULL, title text NOT NULL, place integer NOT NULL, UNIQUE (user_id, number));
		INSERT INTO help.users (name) VALUES ('Ada');
		INSERT INTO help.tickets (user_id, number, title, place) VALUES (1, 3055, 'Reset password', 1), (1, 3056, 'Printer', 2), (1, 3057, 'Printer', 3)`,
		map[string][]string{"ticket": {"number", "title", "place"}})
	ask := func(tool, filter string) *crud.Approval {
		change := map[string]string{vocab.ToolUpdate: `, "set": [{"column": "title", "value": "Fax"}]`}[tool]

		return b.decide("write", call(tool, `{"table": "tickets", "filters": [`+filter+`]`+change+`}`)).Approval
	}
	require.NotNil(t, ask(vocab.ToolUpdate, `{"field": "place", "op": "=", "value": 2}`))
	require.NotNil(t, ask(vocab.ToolUpdate, `{"field": "number", "op": ">=", "value": 3057}`))
	require.Nil(t, ask(vocab.ToolUpdate, `{"field": "number", "op": "=", "value": 3055}`))
	require.Nil(t, ask(vocab.ToolDelete, `{"field": "number", "op": "in", "value": [3056]}`))
	require.Equal(t, "3055 Fax, 3057 Printer", query[string](b, `SELECT string_agg(number || ' ' || title, ', ' ORDER BY number) FROM help.tickets`))
}

// A canonical look-up is for variants, too: all the cream is moved, and thrown away only when the user agrees.
func TestVariantsAreChangedTogether(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(`INSERT INTO kitchen.inventory (user_id, name, quantity, location) VALUES ($1, 'Cream', 1, 'pantry'), ($1, 'cream', 2, 'pantry')`, b.scope.UserID)
	cream := `"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "cream"}]`
	require.NotNil(t, b.decide("write", call(vocab.ToolDelete, "{"+cream+"}")).Approval)
	require.Nil(t, b.decide("write", call(vocab.ToolUpdate, "{"+cream+`, "set": [{"column": "location", "value": "fridge"}]}`)).Approval)
	require.Equal(t, "fridge fridge", query[string](b, `SELECT string_agg(location, ' ') FROM kitchen.inventory WHERE lower(name) = 'cream'`))
}

// What belongs to different rows is told apart by them, if nothing else differs: each garage has its Kemal.
func TestFiguresTellRowsApartByTheirParents(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "garage", `CREATE SCHEMA garage;
		CREATE TABLE garage.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE garage.sites (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES garage.users, name text NOT NULL);
		CREATE TABLE garage.mechanics (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES garage.users, name text NOT NULL, site_id integer NOT NULL REFERENCES garage.sites, phone text);
		CREATE TABLE garage.jobs (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES garage.users, mechanic_id integer NOT NULL REFERENCES garage.mechanics, hours integer NOT NULL);
		INSERT INTO garage.users (name) VALUES ('Ada'), ('Eve');
		INSERT INTO garage.sites (user_id, name) VALUES (1, 'North'), (1, 'South');
		INSERT INTO garage.mechanics (user_id, name, site_id, phone) VALUES (1, 'Kemal', 1, '1'), (1, 'Kemal', 2, '2'), (1, 'Kemal', 2, '3'), (2, 'Ivo', 2, '4');
		INSERT INTO garage.jobs (user_id, mechanic_id, hours) VALUES (1, 1, 3), (1, 2, 2), (1, 3, 1), (1, 4, 0)`, nil)
	rows := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "jobs", "group_by": ["mechanic_id"], "aggregates": [{"fn": "sum", "column": "hours", "as": "n"}], "order_by": "n desc"}`))
	require.Equal(t, []any{"Kemal, site North", "Kemal, site South, phone 2", "Kemal, site South, phone 3"}, []any{rows[0]["_mechanic_id_label"], rows[1]["_mechanic_id_label"], rows[2]["_mechanic_id_label"]})
	require.Equal(t, map[string]any{"n": 0.0, "_mechanic_id_label": "one that is not shown"}, rows[3], "no total")
}

// People read names of columns in words, however programs write them, in the table's order, and days as they say them.
func TestQuestionsSayColumnsInWords(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "camel", `CREATE SCHEMA camel;
		CREATE TABLE camel.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE camel.orders (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES camel.users, name text NOT NULL, "totalSum" integer, "dueOn" date, "VATid" text);
		INSERT INTO camel.users (name) VALUES ('Ada');
		INSERT INTO camel.orders (user_id, name) SELECT 1, 'Order ' || n FROM generate_series(1, 12) AS n`, map[string][]string{"order": {"name", `"totalSum"`, `"dueOn"`, `"VATid"`}})
	b.read("orders")
	asked := b.decide("write", call(vocab.ToolUpdate, `{"table": "orders", "filters": [], "set": [{"column": "VATid", "value": "X"}, {"column": "dueOn", "value": "2026-11-30"}, {"column": "totalSum", "value": 5}]}`)).Approval
	require.Contains(t, asked.Text, "This would change 12 orders (total sum: 5, due on: Mon Nov 30, 2026, VATid: X): ")
}

// Whoever takes a change back reads what is as before, also where the line of a row does not show it.
func TestUndoSaysWhatIsSetBack(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "desk", `CREATE SCHEMA desk;
		CREATE TABLE desk.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE desk.workers (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES desk.users, first_name text NOT NULL, last_name text NOT NULL, "mobilePhone" text, born date, boss_id integer REFERENCES desk.workers, updated_at timestamptz NOT NULL DEFAULT now());
		INSERT INTO desk.users (name) VALUES ('Ada');
		INSERT INTO desk.workers (user_id, first_name, last_name, "mobilePhone", boss_id) VALUES (1, 'Jon', 'Roe', NULL, NULL), (1, 'Anna', 'Meier', '030 1', 1)`, map[string][]string{"worker": {"first_name", "last_name", `"mobilePhone"`, "born", "boss_id"}})
	b.read("workers")
	b.ok("write", vocab.ToolUpdate, `{"table": "workers", "filters": [{"field": "last_name", "op": "=", "value": "Meier"}], "set": [{"column": "mobilePhone", "value": "040 2"}, {"column": "born", "value": "2001-02-03"}], "clear": ["boss_id"]}`)
	wrote, number := b.scope.TurnID, b.scope.Turn
	b.exec(`SAVEPOINT here; UPDATE desk.workers SET "mobilePhone" = '1'`)
	require.Contains(t, b.undo(wrote, number).Results[0].ErrorMessage, "Anna Meier has changed since (mobile phone), ")
	b.exec(`ROLLBACK TO here`)
	back := b.undo(wrote, number)
	require.Equal(t, "set back Anna Meier, mobile phone: 030 1, born: nothing, boss: Jon Roe", back.Results[0].Told)
}

// People call an order by its number and a customer by the e-mail address, whatever their rows are labelled by.
func TestCodesNameRows(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "depot", `CREATE SCHEMA depot;
		CREATE TABLE depot.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE depot.customers (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES depot.users, first_name text NOT NULL, last_name text NOT NULL, email text NOT NULL UNIQUE);
		CREATE TABLE depot.orders (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES depot.users, number integer NOT NULL, customer_id integer NOT NULL REFERENCES depot.customers, placed_at timestamptz NOT NULL, UNIQUE (user_id, number));
		CREATE TABLE depot.parcels (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES depot.users, order_id integer NOT NULL REFERENCES depot.orders, place integer NOT NULL, kilos integer NOT NULL, UNIQUE (order_id, place));
		INSERT INTO depot.users (name) VALUES ('Ada'), ('Eve');
		INSERT INTO depot.customers (user_id, first_name, last_name, email) VALUES (1, 'Anna', 'Meier', 'a@one.de'), (1, 'Anna', 'Meier', 'a@two.de'), (2, 'Eve', 'Roe', 'e@one.de');
		INSERT INTO depot.orders (user_id, number, customer_id, placed_at) VALUES (1, 1034, 1, '2026-01-02'), (1, 1036, 2, '2026-01-03'), (2, 1034, 3, '2026-01-04')`,
		map[string][]string{"parcel": {"order_id", "place", "kilos"}, "order": {"number", "customer_id", "placed_at"}})
	b.ok("write", vocab.ToolCreate, `{"table": "parcels", "data": [{"order_id": "1036", "place": 1, "kilos": 3}, {"order_id": "1034", "place": 1, "kilos": 4}]}`)
	require.Equal(t, "1034 4, 1036 3", query[string](b, `SELECT string_agg(number || ' ' || kilos, ', ' ORDER BY number) FROM depot.parcels JOIN depot.orders ON orders.id = order_id`))
	found := b.ok("read", vocab.ToolRead, `{"table": "parcels", "filters": [{"field": "order_id", "op": "in", "value": ["1034", "1036"]}, {"field": "order_id.customer_id", "op": "=", "value": "A@two.de"}]}`)
	require.Equal(t, 1, found.RowCount)
	b.ok("write", vocab.ToolCreate, `{"table": "orders", "data": {"number": 1040, "customer_id": "a@one.de", "placed_at": "2026-02-01"}}`)
	require.Contains(t, b.refused("write", vocab.ToolCreate, `{"table": "parcels", "data": {"order_id": "1099", "place": 2, "kilos": 1}}`, crud.CodeUnknownRef), "1099 does not exist")
	require.Contains(t, b.refused("write", vocab.ToolCreate, `{"table": "orders", "data": {"number": 1041, "customer_id": "e@one.de", "placed_at": "2026-02-01"}}`, crud.CodeUnknownRef), "e@one.de does not exist", "another's")
}

// A number plate is a name, and so is a booking's code, though rows are called by more than these.
func TestPartsOfLabelsNameRows(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "garage", `CREATE SCHEMA garage;
		CREATE TABLE garage.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE garage.classes (letter char(1) PRIMARY KEY, name text NOT NULL);
		CREATE TABLE garage.cars (plate text PRIMARY KEY, user_id integer NOT NULL REFERENCES garage.users, model text NOT NULL, class char(1) REFERENCES garage.classes);
		CREATE TABLE garage.bookings (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES garage.users, locator text NOT NULL UNIQUE, car text REFERENCES garage.cars);
		CREATE TABLE garage.payments (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES garage.users, booking_id integer NOT NULL REFERENCES garage.bookings, amount integer NOT NULL);
		INSERT INTO garage.users (name) VALUES ('Ada');
		INSERT INTO garage.classes VALUES ('A', 'Small'), ('B', 'Large');
		INSERT INTO garage.cars VALUES ('2013 YYR', 1, 'C3', 'A'), ('5337 VHW', 1, 'C3', 'A');
		INSERT INTO garage.bookings (user_id, locator, car) VALUES (1, 'JCVS5B', '2013 YYR'), (1, 'V6GVCX', NULL)`,
		map[string][]string{"booking": {"locator", "car"}, "payment": {"booking_id", "amount"}}, "\n  - type: car\n", "\n  - type: car\n    writes: [update]\n    columns: [class]\n",
		`label: "{code}"`, `label: "{model} {code}"`, `label: "{locator}"`, `label: "{locator} · {_car_label}"`)
	b.ok("write", vocab.ToolCreate, `{"table": "payments", "data": {"booking_id": "jcvs5b", "amount": 3}}`)
	require.Equal(t, "JCVS5B", query[string](b, `SELECT locator FROM garage.payments JOIN garage.bookings ON bookings.id = booking_id`))
	b.read("bookings")
	b.ok("write", vocab.ToolUpdate, `{"table": "bookings", "filters": [{"field": "locator", "op": "=", "value": "V6GVCX"}], "data": {"car": "5337 VHW"}}`)
	require.Equal(t, "5337 VHW", query[string](b, `SELECT car FROM garage.bookings WHERE locator = 'V6GVCX'`))
	moved := b.ok("write", vocab.ToolUpdate, `{"table": "bookings", "filters": [{"field": "locator", "op": "=", "value": "V6GVCX"}], "data": {"car": null}}`)
	require.Equal(t, map[string]any{"_car_label": "C3 5337 VHW"}, b.rows(moved)[0]["_was"], "a column that is called like what it points to shows only refs")
	b.read("cars")
	b.ok("write", vocab.ToolUpdate, `{"table": "cars", "filters": [{"field": "code", "op": "=", "value": "5337 VHW"}], "data": {"class": "b"}}`)
	require.Equal(t, "B", query[string](b, `SELECT class FROM garage.cars WHERE plate = '5337 VHW'`))
}

// "Take the fleece and the tent out of the sale" names both rows that stand between them: nobody has to be asked once more.
func TestLinksAreNamedByTheirEnds(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "stall", `CREATE SCHEMA stall;
		CREATE TABLE stall.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE stall.shelves (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES stall.users, name text NOT NULL);
		CREATE TABLE stall.goods (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES stall.users, name text NOT NULL);
		CREATE TABLE stall.places (shelf_id integer NOT NULL REFERENCES stall.shelves, good_id integer NOT NULL REFERENCES stall.goods, PRIMARY KEY (shelf_id, good_id));
		INSERT INTO stall.users (name) VALUES ('Ada');
		INSERT INTO stall.shelves (user_id, name) VALUES (1, 'Sale');
		INSERT INTO stall.goods (user_id, name) VALUES (1, 'Fleece'), (1, 'Tent');
		INSERT INTO stall.places VALUES (1, 1), (1, 2)`, map[string][]string{"place": {"shelf_id", "good_id"}})
	b.ok("read", vocab.ToolRead, `{"table": "places"}`)
	asked := func(message string) bool {
		prepared, err := b.tools.Prepare(t.Context(), b.tx, b.asker(), []vocab.Call{call(vocab.ToolDelete, `{"table": "places", "filters": [{"field": "id", "op": "in", "value": ["place_1", "place_2"]}]}`)})
		require.NoError(t, err)
		outcome, err := b.tools.Execute(t.Context(), b.tx, b.at(), crud.Bounds{StepType: "write", Message: message}, prepared)
		require.NoError(t, err)

		return outcome.Approval != nil
	}
	require.True(t, asked("empty the sale"))
	require.False(t, asked("take the fleece and the tents out of the sale"))
}

const chores = `CREATE SCHEMA chores;
CREATE TABLE chores.users (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE chores.homes (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer NOT NULL REFERENCES chores.users, name text NOT NULL);
CREATE TABLE chores.rooms (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, home_id integer NOT NULL REFERENCES chores.homes, name text NOT NULL, UNIQUE (home_id, name));
CREATE TABLE chores.jobs (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text NOT NULL, home_id integer NOT NULL REFERENCES chores.homes, room_id integer NOT NULL REFERENCES chores.rooms);
INSERT INTO chores.users VALUES (1, 'Ada'), (2, 'Eve');
INSERT INTO chores.homes (user_id, name) VALUES (1, 'Flat'), (1, 'Cabin');
INSERT INTO chores.rooms (home_id, name) VALUES (1, 'Kitchen'), (2, 'Kitchen'), (2, 'Porch');
INSERT INTO chores.jobs (title, home_id, room_id) VALUES ('Sweep', 1, 1), ('Scrub', 2, 2), ('Paint', 2, 3)`

// Whoever is asked about rows of one name is told whose each is, whatever else tells them apart.
func TestQuestionsSayWhoseNamesakesAre(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "chores", chores+`;
		CREATE TABLE chores.steps (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, job_id integer NOT NULL REFERENCES chores.jobs ON DELETE CASCADE, title text NOT NULL, due date);
		INSERT INTO chores.steps (job_id, title, due) VALUES (1, 'Dust', '2026-12-03'), (2, 'Dust', '2026-12-04'), (3, 'Dry', NULL)`, map[string][]string{"step": {"job_id", "title", "due"}})
	b.read("steps")
	asked := b.decide("write", call(vocab.ToolUpdate, `{"table": "steps", "filters": [{"field": "title", "op": "=", "value": "Dust"}], "set": [{"column": "due", "value": "2026-12-24"}]}`)).Approval
	require.Contains(t, asked.Text, "This would change 2 steps (due: Thu Dec 24, 2026): Dust, job Sweep; Dust, job Scrub. Shall I?")
}
