package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// Foreign keys of Hibernate and TypeORM may be null unless somebody said otherwise: what has no other way to its owners is
// shown by them.
func TestInitFollowsForeignKeysThatMayBeNull(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA wares;
		CREATE TABLE wares.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE wares.orders (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES wares.users, name text NOT NULL, good_id integer);
		CREATE TABLE wares.goods (id serial PRIMARY KEY, name text NOT NULL, last_order_id integer REFERENCES wares.orders);
		CREATE TABLE wares.notes (id serial PRIMARY KEY, line_id integer, text text NOT NULL);
		CREATE TABLE wares.lines (id serial PRIMARY KEY, order_id integer REFERENCES wares.orders, name text NOT NULL);
		ALTER TABLE wares.notes ADD FOREIGN KEY (line_id) REFERENCES wares.lines;
		ALTER TABLE wares.orders ADD FOREIGN KEY (good_id) REFERENCES wares.goods;
		INSERT INTO wares.users (name) VALUES ('Ada'), ('Eve'); INSERT INTO wares.orders (user_id, name) VALUES (1, 'a'), (2, 'b');
		INSERT INTO wares.lines (order_id, name) VALUES (1, 'mine'), (2, 'hers'), (NULL, 'nobody''s'); INSERT INTO wares.notes (line_id, text) VALUES (2, 'hers'), (1, 'mine')`)
	d := attached(t, tx, "wares")
	require.Contains(t, d.Text, "owned_by: [order_id] # unsure: its rows are those of whom the orders are, and those without one nobody's")
	require.Contains(t, d.Text, "owned_by: [line_id] # unsure: its rows are those of whom the lines are, and those without one nobody's")
	require.True(t, d.ByType("good").Reference, "what orders point at is a catalogue")
	for _, table := range []string{"lines", "notes"} {
		require.Equal(t, "1", as(t, tx, adaID, `SELECT count(*)::text FROM wares_alfred.`+table))
	}
}

// A generic relation of Django's holds a key beside its content type, which a table names.
func TestInitHidesKeysOfGenericRelations(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA press;
		CREATE TABLE press.auth_user (id serial PRIMARY KEY, username text NOT NULL);
		CREATE TABLE press.django_content_type (id serial PRIMARY KEY, app_label text NOT NULL, model text NOT NULL);
		CREATE TABLE press.press_page (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES press.auth_user, title text NOT NULL);
		CREATE TABLE press.press_note (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES press.auth_user, content_type_id integer NOT NULL REFERENCES press.django_content_type, object_id integer NOT NULL, text text NOT NULL);
		CREATE TABLE press.flags (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES press.auth_user, content_type_id integer NOT NULL REFERENCES press.django_content_type, object_pk varchar(64) NOT NULL, text text NOT NULL);
		INSERT INTO press.django_content_type (id, app_label, model) VALUES (7, 'press', 'page'), (8, 'auth', 'group');
		INSERT INTO press.auth_user (username) VALUES ('ada'); INSERT INTO press.press_page (user_id, title) VALUES (1, 'Start'); INSERT INTO press.press_note (user_id, content_type_id, object_id, text) VALUES (1, 7, 1, 'Nice'), (1, 8, 1, 'Odd');
		INSERT INTO press.flags (user_id, content_type_id, object_pk, text) VALUES (1, 7, '1', 'Spam')`)
	d := bound(t, tx, "press")
	note := d.ByType("press_note")
	require.True(t, note.Column("content_type_id").Hidden)
	require.True(t, note.Column("object_id").Hidden)
	require.Equal(t, "press_page", note.Column("object_press_page").Target().Type)
	flag := d.ByType("flag")
	require.True(t, flag.Column("object_pk").Hidden)
	require.Equal(t, "press_page", flag.Column("object_press_page").Target().Type)
}

// What a status may be stands in the programs alone: models guessed the words that they filter by, and wrote words that no program knows.
func TestInitListsTheWordsThatRowsHave(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA desk;
		CREATE TABLE desk.users (id serial PRIMARY KEY, name text NOT NULL, role varchar NOT NULL);
		CREATE TABLE desk.tickets (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES desk.users, subject text NOT NULL, status varchar(20) NOT NULL, severity text,
			kind text NOT NULL CHECK (kind IN ('bug', 'wish')), mode varchar NOT NULL, stage text NOT NULL, source text NOT NULL, rank_state text NOT NULL);
		INSERT INTO desk.users (name, role) VALUES ('Ada', 'agent'), ('Eve', 'guest');
		INSERT INTO desk.tickets (user_id, subject, status, severity, kind, mode, stage, source, rank_state) SELECT 1, 'Ticket ' || i, (ARRAY['open', 'in_progress', 'done'])[1 + i % 3],
			CASE WHEN i % 2 = 0 THEN (ARRAY['low', 'high'])[1 + i % 4 / 2] END, 'bug', CASE WHEN i % 9 > 0 THEN 'mail' ELSE '' END, 'stage ' || i, 'web', repeat('long ', 9) FROM generate_series(1, 60) AS i`)
	d := bound(t, tx, "desk")
	require.Contains(t, d.Text, `    lists: {status: ["done", "in_progress", "open"], severity: ["high", "low"]} # unsure: the words that rows have; add those that none has yet`+"\n")
	require.Equal(t, []string{"done", "in_progress", "open"}, d.ByType("ticket").Column("status").Enum)
	require.NotContains(t, d.Text, "role: [", "two rows say little")
}

