package domain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// Rows that memberships give to some people are shown to those, if it is certain to whom, and what many people like to everybody.
func TestInitFindsWhatMembersShare(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA stats;
		CREATE TABLE stats.schema_migrations (version bigint PRIMARY KEY, inserted_at timestamp(0));
		CREATE TABLE stats.users (id bigserial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE stats.sites (id bigserial PRIMARY KEY, domain text NOT NULL);
		CREATE TABLE stats.site_memberships (id bigserial PRIMARY KEY, site_id bigint NOT NULL REFERENCES stats.sites, user_id bigint NOT NULL REFERENCES stats.users, UNIQUE (site_id, user_id));
		CREATE TABLE stats.lists (id bigserial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE stats.list_shares (user_id bigint NOT NULL REFERENCES stats.users, list_id bigint NOT NULL REFERENCES stats.lists, role text NOT NULL, PRIMARY KEY (user_id, list_id));
		CREATE TABLE stats.goals (id bigserial PRIMARY KEY, site_id bigint NOT NULL REFERENCES stats.sites, name text NOT NULL);
		CREATE TABLE stats.themes (id bigserial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE stats.favourites (user_id bigint NOT NULL REFERENCES stats.users, theme_id bigint NOT NULL REFERENCES stats.themes, PRIMARY KEY (user_id, theme_id))`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"stats"}})
	require.NoError(t, err)
	require.Contains(t, text, "refers to list\n    #   role text\n    key: \"key\" # made of user_id, list_id\n")
	require.Contains(t, text, "members: [{table: \"list_shares\"}] # unsure")
	require.Contains(t, text, "members: [{table: \"site_memberships\"}] # unsure")
	require.Contains(t, text, "owned_by: [site_id] # unsure: its rows are those of whom the sites are")
	require.Equal(t, 2, strings.Count(text, "# read only: whoever writes it decides who sees what"))
	require.Contains(t, text, "writes: [update, delete] and columns: [domain]", "a new site would have no members")

	exec(t, tx, "ALTER TABLE stats.site_memberships ADD accepted_at timestamptz")
	text, err = domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"stats"}})
	require.NoError(t, err)
	require.Contains(t, text, "# left out, sites: its rows are those of some of the people whom site_memberships names; members: [{table: site_memberships, where: \"...\"}] says of which")
	require.Contains(t, text, "# left out, goals: no foreign key connects it")
	require.Contains(t, text, "type: theme\n")
	require.Contains(t, text, "utc: true", "Ecto made them")
}

// A table of which the rows cannot be read, here for a policy that wants a setting of each connection, keeps nobody from the others.
func TestInitGoesOnWithoutRowsThatItCannotRead(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE ROLE init_shopkeeper;
		CREATE SCHEMA stall AUTHORIZATION init_shopkeeper;
		SET LOCAL ROLE init_shopkeeper;
		CREATE TABLE stall.users (id bigserial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE stall.crates (id text PRIMARY KEY, user_id bigint NOT NULL REFERENCES stall.users, title text NOT NULL);
		CREATE TABLE stall.sacks (id text PRIMARY KEY, user_id bigint NOT NULL REFERENCES stall.users, title text NOT NULL);
		INSERT INTO stall.users (name) VALUES ('Ada');
		INSERT INTO stall.sacks VALUES ('clh3vqzkt0000qw8z1x2y3z4a', 1, 'Flour');
		ALTER TABLE stall.crates ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
		CREATE POLICY own ON stall.crates USING (user_id = current_setting('stall.user')::bigint)`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"stall"}})
	require.NoError(t, err)
	require.Contains(t, text, `# unsure: the rows of crates (unrecognized configuration parameter "stall.user") cannot be read`)
	require.Contains(t, text, "type: crate\n")
	require.NotContains(t, text, "the rows of sacks")
	require.Equal(t, 1, strings.Count(text, "id: \"'c' || left("), "nobody knows how keys of crates are made")
}

