package domain_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

func TestInitIntegerKeys(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, library)

	text, err := domain.Init(t.Context(), tx, "library")
	require.NoError(t, err)

	d, err := bindText(t, tx, text)
	require.NoError(t, err, text)
	require.Contains(t, text, `owner: "member_id" # unsure`)
	require.Contains(t, text, "# left out, members: it holds the tenants themselves")
	require.Contains(t, text, "# left out, visits: it has no single-column primary key")

	book, loan, shelf := d.ByType("book"), d.ByType("loan"), d.ByType("shelf")
	require.True(t, book.Reference)
	require.Equal(t, "bigint", book.Key.Type)
	require.Equal(t, []string{"novel", "essay", "poet's own"}, book.Column("genre").Enum)
	require.Equal(t, "Dune [novel] pages:412", book.Display.Render(map[string]any{"title": "Dune", "genre": "novel", "pages": 412}))
	require.Equal(t, "bigint", loan.Owner.Type)
	require.Same(t, book, loan.Column("book_id").FK.Entity)
	require.Same(t, shelf, loan.Column("shelf_id").FK.Entity)
	require.Same(t, loan, shelf.Children[0].Entity)
	require.Equal(t, "Jan 12, 2026 · Dune", loan.Label.Render(map[string]any{"due_on": "2026-01-12", "_book_id_label": "Dune"}))
	require.Equal(t, []string{"shelves", "loans"}, d.Subdomains[0].Tables)
	require.Equal(t, []string{"books"}, d.Subdomains[0].Readable)
	require.Len(t, d.Snapshot, 1)
}

func TestInitTextKeys(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, tracker)

	text, err := domain.Init(t.Context(), tx, "tracker")
	require.NoError(t, err)

	d, err := bindText(t, tx, text)
	require.NoError(t, err, text)

	issue, project := d.ByType("issue"), d.ByType("project")
	require.Equal(t, "key", issue.Key.Name)
	require.Equal(t, domain.KindText, project.Key.Kind, "a domain type counts as its base type")
	require.Equal(t, "text", issue.Owner.Type)
	require.Same(t, issue, issue.Column("blocked_by").FK.Entity)
	require.Same(t, project, issue.Column("project_code").FK.Entity)
	require.Equal(t, []string{"open", "in progress", "done"}, project.Column("state").Enum)
	require.Equal(t, []string{"open", "in progress", "done"}, issue.Column("states").Enum)
	require.Equal(t, domain.KindText, issue.Column("states").Elem)
	require.True(t, issue.Column("where_at").Hidden, "a type that no model can read")
	require.NotContains(t, issue.Sets["summary"], "body")
	require.Contains(t, issue.Sets["text"], "body")
	require.Contains(t, text, "#   body text: What is wrong, in detail.")
}

