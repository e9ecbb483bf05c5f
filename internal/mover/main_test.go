package mover_test

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/directory"
	"alfred/internal/domain"
	"alfred/internal/mover"
	"alfred/internal/pg"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// fleet is a directory and two databases, with one user in the first.
type fleet struct {
	t         *testing.T
	address   string // of the directory
	directory *directory.Directory
	pools     map[string]*pgxpool.Pool
	user      string // id
	session   string
	off       bool // copy while nothing is served
}

const who = "Ada Lovelace"

func openFleet(t *testing.T) *fleet {
	t.Helper()
	requireLogical(t)

	f := &fleet{t: t, pools: map[string]*pgxpool.Pool{}}
	address := dbtest.EmptyURL(t)
	f.address = address
	require.NoError(t, directory.Init(t.Context(), address, slog.New(slog.DiscardHandler)))
	require.NoError(t, directory.Init(t.Context(), address, slog.New(slog.DiscardHandler)), "again")
	var err error
	f.directory, err = directory.Open(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(f.directory.Close)
	urls := map[string]string{"a": dbtest.URL(t), "b": dbtest.URL(t)}
	for name, url := range urls {
		pool, err := pg.Open(t.Context(), pg.Config{URL: url, MaxConns: 4})
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		f.pools[name] = pool
	}
	f.fill()
	for name, url := range urls {
		_, err := f.directory.AddDatabase(t.Context(), directory.Database{Name: name, URL: url})
		require.NoError(t, err)
	}

	return f
}

// requireLogical skips on a server of somebody's own that cannot be followed. The one that tests start can.
func requireLogical(t *testing.T) {
	t.Helper()

	var level string
	require.NoError(t, dbtest.Tx(t).QueryRow(t.Context(), `SELECT current_setting('wal_level')`).Scan(&level))
	if level != "logical" {
		t.Skip("TEST_DATABASE_URL leads to a server with wal_level = " + level)
	}
}

// fill gives the user something of everything, and other users beside them in both databases.
func (f *fleet) fill() {
	f.t.Helper()

	f.exec("a", `INSERT INTO prompt_parts_shared (hash, month, text) SELECT md5(x)::uuid, uuid_v7_month(uuid_v7()), x FROM (VALUES ('everybody''s'), ('of none of theirs')) AS v (x)`)
	for name, pool := range f.pools {
		for i := range 3 {
			f.exec(name, `SELECT enqueue_turn(start_session($1), 'hello')`, name+strconv.Itoa(i))
			f.exec(name, `SELECT kitchen.seed_demo(id) FROM users WHERE name = $1`, name+strconv.Itoa(i))
		}
		_ = pool
	}
	f.session = f.text("a", `SELECT start_session($1)::text`, who)
	f.user = f.text("a", `SELECT user_id::text FROM sessions WHERE id = $1`, f.session)
	f.exec("a", `SELECT kitchen.seed_demo($1)`, f.user)
	f.exec("a", `INSERT INTO api_keys (user_id, key_hash, scopes) VALUES ($1, 'a key', '{chat}')`, f.user)
	for i := range 4 {
		turn := f.text("a", `SELECT enqueue_turn($1, $2, 'key ' || $2)::text`, f.session, fmt.Sprintf("message %d", i))
		f.exec("a", `SELECT decision_keep($1, 1, 'understand', NULL, 1, '{}', 1, NULL, 5, '[{"type": "plan"}]', 'think', 'a goal')`, turn)
		f.exec("a", `INSERT INTO turn_steps (turn_id, user_id, step, step_type, subdomain, description, outcome) VALUES ($1, $2, 1, 'read', 'recipes', 'look', 'ok')`, turn, f.user)
		f.exec("a", `INSERT INTO turn_step_results (turn_id, user_id, step, call, tool, params, rows, row_count) VALUES ($1, $2, 1, 1, 'db_read', '{}', '[]', 0)`, turn, f.user)
		f.exec("a", `INSERT INTO llm_calls (session_id, user_id, turn_id, node, provider, model, request, response) VALUES ($1, $2, $3, 'reply', 'x', 'm', '{"text": "tab\tand \\ and \"quotes\""}', '{}')`, f.session, f.user, turn)
		f.exec("a", `INSERT INTO prompt_parts (session_id, user_id, hash, month, text) VALUES ($1, $2, md5($3)::uuid, uuid_v7_month(uuid_v7()), $3)`, f.session, f.user, fmt.Sprintf("piece %d", i))
		f.exec("a", `INSERT INTO llm_calls (session_id, user_id, turn_id, node, provider, model, outline, parts, response)
			VALUES ($1, $2, $3, 'think', 'x', 'm', E'{"system": "\n", "messages": "\n"}', ARRAY[md5('everybody''s'), md5($4)]::uuid[], '{}')`, f.session, f.user, turn, fmt.Sprintf("piece %d", i))
		f.exec("a", `INSERT INTO entity_refs (session_id, user_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
			SELECT $1, $2, 'recipe_' || $3::integer, 'recipe', id, 'stored', 'read', name, 1, 1 FROM kitchen.recipes WHERE user_id = $2::uuid ORDER BY name OFFSET $3::integer LIMIT 1`, f.session, f.user, i)
		f.exec("a", `INSERT INTO entity_events (session_id, user_id, ref, turn_number, action, actor, data) VALUES ($1, $2, 'recipe_1', 1, 'read', 'system', '{}')`, f.session, f.user)
		if i < 3 {
			f.exec("a", `UPDATE turns SET status = 'succeeded', reply = 'a reply', replied_at = now(), finished_at = now() WHERE id = $1`, turn)
			f.exec("a", `SELECT turn_summary_finish($1)`, turn)
		} else {
			f.exec("a", `SELECT turn_end($1, 'failed', 'internal', 'no.')`, turn)
		}
	}
	f.exec("a", `INSERT INTO kitchen.shopping_list (user_id, name, quantity) VALUES ($1, 'salt, "coarse"', 1.50)`, f.user)
	f.exec("a", `WITH plan AS (INSERT INTO kitchen.meal_plans (user_id, date, meal_type, recipe_id) SELECT user_id, '2026-01-13', 'dinner', id FROM kitchen.recipes WHERE user_id = $1 LIMIT 1 RETURNING id)
		INSERT INTO kitchen.tasks (user_id, title, meal_plan_id) SELECT $1, 'thaw', id FROM plan`, f.user)
	f.exec("a", `INSERT INTO embeddings (owner_kind, owner_id, model, user_id, dimensions, content_hash, embedding)
		SELECT 'turn', id::text, 'm', $1, 2, 'x', '[1,0.1]' FROM turns WHERE session_id = $2 AND number = 1`, f.user, f.session)
}

func (f *fleet) exec(database, sql string, args ...any) {
	f.t.Helper()
	_, err := f.pools[database].Exec(f.t.Context(), sql, args...)
	require.NoError(f.t, err, sql)
}

func (f *fleet) text(database, sql string, args ...any) string {
	f.t.Helper()
	var value string
	require.NoError(f.t, f.pools[database].QueryRow(f.t.Context(), sql, args...).Scan(&value), sql)

	return value
}

func (f *fleet) mover() *mover.Mover {
	return &mover.Mover{
		Directory: f.directory, Domain: func() (fs.FS, string) { return domain.Find("kitchen") },
		Patience: dbtest.Patience, Logger: slog.New(slog.DiscardHandler), Off: f.off,
	}
}

// kept is every row of the user, table by table.
func (f *fleet) kept(database string) map[string]string {
	f.t.Helper()

	all := map[string]string{}
	for _, table := range []string{
		"users", "api_keys", "sessions", "turns", "node_runs", "turn_steps", "turn_step_results", "turn_events", "entity_refs", "entity_events", "turn_summaries",
		"llm_calls", "prompt_parts", "v_llm_calls", "embeddings", "user_words", "kitchen.recipes", "kitchen.recipe_ingredients", "kitchen.inventory", "kitchen.shopping_list", "kitchen.meal_plans", "kitchen.tasks",
	} {
		column := "user_id"
		if table == "users" {
			column = "id"
		}
		all[table] = f.text(database, `SELECT coalesce(string_agg(x::text, E'\n' ORDER BY x::text), '') FROM `+table+` AS x WHERE `+column+` = $1`, f.user)
	}

	return all
}

// requireNothingLeft checks that no database publishes anything, and nothing is followed.
func (f *fleet) requireNothingLeft(when string) {
	f.t.Helper()

	for name := range f.pools {
		require.Equal(f.t, "0", f.text(name, `SELECT count(*)::text FROM pg_publication`), "publications of %s %s", name, when)
		f.requireSlotless(name)
	}
}

// requireSlotless checks that a mover that has died left no slot, which would have the server keep all that is written.
func (f *fleet) requireSlotless(database string) {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		return f.text(database, `SELECT count(*)::text FROM pg_replication_slots WHERE database = current_database()`) == "0"
	}, dbtest.Patience, 10*time.Millisecond, "slots of %s", database)
}

// lead changes the address that the directory has of a database.
func (f *fleet) lead(database, url string) (was string) {
	f.t.Helper()

	conn, err := pgx.Connect(f.t.Context(), f.address)
	require.NoError(f.t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(f.t.Context())) }()
	require.NoError(f.t, conn.QueryRow(f.t.Context(), `SELECT url FROM alfred_directory.databases WHERE name = $1`, database).Scan(&was))
	_, err = conn.Exec(f.t.Context(), `UPDATE alfred_directory.databases SET url = $2 WHERE name = $1`, database, url)
	require.NoError(f.t, err)

	return was
}

// accepts reports whether a database takes a message of the user; it is not kept.
func (f *fleet) accepts(database string) bool {
	f.t.Helper()

	tx, err := f.pools[database].Begin(f.t.Context())
	require.NoError(f.t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(f.t.Context())) }()
	_, err = tx.Exec(f.t.Context(), `SELECT enqueue_turn($1, 'is anybody there?')`, f.session)

	return err == nil
}

func (f *fleet) where() string {
	f.t.Helper()
	user, err := f.directory.ByName(f.t.Context(), who)
	require.NoError(f.t, err)

	return user.Database.Name
}