// Keys of rows are not shown to models where no foreign key says that they are.
func TestInitHidesKeysWithoutForeignKeys(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA desk;
		CREATE TABLE desk.accounts (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE desk.contacts (id serial PRIMARY KEY, account_id integer NOT NULL REFERENCES desk.accounts, name text NOT NULL);
		CREATE TABLE desk.messages (id serial PRIMARY KEY, account_id integer NOT NULL, contact_id integer NOT NULL, sender_type text, sender_id bigint, display_id integer, key_hash text, content text NOT NULL)`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"desk"}})
	require.NoError(t, err)
	require.Contains(t, text, "references: {contact_id: contact} # unsure: no foreign key says so")
	require.Contains(t, text, "hidden: [sender_id, key_hash]")
	require.Contains(t, text, "no foreign key knows of messages.contact_id, which would go on pointing at what is deleted")
	require.Contains(t, text, `display: "{content}{?sender_type: [{sender_type}]}{?display_id: display_id:{display_id}}`)
}

// Without foreign keys, rows are parts of those after which their table is named, if each has one.
func TestInitKnowsPartsByTheirNames(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA till;
		CREATE TABLE till.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE till.user_notes (id serial PRIMARY KEY, user_id integer NOT NULL, note text NOT NULL);
		CREATE TABLE till."salesOrders" (id serial PRIMARY KEY, user_id integer NOT NULL, title text NOT NULL);
		CREATE TABLE till."salesOrderLines" (id serial PRIMARY KEY, "salesOrderId" integer NOT NULL, product_id integer NOT NULL, pieces integer NOT NULL, note text NOT NULL);
		CREATE TABLE till.products (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE till.product_reviews (id serial PRIMARY KEY, user_id integer NOT NULL, product_id integer, words text NOT NULL);
		CREATE TABLE till.returns (id serial PRIMARY KEY, "salesOrderId" integer NOT NULL, why text NOT NULL)`)
	d := bound(t, tx, "till")
	require.Equal(t, 1, strings.Count(d.Text, "children:"))
	require.Len(t, d.ByType("sale_order").Children, 1)
	require.Same(t, d.ByType("sale_order_line"), d.ByType("sale_order").Children[0].Entity)
}

// Rows that go with their owner's account are worked with for themselves.
func TestInitMakesNothingPartOfAnAccount(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA music;
		CREATE TABLE music.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE music.songs (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES music.users ON DELETE CASCADE, title text NOT NULL)`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"music"}})
	require.NoError(t, err)
	require.NotContains(t, text, "children:")
	require.Contains(t, text, `  - name: "songs"`)
	require.Contains(t, text, `  - label: "songs"`)
}