// A row whose label names only others, or nothing, is told by its own words and times.
func TestInitDisplaysARowsOwnWords(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA ledger;
		CREATE TABLE ledger.accounts (account_id bigint PRIMARY KEY);
		CREATE TABLE ledger.bills (bill_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account_id bigint NOT NULL REFERENCES ledger.accounts, title text NOT NULL);
		CREATE TABLE ledger.charges (charge_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account_id bigint NOT NULL REFERENCES ledger.accounts,
			bill_id bigint NOT NULL REFERENCES ledger.bills, wording text NOT NULL, pieces integer NOT NULL);
		CREATE TABLE ledger.calls (call_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account_id bigint NOT NULL REFERENCES ledger.accounts,
			bill_id bigint NOT NULL REFERENCES ledger.bills, called_on date NOT NULL, wording text NOT NULL);
		CREATE TABLE ledger.visits (visit_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account_id bigint NOT NULL REFERENCES ledger.accounts,
			bill_id bigint NOT NULL REFERENCES ledger.bills, starts_at timestamptz NOT NULL);
		CREATE TABLE ledger.opening_hours (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account_id bigint NOT NULL REFERENCES ledger.accounts, opens time NOT NULL);
		CREATE TABLE ledger.leases (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account_id bigint NOT NULL REFERENCES ledger.accounts, title text NOT NULL, days daterange, hours tstzrange);`)
	text, err := domain.Init(t.Context(), tx, "ledger")
	require.NoError(t, err)
	require.Contains(t, text, `display: "{wording}{?pieces: pieces:{pieces}}"`)
	require.Contains(t, text, `display: "{called_on:Jan 2, 2006} · {_bill_id_label} {wording}"`)
	require.Contains(t, text, `label: "{starts_at:Jan 2, 2006 15:04} · {_bill_id_label}"`)
	require.Contains(t, text, `display: "opening hour{?opens: opens:{opens}}"`)
	require.Contains(t, text, `display: "{title}"`)
	require.Contains(t, text, `spoken: "{wording}{?pieces:, pieces: {pieces}}{?bill_id:, bill: {_bill_id_label}}"`)
	require.Contains(t, text, `spoken: "opening hour{?opens:, opens: {opens:15:04}}"`)
	require.Contains(t, text, `spoken: "{title}{?days:, days: {days:Jan 2, 2006}}{?hours:, hours: {hours:Jan 2, 2006 15:04}}"`)
}

// A row is called by what tells it apart from others: a flat by its house as well, a member by the group and the person, not by the
// day on which somebody joined.
func TestInitCallsRowsByWhatTellsThemApart(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA quarter;
		CREATE TABLE quarter.users (id integer PRIMARY KEY, name text NOT NULL);
		CREATE TABLE quarter.houses (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES quarter.users, name text NOT NULL, UNIQUE (user_id, name));
		CREATE TABLE quarter.flats (id serial PRIMARY KEY, house_id integer NOT NULL REFERENCES quarter.houses, number text NOT NULL, rooms integer NOT NULL, UNIQUE (house_id, number));
		CREATE TABLE quarter.rooms (id serial PRIMARY KEY, flat_id integer NOT NULL REFERENCES quarter.flats ON DELETE CASCADE, name text NOT NULL, UNIQUE (flat_id, name));
		CREATE TABLE quarter.people (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES quarter.users, given_name text NOT NULL, family_name text NOT NULL,
			full_name text GENERATED ALWAYS AS (given_name || ' ' || family_name) STORED);
		CREATE TABLE quarter.dwellers (house_id integer NOT NULL REFERENCES quarter.houses, person_id integer NOT NULL REFERENCES quarter.people, since date NOT NULL, PRIMARY KEY (house_id, person_id));
		CREATE TABLE quarter.marks (id serial PRIMARY KEY, house_id integer NOT NULL REFERENCES quarter.houses, person_id integer NOT NULL REFERENCES quarter.people, test text NOT NULL,
			given_on date NOT NULL, UNIQUE (person_id, house_id, test));
		CREATE TABLE quarter.repairs (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES quarter.users, number integer NOT NULL, house_id integer NOT NULL REFERENCES quarter.houses,
			asked_at timestamptz NOT NULL, rooms integer, UNIQUE (user_id, number));`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"quarter"}, Accounts: "users"})
	require.NoError(t, err)
	for _, part := range []string{
		`label: "{_house_id_label} · {number}"`, `display: "{_house_id_label} · {number}{?rooms: rooms:{rooms}}"`, `order: ["number"]`, `label: "{name}"`, `display: "{full_name}"`,
		`label: "{number}"`, `spoken: "{number}{?asked_at:, asked at: {asked_at:Jan 2, 2006 15:04}}{?rooms:, rooms: {rooms}}{?house_id:, house: {_house_id_label}}"`, `label: "{_house_id_label} · {_person_id_label}"`, `label: "{_person_id_label} · {_house_id_label} · {test}"`,
	} {
		require.Contains(t, text, part)
	}
	require.NotContains(t, text, "_flat_id_label", "a part stands beside its whole")
}