// When a row was made is what people ask for: what came in today, the newest. Where everybody shares the rows, nobody does.
func TestInitShowsWhenRowsWereMade(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA made; CREATE TABLE made.users (id serial PRIMARY KEY, name text NOT NULL, created_at timestamp(6) NOT NULL);
		CREATE TABLE made.tags (id serial PRIMARY KEY, name text NOT NULL, created_at timestamp(6) NOT NULL);
		CREATE TABLE made.notes (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES made.users, tag_id integer NOT NULL REFERENCES made.tags, body text NOT NULL,
			"createdAt" timestamp(6) NOT NULL, updated_at timestamp(6) NOT NULL);
		CREATE TABLE made.noted (note_id integer NOT NULL REFERENCES made.notes, tag_id integer NOT NULL REFERENCES made.tags, created_at date NOT NULL, PRIMARY KEY (note_id, tag_id))`)
	d := bound(t, tx, "made")
	require.True(t, d.ByType("noted").Column("created_at").Hidden)
	require.Contains(t, d.Text, "    visible: [\"createdAt\"] # when it was made; programs say it\n")
	note := d.ByType("note")
	require.False(t, note.Column("createdAt").Hidden)
	require.True(t, note.Column("updated_at").Hidden)
	require.NotContains(t, note.Sets["summary"], "createdAt", "nobody asks for it by sight: it would stand in each row's line of every prompt")
	require.Contains(t, note.Describe(), "- createdAt: timestamp (2026-01-31T18:00), read if asked for\n")
	require.True(t, d.ByType("tag").Column("created_at").Hidden)
}

// Nobody calls an issue a tracker issue: Django begins the names of tables with their app. What tells two tables apart, or is a row
// of its own, stays.
func TestInitLeavesTheAppOutOfNames(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA plan; CREATE TABLE plan.auth_user (id serial PRIMARY KEY, username text NOT NULL);
		CREATE TABLE plan.tracker_issue (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES plan.auth_user, title text NOT NULL);
		CREATE TABLE plan.tracker_issue_labels (id serial PRIMARY KEY, issue_id integer NOT NULL REFERENCES plan.tracker_issue, text text NOT NULL);
		CREATE TABLE plan.tracker_note (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES plan.auth_user, body text NOT NULL);
		CREATE TABLE plan.shop_note (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES plan.auth_user, body text NOT NULL);
		CREATE TABLE plan.shop_item (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES plan.auth_user, name text NOT NULL);
		CREATE TABLE plan.shop_cart (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES plan.auth_user, name text NOT NULL);
		CREATE TABLE plan.posts (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES plan.auth_user, name text NOT NULL);
		CREATE TABLE plan.post_views (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES plan.auth_user, name text NOT NULL);
		CREATE TABLE plan.post_likes (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES plan.auth_user, name text NOT NULL);
		CREATE TABLE plan.post_parts (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES plan.auth_user, name text NOT NULL)`)
	d := bound(t, tx, "plan")
	names := map[string]string{}
	for _, e := range d.Entities {
		names[e.Table] = e.Type + ", " + e.Name + ", " + e.Plural
	}
	require.Equal(t, map[string]string{
		"auth_user": "auth_user, auth user, auth users", "tracker_issue": "issue, issue, issues", "tracker_issue_labels": "issue_label, issue label, issue labels",
		"tracker_note": "tracker_note, tracker note, tracker notes", "shop_note": "shop_note, shop note, shop notes", "shop_item": "item, item, items", "shop_cart": "cart, cart, carts",
		"posts": "post, post, posts", "post_views": "post_view, post view, post views", "post_likes": "post_like, post like, post likes", "post_parts": "post_part, post part, post parts",
	}, names)
}