// A foreign key that holds the other row's key beside a workspace references that row; one that holds a code does not.
func TestInitReadsForeignKeysThatHoldMoreThanTheKey(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA flows;
CREATE TABLE flows.users (id text PRIMARY KEY, name text NOT NULL);
CREATE TABLE flows.flows (id text PRIMARY KEY, workspace_id text NOT NULL, code text NOT NULL UNIQUE, user_id text NOT NULL REFERENCES flows.users, name text NOT NULL, UNIQUE (id, workspace_id));
CREATE TABLE flows.runs (id text PRIMARY KEY, flow_id text NOT NULL, workspace_id text NOT NULL, started date NOT NULL,
	FOREIGN KEY (flow_id, workspace_id) REFERENCES flows.flows (id, workspace_id) ON DELETE CASCADE);
CREATE TABLE flows.grants (id text PRIMARY KEY, flow_code text NOT NULL REFERENCES flows.flows (code) ON DELETE CASCADE, name text NOT NULL);
INSERT INTO flows.users VALUES ('u', 'Ada'); INSERT INTO flows.flows VALUES ('f', 'w', 'c', 'u', 'Nightly'); INSERT INTO flows.runs VALUES ('r', 'f', 'w', '2026-01-12')`)
	d := bound(t, tx, "flows")
	require.Contains(t, d.Text, "children: # unsure: rows that are deleted with theirs or named after them, and so shown, drafted and counted as parts of it; take out what people know by itself\n      - type: run\n")
	require.Contains(t, d.Text, `label: "{started:Jan 2, 2006} · {_flow_id_label}"`)
	run := d.ByType("run")
	require.Same(t, d.ByType("flow"), run.Column("flow_id").Target())
	require.Nil(t, run.Column("workspace_id").FK)
	require.Nil(t, d.ByType("grant").Column("flow_code").FK)
}

// What frameworks keep for themselves is nobody's to talk about, and what lets people in least of all: no reason invites to share it.
func TestInitLeavesOutWhatFrameworksKeep(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA kept;
CREATE TABLE kept.migrations (id serial PRIMARY KEY, migration varchar NOT NULL, batch integer NOT NULL);
CREATE TABLE kept.ar_internal_metadata (key varchar PRIMARY KEY, value varchar);
CREATE TABLE kept.django_content_type (id serial PRIMARY KEY, app_label text NOT NULL, model text NOT NULL);
CREATE TABLE kept.auth_permission (id serial PRIMARY KEY, name text NOT NULL, content_type_id integer NOT NULL REFERENCES kept.django_content_type);
CREATE TABLE kept.auth_user (id serial PRIMARY KEY, username text NOT NULL, password varchar(128) NOT NULL);
CREATE TABLE kept.auth_user_user_permissions (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES kept.auth_user, permission_id integer NOT NULL REFERENCES kept.auth_permission);
CREATE TABLE kept.django_admin_log (id serial PRIMARY KEY, object_repr text NOT NULL, content_type_id integer REFERENCES kept.django_content_type, user_id integer NOT NULL REFERENCES kept.auth_user);
CREATE TABLE kept.authtoken_token (key varchar(40) PRIMARY KEY, user_id integer NOT NULL REFERENCES kept.auth_user);
CREATE TABLE kept."RefreshToken" (id serial PRIMARY KEY, hash text NOT NULL, user_id integer NOT NULL REFERENCES kept.auth_user);
CREATE TABLE kept."VerificationToken" (identifier text NOT NULL, token text NOT NULL UNIQUE);
CREATE TABLE kept."Session" (id serial PRIMARY KEY, "sessionToken" text NOT NULL, user_id integer NOT NULL REFERENCES kept.auth_user);
CREATE TABLE kept.sessions (id serial PRIMARY KEY, coach text NOT NULL, starts_at timestamptz NOT NULL, user_id integer NOT NULL REFERENCES kept.auth_user);
CREATE TABLE kept.attachments (id serial PRIMARY KEY, name text NOT NULL, record_type text NOT NULL, record_id integer NOT NULL);
CREATE TABLE kept.posts (id serial PRIMARY KEY, title text NOT NULL, user_id integer NOT NULL REFERENCES kept.auth_user);
CREATE TABLE kept.tags (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE kept."_PostToTag" ("A" integer NOT NULL REFERENCES kept.posts, "B" integer NOT NULL REFERENCES kept.tags, PRIMARY KEY ("A", "B"));`)
	d := bound(t, tx, "kept")
	types := make([]string, 0, len(d.Entities))
	for _, e := range d.Entities {
		types = append(types, e.Type)
	}
	require.ElementsMatch(t, []string{"user", "post", "tag", "post_tag", "session"}, types)
	require.Contains(t, d.Text, "# left out, authtoken_token: by its name or columns, its rows let people or programs in\n")
	require.Contains(t, d.Text, "# left out, attachments: its rows are those of the rows that record_type with record_id names, and no foreign key says whose these are; declare polymorphic, with their types, or a view of yours\n")
	require.NotContains(t, d.Text, "if all users may see all of it")
}