// People read no column's spelling: dates, times, words and flags are written as they say them.
func TestInitSpeaksToPeople(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA choir;
		CREATE TABLE choir.users (id bigint PRIMARY KEY);
		CREATE TABLE choir.singers (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id bigint NOT NULL REFERENCES choir.users, name text NOT NULL,
			part text NOT NULL CHECK (part IN ('alto', 'bass')), joined_on date NOT NULL, is_soloist boolean NOT NULL);
		CREATE TABLE choir.fees (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id bigint NOT NULL REFERENCES choir.users, title text NOT NULL,
			amount_due numeric(8, 2) NOT NULL, collected_at time NOT NULL);`)
	text, err := domain.Init(t.Context(), tx, "choir")
	require.NoError(t, err)
	spoken := regexp.MustCompile(`spoken: "(.*)"`).FindAllStringSubmatch(text, -1)
	require.Len(t, spoken, 2, text)
	fee, err := domain.ParseTemplate(spoken[0][1])
	require.NoError(t, err)
	require.Equal(t, "Season, amount due: 84.50, collected at: 19:30", fee.Render(map[string]any{"title": "Season", "amount_due": 84.5, "collected_at": "19:30:00"}))
	singer, err := domain.ParseTemplate(spoken[1][1])
	require.NoError(t, err)
	require.Equal(t, "Ida, alto, joined on: Feb 1, 2018, is soloist", singer.Render(map[string]any{"name": "Ida", "part": "alto", "joined_on": "2018-02-01", "is_soloist": true}))
}

func TestInitUnknownSchema(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, "CREATE SCHEMA lot; CREATE TABLE lot.cars (id serial PRIMARY KEY)")
	_, err := domain.Init(t.Context(), tx, "nowhere")
	require.ErrorContains(t, err, `schema "nowhere" does not exist or has no tables; schemas with tables: kitchen, lot`)
}

const awkward = `
CREATE SCHEMA "Sailors' Club";
CREATE TYPE "Sailors' Club"."boat State" AS ENUM ('in water', 'sold!', 'O''Neill');
CREATE TABLE "Sailors' Club"."Members" ("Member No" integer PRIMARY KEY, "full name" text NOT NULL, "user" text UNIQUE);
CREATE TABLE "Sailors' Club"."Harbours" (code character(3) PRIMARY KEY, "Name" character varying(40) NOT NULL);
CREATE TABLE "Sailors' Club"."Boats" ("Member No" integer NOT NULL REFERENCES "Sailors' Club"."Members", "Hull No" text, "Name" text NOT NULL,
    "State" "Sailors' Club"."boat State" NOT NULL DEFAULT 'in water', home character(3) REFERENCES "Sailors' Club"."Harbours", "length (m)" numeric, "a: {b}" integer, deleted_at timestamptz,
    "length ft" numeric GENERATED ALWAYS AS ("length (m)" * 3) STORED, PRIMARY KEY ("Member No", "Hull No"));
CREATE TABLE "Sailors' Club"."Log Entries" ("Member No" integer, "Hull No" text, seq integer GENERATED ALWAYS AS IDENTITY,
    "the ""when""" date NOT NULL, "What happened?" text, PRIMARY KEY ("Member No", "Hull No", seq),
    FOREIGN KEY ("Member No", "Hull No") REFERENCES "Sailors' Club"."Boats" ON DELETE CASCADE);`

// What init writes fits the schema it read, whatever the names in it.
func TestInitAwkwardNames(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, awkward)

	d := bound(t, tx, "Sailors' Club")
	boat, entry, member := d.ByType("boat"), d.ByType("log_entry"), d.ByType("member")
	require.Equal(t, "boats", boat.Plural)
	require.Equal(t, "Swan [sold!] length (m):7 a: (b):1", boat.Display.Render(map[string]any{"Name": "Swan", "State": "sold!", "length (m)": 7, "a: {b}": 1}))
	require.Equal(t, []domain.OrderBy{{Column: "Name"}}, boat.Order)
	require.Equal(t, []domain.OrderBy{{Column: "full name"}}, member.Order)
	require.Equal(t, `the "when"`, entry.Order[0].Column)
	require.Equal(t, "Jan 12, 2026 · Swan", entry.Label.Render(map[string]any{`the "when"`: "2026-01-12", "_boat_key_label": "Swan"}))
	require.Equal(t, "bpchar", boat.Column("home").FK.Entity.Key.Type, "a cast to character would cut it to one character")
	require.Contains(t, d.Text, `gone: "deleted_at" # unsure: rows that it marks as deleted are left out, and to delete one is to mark it`)
	require.NoError(t, domain.Drop(t.Context(), tx, d.Decl))
}