// Strapi keeps what a row has of another in a table with a place for each, and its own affairs beside what an editor writes. What all
// tables of a subject begin with is the subject itself, not the app of Django's.
func TestInitKnowsStrapi(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA fest; CREATE TABLE fest.admin_users (id serial PRIMARY KEY, firstname text, lastname text, password text);
		CREATE TABLE fest.admin_roles (id serial PRIMARY KEY, name text);
		CREATE TABLE fest.admin_users_roles_lnk (id serial PRIMARY KEY, user_id integer REFERENCES fest.admin_users, role_id integer REFERENCES fest.admin_roles, UNIQUE (user_id, role_id));
		CREATE TABLE fest.strapi_releases (id serial PRIMARY KEY, name text, created_by_id integer REFERENCES fest.admin_users);
		CREATE TABLE fest.artists (id serial PRIMARY KEY, name text, created_by_id integer REFERENCES fest.admin_users, updated_by_id integer REFERENCES fest.admin_users);
		CREATE TABLE fest.shifts (id serial PRIMARY KEY, starts_at timestamp, created_by_id integer REFERENCES fest.admin_users, updated_by_id integer REFERENCES fest.admin_users);
		CREATE TABLE fest.news_items (id serial PRIMARY KEY, title text, created_by_id integer REFERENCES fest.admin_users);
		CREATE TABLE fest.news_items_links (id serial PRIMARY KEY, url text, news_item_id integer NOT NULL REFERENCES fest.news_items);
		CREATE TABLE fest.news_items_artists_lnk (id serial PRIMARY KEY, news_item_id integer REFERENCES fest.news_items ON DELETE CASCADE, artist_id integer REFERENCES fest.artists ON DELETE CASCADE, artist_ord double precision)`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"fest"}, Accounts: "admin_users"})
	require.NoError(t, err)
	for _, table := range []string{"admin_roles", "admin_users_roles_lnk", "strapi_releases"} {
		require.Contains(t, text, "# left out, "+table+": bookkeeping of another tool")
	}
	require.Contains(t, text, "\n    name: \"news item\"\n")
	require.Contains(t, text, "\n    name: \"news item artist\"\n")
	require.Equal(t, []string{"news", "news", "series", "news items"}, []string{domain.Fold("News"), domain.Plural("news"), domain.Plural("series"), domain.Plural("news item")})
	require.Contains(t, text, `display: "{?_artist_id_label: {_artist_id_label}}{?_news_item_id_label: · {_news_item_id_label}}"`+"\n", "two names run into each other, and a place says nothing of a row by itself")
	require.NotContains(t, text, "_updated_by_id_label", "nobody calls a row by who wrote it last")
}

// A line has few facts: what a row's state is and when it is due say more than numbers, and how many of something there were once says
// least.
func TestInitDisplaysWhatSaysMost(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA facts; CREATE TABLE facts.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE facts.notes (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES facts.users, text text NOT NULL);
		CREATE TABLE facts.jobs (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES facts.users, title text NOT NULL, weight integer, notes_count integer NOT NULL DEFAULT 0,
			height integer, price numeric(8, 2), width integer, due_on date, status text NOT NULL, done boolean);
		CREATE TABLE facts.bags (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES facts.users, title text NOT NULL, weight integer, notes_count integer, due_on date)`)
	d := bound(t, tx, "facts")
	require.Contains(t, d.Text, `display: "{title}{?weight: weight:{weight}}{?price: price:{price:0.00}}{?due_on: due_on:{due_on}}{?status: [{status}]}"`)
	require.Contains(t, d.Text, `display: "{title}{?weight: weight:{weight}}{?due_on: due_on:{due_on}}"`)
}

// Nobody has an assistant for public: where a program's tables are there, it is called by its database.
func TestInitCallsTheProgramByItsDatabase(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE TABLE public.users (id serial PRIMARY KEY, name text NOT NULL); CREATE SCHEMA shop; CREATE TABLE shop.users (id serial PRIMARY KEY, name text NOT NULL)`)
	var database string
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT current_database()`).Scan(&database))
	for schema, name := range map[string]string{"public": database, "shop": "shop"} {
		text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{schema}})
		require.NoError(t, err)
		require.Contains(t, text, "name: \""+name+"\"\nschema: \""+schema+"_alfred\"")
		require.Contains(t, text, "You are an assistant for "+name+". ")
	}
}

// People tell tickets of one subject apart by whose they are; models are shown that beside each line. A part is told beside its whole,
// and a link names both.
func TestInitSaysWhoseARowIs(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA whose; CREATE TABLE whose.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE whose.buyers (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES whose.users, name text NOT NULL);
		CREATE TABLE whose.tickets (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES whose.users, agent_id integer REFERENCES whose.buyers, "buyerId" integer NOT NULL REFERENCES whose.buyers, subject text NOT NULL, state text);
		CREATE TABLE whose.steps (id serial PRIMARY KEY, ticket_id integer NOT NULL REFERENCES whose.tickets ON DELETE CASCADE, title text NOT NULL, done boolean);
		CREATE TABLE whose.likes (id serial PRIMARY KEY, ticket_id integer NOT NULL REFERENCES whose.tickets, buyer_id integer NOT NULL REFERENCES whose.buyers)`)
	d := bound(t, tx, "whose")
	require.Contains(t, d.Text, `    display: "{subject}{?state: [{state}]}"`+"\n"+`    spoken: "{subject}{?state:, {state}}{?buyerId:, buyer: {_buyerId_label}}"`+"\n")
	require.Contains(t, d.Text, `    display: "{title}{?done: done:{done}}"`+"\n"+`    spoken: "{title}{?done:, done}"`+"\n")
	require.Contains(t, d.Text, `    display: "{_buyer_id_label} · {_ticket_id_label}"`+"\n    order")
}