// No row is called by its kind, which many share, but by its number, if it has one; kinds and states stand beside it.
func TestInitCallsNoRowByItsKind(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA kinds; CREATE TABLE kinds.users (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE kinds.methods (dtype varchar NOT NULL, id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES kinds.users, nickname varchar NOT NULL);
CREATE TABLE kinds.comments (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES kinds.users, commentable_type varchar NOT NULL, commentable_id integer NOT NULL, body text NOT NULL);
CREATE TABLE kinds.bills (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES kinds.users, method_id integer NOT NULL REFERENCES kinds.methods, status varchar(10) NOT NULL, due date, "billNumber" varchar NOT NULL UNIQUE);`)
	d := bound(t, tx, "kinds")
	for _, part := range []string{
		`label: "{nickname}"`, `display: "{nickname}{?dtype: [{dtype}]}"`, `label: "{body}"`,
		`label: "{billNumber}"`, `display: "{billNumber}{?status: [{status}]}{?due: due:{due}}"`,
	} {
		require.Contains(t, d.Text, part)
	}
}

// Whoever does not say what a number means leaves it to models to guess.
func TestInitAsksWhatNumbersMean(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA coded; CREATE TABLE coded.users (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE coded.jobs (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES coded.users, name text NOT NULL, status smallint NOT NULL DEFAULT 0, task_type integer, role integer, pieces integer, kind text);
COMMENT ON COLUMN coded.jobs.role IS '0 is guest, 1 is host'`)
	require.Contains(t, bound(t, tx, "coded").Text, `    # instead: words: {status: {0: "...", 1: "..."}, task_type: {0: "...", 1: "..."}}`+"\n")
	text, err := domain.Init(t.Context(), tx, "coded")
	require.NoError(t, err)
	require.Contains(t, text, `which models know by a comment of the column: status: {0: "...", 1: "..."}, task_type: {0: "...", 1: "..."}`+"\n")
}

// People whose accounts another schema keeps are those of whom this one has profiles, as Supabase's projects have.
func TestInitFindsPeopleOfAnotherSchema(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA kept_auth; CREATE TABLE kept_auth.users (id uuid PRIMARY KEY, encrypted_password text);
CREATE SCHEMA base;
CREATE TABLE base.avatars (id uuid PRIMARY KEY REFERENCES kept_auth.users, picture text);
CREATE TABLE base.profiles (id uuid PRIMARY KEY REFERENCES kept_auth.users ON DELETE CASCADE, username text NOT NULL UNIQUE);
CREATE TABLE base.settings (id uuid PRIMARY KEY REFERENCES kept_auth.users, theme text);
CREATE TABLE base.notes (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), user_id uuid NOT NULL REFERENCES kept_auth.users ON DELETE CASCADE, title text NOT NULL, shown_to uuid REFERENCES kept_auth.users);
CREATE TABLE base.links (note_id uuid NOT NULL REFERENCES base.notes ON DELETE CASCADE, place integer NOT NULL, PRIMARY KEY (note_id, place));
INSERT INTO kept_auth.users VALUES ('`+adaID+`'), ('`+eveID+`');
INSERT INTO base.profiles SELECT id, 'u' || id FROM kept_auth.users;
INSERT INTO base.notes (user_id, title) VALUES ('`+adaID+`', 'Mine'), ('`+eveID+`', 'Hers')`)
	d := bound(t, tx, "base", "    name: \"note\"\n", "    name: \"note\"\n    writes: [create, update, delete]\n    columns: [title]\n")
	require.Contains(t, d.Text, `accounts: "profiles"}`)
	require.NotContains(t, d.Text, "left out, profiles")
	require.NotContains(t, d.Text, "reference: true", "what is somebody's is not shared")
	exec(t, tx, `INSERT INTO base_alfred.alfred_accounts VALUES ('`+adaID+`', '`+adaID+`')`)
	require.Equal(t, "Mine", as(t, tx, adaID, `SELECT string_agg(title, ', ') FROM base_alfred.notes`))
	require.Equal(t, "New", as(t, tx, adaID, `INSERT INTO base_alfred.notes (title) VALUES ('New') RETURNING title`))
	proof, err := domain.Probe(t.Context(), tx, d.Decl)
	require.NoError(t, err)
	require.Empty(t, proof.Broken)
}

// What Rails does beside a write is said where the write would be allowed: rows that go with others by name alone, and counters.
func TestInitNamesWhatProgramsKeep(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA rails; CREATE TABLE rails.users (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE rails.posts (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES rails.users, title text NOT NULL, comments_count integer NOT NULL DEFAULT 0, likes_count integer NOT NULL DEFAULT 0);
CREATE TABLE rails.likes (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES rails.users, post_id integer NOT NULL REFERENCES rails.posts, note text);
CREATE TABLE rails.comments (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES rails.users, commentable_type varchar NOT NULL, commentable_id integer NOT NULL, body text NOT NULL);
CREATE TABLE rails.files (id serial PRIMARY KEY, record_type varchar NOT NULL, record_id integer NOT NULL, name text);
INSERT INTO rails.users (name) VALUES ('Ada'); INSERT INTO rails.comments (user_id, commentable_type, commentable_id, body) VALUES (1, 'Blog::Post', 1, 'Yes');
INSERT INTO rails.files (record_type, record_id) VALUES ('Post', 1), ('User', 1)`)
	text := bound(t, tx, "rails").Text
	require.Contains(t, text, "# unsure: no foreign key knows of comments.commentable_id, files.record_id, which would go on pointing at what is deleted\n  - type: user\n", "of posts")
	require.Contains(t, text, "# unsure: posts.comments_count would not count what is created or deleted here, unless a trigger does\n")
	require.Contains(t, text, "# unsure: posts.likes_count would not count")
	require.Equal(t, 2, strings.Count(text, "unless a trigger does"))
}