// Programs that write names in camel case call their tables in the singular and their columns userId.
func TestInitCamelCase(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA camel;
CREATE TABLE camel."User" (id text PRIMARY KEY, "fullName" text NOT NULL);
CREATE TABLE camel."OrderItem" (id text PRIMARY KEY DEFAULT gen_random_uuid()::text, "userId" text NOT NULL REFERENCES camel."User", "displayName" text NOT NULL, "createdAt" timestamptz NOT NULL DEFAULT now());
CREATE TABLE camel."Country" (id text PRIMARY KEY, name text NOT NULL);
CREATE TABLE camel."Box" (id text PRIMARY KEY, "userId" text NOT NULL REFERENCES camel."User", label text NOT NULL, "countryId" text REFERENCES camel."Country")`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"camel"}})
	require.NoError(t, err)
	for _, part := range []string{
		`owner: "userId" # unsure`, `accounts: "User"`,
		"  - type: order_item\n    table: \"OrderItem\"\n", `name: "order item"`, `plural: "order items"`, `label: "{displayName}"`,
		`plural: "boxes"`, `plural: "countries"`, `plural: "users"`,
	} {
		require.Contains(t, text, part)
	}
	require.NotContains(t, text, `{createdAt}`)
}

// A practice's rows belong to the practice, not to its clients: whoever knows says so. Join tables without a name of
// their own are no bookkeeping, people are called by both names, and parts stand in their order.
// A table without a primary key is identified by what is unique in it. One that has the name of a view's own column for the version cannot be
// shown by one.
func TestInitFindsKeys(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA lockers;
CREATE TABLE lockers.members (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE lockers.keys (member_id integer NOT NULL REFERENCES lockers.members, code text NOT NULL UNIQUE, note text);
CREATE TABLE lockers.settings (member_id integer NOT NULL REFERENCES lockers.members, key text NOT NULL, value text, PRIMARY KEY (member_id, key));
CREATE TABLE lockers.notes (id serial PRIMARY KEY, member_id integer NOT NULL REFERENCES lockers.members, body text NOT NULL, _version integer)`)
	d := bound(t, tx, "lockers")
	require.Equal(t, "code", d.ByType("key").Key.Name)
	require.Equal(t, "view_key", d.ByType("setting").Key.Name)
	require.Contains(t, d.Text, "# left out, notes: its column _version has the name under which a view shows the version of a row")
}

func TestInitForAccounts(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA clinic;
CREATE TABLE clinic."Practice" (id text PRIMARY KEY, name text NOT NULL);
CREATE TABLE clinic."Client" (id text PRIMARY KEY, "practiceId" text NOT NULL REFERENCES clinic."Practice", email text NOT NULL, "firstName" text NOT NULL, "lastName" text NOT NULL, "deletedAt" timestamp, "seenAt" timestamp(3), "calledAt" timestamptz);
CREATE TABLE clinic."Tag" (id serial PRIMARY KEY, "practiceId" text NOT NULL REFERENCES clinic."Practice", name text NOT NULL);
CREATE TABLE clinic."_ClientToTag" ("A" text NOT NULL REFERENCES clinic."Client" ON DELETE CASCADE, "B" integer NOT NULL REFERENCES clinic."Tag" ON DELETE CASCADE, UNIQUE ("A", "B"));
CREATE TABLE clinic."Invoice" (id text PRIMARY KEY, "practiceId" text NOT NULL REFERENCES clinic."Practice", "clientId" text NOT NULL REFERENCES clinic."Client", title text NOT NULL);
CREATE TABLE clinic."InvoiceItem" (id text PRIMARY KEY, "billedTo" text NOT NULL REFERENCES clinic."Client", "invoiceId" text NOT NULL REFERENCES clinic."Invoice" ON DELETE CASCADE, "lineNumber" integer NOT NULL, name text NOT NULL, price numeric(12, 2) NOT NULL)`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"clinic"}, Accounts: "Practice"})
	require.NoError(t, err)
	for _, part := range []string{
		`owner: "practiceId" # unsure`, `accounts: "Practice"`, "  - type: client_tag\n", `plural: "client tags"`, `label: "{firstName} {lastName}" # unsure`, `order: ["lastName"]`,
		`gone: "deletedAt" # unsure`, "# unsure: seenAt without a time zone", `owned_by: ["invoiceId"]`, `order: ["lineNumber"]`, `{?price: price:{price:0.00}}`, `description: "The clients."`, `- label: "invoices"`,
	} {
		require.Contains(t, text, part)
	}
	require.NotContains(t, text, "reference: true")
	_, err = domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"clinic"}, Accounts: "Clinic"})
	require.ErrorContains(t, err, "accounts: table clinic.Clinic does not exist")
}

