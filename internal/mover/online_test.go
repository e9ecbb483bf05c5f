package mover_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/directory"
	"alfred/internal/mover"
)

// written is what happens to a user's rows, and others', while they are copied: of every kind of table, rows new, changed and gone.
func (f *fleet) written(n int) {
	f.t.Helper()

	second := f.text("a", `SELECT start_session($1)::text`, who)
	turn := f.text("a", `SELECT enqueue_turn($1, $2)::text`, second, "meanwhile")
	f.exec("a", `INSERT INTO turn_steps (turn_id, user_id, step, step_type, subdomain, description, outcome) VALUES ($1, $2, 1, 'read', 'recipes', 'look', 'ok')`, turn, f.user)
	f.exec("a", `INSERT INTO prompt_parts_shared (hash, month, text) SELECT md5($1)::uuid, uuid_v7_month(uuid_v7()), $1 ON CONFLICT DO NOTHING`, "everybody's later")
	f.exec("a", `INSERT INTO llm_calls (session_id, user_id, turn_id, node, provider, model, outline, parts, response)
		VALUES ($1, $2, $3, 'think', 'x', 'm', E'{"system": "\n"}', ARRAY[md5($4)]::uuid[], '{}')`, second, f.user, turn, "everybody's later")
	f.exec("a", `UPDATE turns SET status = 'succeeded', reply = 'a reply', replied_at = now(), finished_at = now() WHERE id = $1`, turn)
	f.exec("a", `SELECT turn_summary_finish($1)`, turn)
	if n > 0 { // the first of these conversations is gone again
		f.exec("a", `SELECT forget_session((SELECT id FROM sessions WHERE user_id = $1 AND id <> $2 ORDER BY id LIMIT 1))`, f.user, f.session)
	}
	f.exec("a", `UPDATE kitchen.recipes SET servings = servings + 1 WHERE id = (SELECT id FROM kitchen.recipes WHERE user_id = $1 ORDER BY name LIMIT 1)`, f.user)
	f.exec("a", `DELETE FROM kitchen.recipes WHERE id = (SELECT id FROM kitchen.recipes WHERE user_id = $1 ORDER BY name DESC LIMIT 1)`, f.user)
	f.exec("a", `UPDATE kitchen.inventory SET id = gen_random_uuid(), quantity = 7 WHERE id = (SELECT id FROM kitchen.inventory WHERE user_id = $1 ORDER BY name LIMIT 1)`, f.user)
	f.exec("a", `INSERT INTO kitchen.shopping_list (user_id, name) VALUES ($1, $2)`, f.user, `it's "new" \ `+strings.Repeat("é", n))
	f.exec("a", `UPDATE embeddings SET content_hash = 'y' WHERE user_id = $1`, f.user)
	f.exec("a", `UPDATE kitchen.recipes SET servings = 3 WHERE user_id <> $1`, f.user) // Postgres refuses nobody's updates
	f.exec("a", `DELETE FROM kitchen.tasks WHERE user_id <> $1`, f.user)
}

// What is written while rows are copied, and behind that, arrives as it is, and alone: nothing is copied twice.
func TestMoveFollowsWhatIsWritten(t *testing.T) {
	t.Parallel()

	for name, compared := range map[string]int64{"AllCompared": 0, "ChangedCompared": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			openFleet(t).movesWhatIsWritten(compared)
		})
	}
}

func (f *fleet) movesWhatIsWritten(compared int64) {
	t := f.t
	m := f.mover()
	m.ComparedRows = compared
	var (
		before map[string]string
		n      int
	)
	m.At = func(step directory.Step) {
		switch step {
		case directory.StepPublished, directory.StepFollowed:
			f.written(n)
			n++
			before = f.kept("a")
		case directory.StepClosed:
			require.False(t, f.accepts("a"))
			require.False(t, f.accepts("b"))
		}
	}
	report, err := m.Move(t.Context(), who, "b")
	require.NoError(t, err)
	require.Equal(t, before, f.kept("b"))
	require.Positive(t, report.Changed)
	require.False(t, report.Again)
	f.requireNothingLeft("at the end")
}

// What replaces something that has arrived is new, and of the same table.
func TestMoveOfAConstraintThatIsReplaced(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	const insert = `INSERT INTO constraints (user_id, session_id, text, kind, source_turn) VALUES ($1, $2, 'for six', 'count', 1) RETURNING id`
	f.exec("a", insert, f.user, f.session)
	m := f.mover()
	m.At = func(step directory.Step) {
		if step == directory.StepFollowed {
			f.exec("a", `WITH next AS (`+insert+`) UPDATE constraints AS c SET ended_turn = 2, replaced_by = next.id FROM next WHERE c.user_id = $1`, f.user, f.session)
		}
	}
	report, err := m.Move(t.Context(), who, "b")
	require.NoError(t, err)
	require.False(t, report.Again)
	require.Equal(t, "1", f.text("b", `SELECT count(*)::text FROM constraints WHERE user_id = $1 AND replaced_by IS NOT NULL`, f.user))
}