// People who gave no name have a username: Django's users were called by nothing.
func TestInitCallsNobodyByAnEmptyName(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA club;
CREATE TABLE club.auth_user (id serial PRIMARY KEY, username varchar(150) NOT NULL UNIQUE, first_name varchar(150) NOT NULL, last_name varchar(150) NOT NULL);
CREATE TABLE club.visits (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES club.auth_user, title text NOT NULL);
INSERT INTO club.auth_user (username, first_name, last_name) VALUES ('ada', 'Ada', 'Lovelace')`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"club"}})
	require.NoError(t, err)
	require.Contains(t, text, `label: "{first_name} {last_name}"`)
	exec(t, tx, `INSERT INTO club.auth_user (username, first_name, last_name) VALUES ('eve', '', '')`)
	text, err = domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"club"}})
	require.NoError(t, err)
	require.Contains(t, text, `label: "{username}"`)
}

// What init says may be written can be declared as it stands: nothing that programs keep, no row that nobody could make, and
// nothing of people's own rows, where some say what they may do.
func TestInitProposesWrites(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA desks;
CREATE TABLE desks.users (id serial PRIMARY KEY, name text NOT NULL, is_admin boolean NOT NULL DEFAULT false);
CREATE TABLE desks.projects (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES desks.users, name text NOT NULL, tasks_count integer NOT NULL DEFAULT 0, done_at date, discarded_at timestamp, lock_version integer NOT NULL DEFAULT 0, updated_at timestamp NOT NULL);
CREATE TABLE desks.tasks (id serial PRIMARY KEY, project_id integer NOT NULL REFERENCES desks.projects, title text NOT NULL, words integer GENERATED ALWAYS AS (length(title)) STORED);
CREATE TABLE desks.tags (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE desks.projects_tags (project_id integer NOT NULL REFERENCES desks.projects, tag_id integer NOT NULL REFERENCES desks.tags, UNIQUE (project_id, tag_id));
CREATE TABLE desks.comments (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES desks.users, about_type text NOT NULL, about_id integer NOT NULL, body text NOT NULL)`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"desks"}})
	require.NoError(t, err)
	const before = "# read only; to allow more: "
	for _, part := range []string{
		"writes: [create, update, delete] and columns: [name, done_at]", "writes: [create, update, delete] and columns: [project_id, title]",
		"writes: [create, update, delete] and columns: [project_id, tag_id]", "writes: [update, delete] and columns: [body]",
		"writes: [create, update, delete] and columns: [those that may be set]",
	} {
		require.Contains(t, text, before+part)
	}
	d := bound(t, tx, "desks", "\n    "+before+"writes: [create, update, delete] and columns: [those", "\n    #", before, "", "] and columns: ", "]\n    columns: ")
	require.Equal(t, []domain.Verb{domain.Update, domain.Delete}, d.ByType("comment").Writes)
	require.Len(t, d.ByType("project").Writes, 3)
}