// To whom rows belong is said where it is guessed. Who may be missing, as who approved, owns nothing that has an owner
// otherwise; nobody's password is shown; and what links two rows is called by both.
func TestInitSaysToWhomRowsBelong(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA depot;
CREATE TABLE depot.auth_user (id serial PRIMARY KEY, email text NOT NULL, password text NOT NULL, "resetPasswordToken" text, tokens integer);
CREATE TABLE depot.items (id serial PRIMARY KEY, name text NOT NULL, user_id integer NOT NULL REFERENCES depot.auth_user, counted_by integer REFERENCES depot.auth_user);
CREATE TABLE depot.moves (id serial PRIMARY KEY, item_id integer NOT NULL REFERENCES depot.items, moved_on date NOT NULL, checked_by integer REFERENCES depot.auth_user, by_id integer NOT NULL REFERENCES depot.auth_user);
CREATE TABLE depot.photos (id serial PRIMARY KEY, approved_by integer REFERENCES depot.auth_user, item_id integer NOT NULL REFERENCES depot.items, title text NOT NULL);
CREATE TABLE depot.marks (id serial PRIMARY KEY, name text NOT NULL, user_id integer NOT NULL REFERENCES depot.auth_user);
CREATE TABLE depot.item_marks (id serial PRIMARY KEY, item_id integer NOT NULL REFERENCES depot.items, mark_id integer NOT NULL REFERENCES depot.marks);
CREATE TABLE depot.parts (a_item integer NOT NULL REFERENCES depot.items ON DELETE CASCADE, mark_id integer NOT NULL REFERENCES depot.marks, PRIMARY KEY (a_item, mark_id));
CREATE TABLE depot.orders (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES depot.auth_user, item_id integer REFERENCES depot.items, made_on date, mark_id integer NOT NULL REFERENCES depot.marks);
CREATE TABLE depot.tasks (id serial PRIMARY KEY, assignee integer REFERENCES depot.auth_user, title text NOT NULL);
INSERT INTO depot.auth_user (email, password) VALUES ('ada@x', '1'), ('eve@x', '2');
INSERT INTO depot.items (name, user_id) VALUES ('lamp', 1), ('sofa', 2);
INSERT INTO depot.photos (approved_by, item_id, title) VALUES (2, 1, 'front');`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"depot"}, Accounts: "auth_user"})
	require.NoError(t, err)
	for _, part := range []string{
		`owner: "by_id" # unsure: its rows are those of whom it names; if not, owner: checked_by or owned_by: [item_id]`,
		"owned_by: [item_id] # unsure", `owner: "assignee" # unsure: its rows are those of whom it names` + "\n",
		`label: "{?made_on: {made_on:Jan 2, 2006}} · {_mark_id_label}" # unsure`, `label: "{_item_id_label} · {_mark_id_label}" # unsure`, `label: "{_mark_id_label}" # unsure`,
		`hidden: [password, "resetPasswordToken"]`, "counted_by integer, refers to auth_user",
	} {
		require.Contains(t, text, part)
	}
	require.NotContains(t, text, "{password}")
	d := attached(t, tx, "depot", "\n  - type: photo\n", "\n  - type: photo\n    writes: [create]\n    columns: [item_id, title]\n")
	order := d.ByType("order").Label
	require.Equal(t, "Jan 12, 2026 · red", order.RenderComplete(map[string]any{"made_on": "2026-01-12", "_mark_id_label": "red"}))
	require.Equal(t, "red", order.RenderComplete(map[string]any{"made_on": nil, "_mark_id_label": "red"}), "a row is called by what it has")
	require.True(t, d.ByType("auth_user").Column("password").Hidden)
	require.Equal(t, "front", as(t, tx, adaID, `SELECT title FROM depot_alfred.photos`), "whoever approved it has no part in it")
	require.Empty(t, as(t, tx, adaID, `INSERT INTO depot_alfred.photos (item_id, title) VALUES (1, 'back') RETURNING approved_by::text`), "nobody has approved it")
}