// Nobody needs to be superuser: the owner of the tables needs the attribute REPLICATION, and is told.
func TestMoveNeedsNoSuperuser(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	role := "mover_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	f.exec("a", `CREATE ROLE `+role+` LOGIN PASSWORD 'x' IN ROLE alfred, alfred_tenant, alfred_undo`)
	t.Cleanup(func() { _, _ = f.pools["a"].Exec(t.Context(), `DROP ROLE `+role) })
	for name := range f.pools {
		address, err := url.Parse(f.lead(name, "postgres://nobody@127.0.0.1:1/none"))
		require.NoError(t, err)
		address.User = url.UserPassword(role, "x")
		f.lead(name, address.String())
	}
	_, err := f.mover().Move(t.Context(), who, "b")
	f.requireRefused(err, "attribute REPLICATION")
	f.exec("a", `ALTER ROLE `+role+` REPLICATION`)
	before := f.kept("a")
	_, err = f.mover().Move(t.Context(), who, "b")
	require.NoError(t, err)
	require.Equal(t, before, f.kept("b"))
	f.requireNothingLeft("at the end")
	f.exec("a", `DROP ROLE `+role)
}

func (f *fleet) requireRefused(err error, says string) {
	f.t.Helper()

	refusal := &mover.RefusedError{}
	require.ErrorAs(f.t, err, &refusal, says)
	require.ErrorContains(f.t, err, says)
	require.ErrorContains(f.t, err, "--off")
	require.True(f.t, f.accepts("a"), "nothing has happened: %s", says)
	f.requireNothingLeft("when refused")
}

// Tables that cannot be published for one user alone are named, before anything is done, and move with --off.
func TestMoveRefusesToFollow(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	for _, c := range []struct{ says, spoil, mend string }{
		{"the replica identity of kitchen.tasks lacks the owner's column user_id", `ALTER TABLE kitchen.tasks REPLICA IDENTITY DEFAULT`, `ALTER TABLE kitchen.tasks REPLICA IDENTITY USING INDEX tasks_user_id_id_key`},
		{"the replica identity of", `ALTER TABLE kitchen.recipes REPLICA IDENTITY NOTHING`, `ALTER TABLE kitchen.recipes REPLICA IDENTITY USING INDEX recipes_user_id_id_key`},
		{"unlogged", `ALTER TABLE kitchen.cooking_log SET UNLOGGED`, `ALTER TABLE kitchen.cooking_log SET LOGGED`},
		{"inherit", `CREATE TABLE public.old_tasks () INHERITS (kitchen.tasks)`, `DROP TABLE public.old_tasks`},
	} {
		f.exec("a", c.spoil)
		_, err := f.mover().Move(t.Context(), who, "b")
		f.requireRefused(err, c.says)
		f.exec("a", c.mend)
	}
	f.exec("a", `ALTER TABLE kitchen.tasks REPLICA IDENTITY DEFAULT`)
	f.off = true
	before := f.kept("a")
	_, err := f.mover().Move(t.Context(), who, "b")
	require.NoError(t, err)
	require.Equal(t, before, f.kept("b"))
}

// A turn that had arrived while it replied, and was stopped then, says at the target what it had said.
func TestMoveOfATurnThatIsStopped(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	turn := f.text("a", `SELECT enqueue_turn(start_session($1), 'talk')::text`, who)
	f.exec("a", `SELECT turn_events_append($1, '[{"type": "reply.delta", "data": {"text": "as I was say"}}]')`, turn)
	m := f.mover()
	m.At = func(step directory.Step) {
		if step == directory.StepFollowed {
			f.exec("a", `SELECT turn_end($1, 'cancelled', 'cancelled', 'stopped')`, turn)
		}
	}
	report, err := m.Move(t.Context(), who, "b")
	require.NoError(t, err)
	require.False(t, report.Again)
	require.Equal(t, "as I was say", f.text("b", `SELECT said FROM turns WHERE id = $1`, turn))
}

// What cannot be brought by rows is copied whole while the source is closed: nothing is lost.
func TestMoveCopiesAgain(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	m := f.mover()
	m.At = func(step directory.Step) {
		if step == directory.StepFollowed {
			f.exec("a", `TRUNCATE kitchen.tasks`)
			f.exec("b", `INSERT INTO embeddings (owner_kind, owner_id, model, user_id, dimensions, content_hash, embedding) VALUES ('turn', gen_random_uuid()::text, 'm', $1, 1, 'x', '[1]')`, f.user)
		}
	}
	report, err := m.Move(t.Context(), who, "b")
	require.NoError(t, err)
	require.True(t, report.Again)
	require.Equal(t, "0 1", f.text("b", `SELECT concat_ws(' ', (SELECT count(*) FROM kitchen.tasks WHERE user_id = $1), (SELECT count(*) FROM embeddings WHERE user_id = $1))`, f.user))
	f.requireNothingLeft("at the end")
}