// What models can never write is not declared, however much is granted: check would refuse it.
func TestInitLeavesOutWhatModelsNeverSee(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA attic; GRANT USAGE ON SCHEMA attic TO alfred_tenant;
		CREATE TABLE attic.boxes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id uuid NOT NULL DEFAULT gen_random_uuid(), name text NOT NULL,
			photo bytea, address point, outside uuid, updated_at timestamptz NOT NULL DEFAULT now());
		ALTER TABLE attic.boxes ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON attic.boxes TO alfred_tenant USING (true);
		GRANT SELECT, INSERT, UPDATE (name, photo) ON attic.boxes TO alfred_tenant`)
	text, err := domain.Init(t.Context(), tx, "attic")
	require.NoError(t, err)
	require.Contains(t, text, `columns: ["name"]`)
	require.Contains(t, text, "# unsure: granted, but models see none of photo, address, outside, updated_at: REVOKE them")
	exec(t, tx, `REVOKE INSERT, UPDATE (photo) ON attic.boxes FROM alfred_tenant; GRANT INSERT (name) ON attic.boxes TO alfred_tenant`)
	_, err = bindText(t, tx, text)
	require.NoError(t, err, text)
}

// In a schema of many tables there are more ways from a row to its owner than anybody could follow one by one.
func TestInitFollowsManyWaysToAnOwner(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA woven; CREATE TABLE woven.users (id bigint PRIMARY KEY);
		DO $$ BEGIN FOR i IN 1..20 LOOP FOR j IN 1..3 LOOP
			EXECUTE format('CREATE TABLE woven.t%s_%s (id bigint PRIMARY KEY, name text NOT NULL)', i, j);
			FOR k IN 1..3 LOOP
				EXECUTE CASE WHEN i = 1 AND k = 1 THEN format('ALTER TABLE woven.t1_%s ADD user_id bigint NOT NULL REFERENCES woven.users', j)
					WHEN i > 1 THEN format('ALTER TABLE woven.t%s_%s ADD r%s bigint NOT NULL REFERENCES woven.t%s_%s', i, j, k, i - 1, k) ELSE 'SELECT 1' END;
			END LOOP; END LOOP; END LOOP; END $$`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"woven"}})
	require.NoError(t, err)
	require.NotContains(t, text, "reference: true")
	require.Contains(t, text, "t20_3")
}

// A row whose key is that of a row of a table that is left out is called by what it says itself. Passwords are left out.
func TestInitCallsNothingByWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA staff; CREATE TABLE staff.users (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE staff.humans (id integer PRIMARY KEY, pass text);
CREATE TABLE staff.passwords (user_id integer PRIMARY KEY REFERENCES staff.users, digits text NOT NULL);
CREATE TABLE staff.clerks (human_id integer PRIMARY KEY REFERENCES staff.humans, job text NOT NULL);
CREATE TABLE staff.cases (id integer PRIMARY KEY, user_id integer NOT NULL UNIQUE REFERENCES staff.users, human_id integer NOT NULL UNIQUE REFERENCES staff.humans, clerk_id integer NOT NULL REFERENCES staff.clerks, name text NOT NULL)`)
	d := bound(t, tx, "staff")
	require.Contains(t, d.Text, "# left out, humans: each of its rows is that of one row of")
	require.Contains(t, d.Text, "# left out, passwords: by its name or columns, its rows let people or programs in")
	require.NotContains(t, d.Text, "human_key")
	require.Contains(t, d.Text, `label: "{job}"`)
}
