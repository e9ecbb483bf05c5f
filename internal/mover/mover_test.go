package mover_test

import (
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/directory"
	"alfred/internal/mover"
	"alfred/internal/pg"
)

// A user has the same rows at the other database, and none are left; what comes back is the same again.
func TestMoveThereAndBack(t *testing.T) {
	t.Parallel()

	f := openFleet(t)
	before := f.kept("a")
	for table, rows := range before {
		require.NotEmpty(t, rows, "nothing to move in %s", table)
	}
	others := f.text("a", `SELECT count(*)::text FROM kitchen.recipes WHERE user_id <> $1`, f.user)
	for _, to := range []string{"b", "a", "b"} {
		from := map[string]string{"a": "b", "b": "a"}[to]
		report, err := f.mover().Move(t.Context(), who, to)
		require.NoError(t, err)
		require.Positive(t, report.Rows)
		require.Equal(t, before, f.kept(to))
		for table, rows := range f.kept(from) {
			require.Empty(t, rows, "%s still has rows of %s", from, table)
		}
		require.Equal(t, to, f.where())
		require.True(t, f.accepts(to))
		require.False(t, f.accepts(from))
	}
	require.Equal(t, others, f.text("a", `SELECT count(*)::text FROM kitchen.recipes`))
	_, err := f.pools["a"].Exec(t.Context(), `INSERT INTO users (id, name) VALUES ($1, $2)`, f.user, who)
	require.ErrorContains(t, err, "AL010", "the place that was left does not take them for new")
	f.exec("b", `INSERT INTO entity_events (session_id, user_id, ref, turn_number, action, actor, data) VALUES ($1, $2, 'recipe_1', 9, 'read', 'system', '{}')`, f.session, f.user)
	require.Equal(t, "9", f.text("b", `SELECT turn_number::text FROM entity_events WHERE session_id = $1 ORDER BY id DESC LIMIT 1`, f.session), "counters go on behind what was brought")
}

// What waits at the source starts at the target, and jobs that were not done are made anew.
func TestMoveTakesWorkAlong(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	turn := f.text("a", `SELECT enqueue_turn($1, 'runs')::text`, f.session)
	waits := f.text("a", `SELECT enqueue_turn($1, 'waits')::text`, f.session)
	f.exec("a", `SELECT job_insert('compress', jsonb_build_object('session_id', $1::text, 'version', 1), 'background')`, f.session)
	moved := make(chan error, 1)
	go func() {
		_, err := f.mover().Move(t.Context(), who, "b")
		moved <- err
	}()
	require.Eventually(t, func() bool { return !f.accepts("a") }, dbtest.Patience, 10*time.Millisecond, "new messages wait while a turn runs")
	f.exec("a", `UPDATE turns SET status = 'succeeded', reply = 'a reply', replied_at = now(), finished_at = now(), summarized_at = now() WHERE id = $1`, turn)
	require.NoError(t, <-moved)
	require.Equal(t, "running", f.text("b", `SELECT status::text FROM turns WHERE id = $1`, waits))
	require.Equal(t, "compress understand", f.text("b", `SELECT string_agg(j.kind, ' ' ORDER BY j.kind) FROM river_job AS j
		WHERE j.state = 'available' AND coalesce(j.args ->> 'turn_id', j.args ->> 'session_id') IN ($1, $2)`, f.session, waits))
	require.Equal(t, "0", f.text("a", `SELECT count(*)::text FROM jobs_of_user($1)`, f.user))
}

// killed is what a test stops a mover with: nothing of it is cleared up.
type killed struct{}

// moveUntil moves, and dies before a step.
func (f *fleet) moveUntil(to string, step directory.Step) (err error) {
	m := f.mover()
	m.At = func(now directory.Step) {
		if now == step {
			panic(killed{})
		}
	}
	defer func() {
		if value := recover(); value != nil {
			if _, ok := value.(killed); !ok {
				panic(value)
			}
		}
	}()
	_, err = m.Move(f.t.Context(), who, to)

	return err
}

// Whoever dies when: at most one database takes messages, the move is carried on by the same command, and all rows arrive.
func TestMoveIsCarriedOn(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	before, at := f.kept("a"), "a"
	steps := []directory.Step{directory.StepBegun, directory.StepPublished, directory.StepFollowed, directory.StepClosed, directory.StepCopied, directory.StepSwitched, directory.StepOpened}
	for i, step := range append(steps, directory.StepBegun, directory.StepClosed) {
		f.off = i >= len(steps)
		to := map[string]string{"a": "b", "b": "a"}[at]
		require.NoError(t, f.moveUntil(to, step), "died before the step after %s", step)
		require.False(t, f.accepts("a") && f.accepts("b"), "after %s", step)
		f.requireSlotless(at)
		_, err := f.mover().Move(t.Context(), who, to)
		require.NoError(t, err, "after %s", step)
		require.Equal(t, before, f.kept(to), "after %s", step)
		require.True(t, f.accepts(to))
		require.False(t, f.accepts(at))
		f.requireNothingLeft("after " + string(step))
		at = to
	}
}

// One way is carried on the other: what was followed is copied while nothing is served, and what was closed serves again.
func TestMoveIsCarriedOnTheOtherWay(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	before, at := f.kept("a"), "a"
	for _, step := range []directory.Step{directory.StepPublished, directory.StepFollowed, directory.StepClosed} {
		for _, off := range []bool{true, false} {
			to := map[string]string{"a": "b", "b": "a"}[at]
			f.off = !off
			if f.off && step != directory.StepClosed {
				continue // has no such step
			}
			require.NoError(t, f.moveUntil(to, step))
			f.off = off
			_, err := f.mover().Move(t.Context(), who, to)
			require.NoError(t, err, "after %s, off: %v", step, off)
			require.Equal(t, before, f.kept(to))
			f.requireNothingLeft("after " + string(step))
			at = to
		}
	}
}

// Until the switch a move can be given up: the user is served where they were, and nothing is left at the other database.
func TestMoveIsGivenUp(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	before := f.kept("a")
	for _, step := range []directory.Step{directory.StepBegun, directory.StepPublished, directory.StepFollowed, directory.StepClosed, directory.StepCopied} {
		require.NoError(t, f.moveUntil("b", step))
		require.NoError(t, f.mover().Abort(t.Context(), who), "after %s", step)
		require.Equal(t, before, f.kept("a"))
		require.True(t, f.accepts("a"), "after %s", step)
		require.False(t, f.accepts("b"))
		require.Empty(t, f.kept("b")["turns"])
		require.Equal(t, "a", f.where())
		f.requireNothingLeft("after " + string(step))
	}
	require.NoError(t, f.moveUntil("b", directory.StepClosed))
	b := f.lead("b", "postgres://nobody@127.0.0.1:1/none")
	require.ErrorIs(t, f.mover().Abort(t.Context(), who), pg.ErrNoAnswer)
	require.True(t, f.accepts("a"), "a target that is away keeps nobody from giving up")
	f.lead("b", b)
	require.NoError(t, f.mover().Abort(t.Context(), who))
	require.NoError(t, f.moveUntil("b", directory.StepSwitched))
	a := f.lead("a", "postgres://nobody@127.0.0.1:1/none")
	_, err := f.mover().Move(t.Context(), who, "b")
	require.ErrorIs(t, err, pg.ErrNoAnswer)
	require.True(t, f.accepts("b"), "a source that is away keeps nobody from arriving")
	f.lead("a", a)
	require.ErrorIs(t, f.mover().Abort(t.Context(), who), mover.ErrNoWayBack)
	_, err = f.mover().Move(t.Context(), who, "b")
	require.NoError(t, err)
	require.ErrorIs(t, f.mover().Abort(t.Context(), who), directory.ErrNoMove)
}

func TestMoveRefuses(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	for name, c := range map[string]struct {
		who, to string
		is      error
	}{
		"somebody who does not exist":  {"nobody", "b", directory.ErrUnknown},
		"a database that is not there": {who, "c", directory.ErrNoDatabase},
		"where they are":               {who, "a", mover.ErrHere},
	} {
		_, err := f.mover().Move(t.Context(), c.who, c.to)
		require.ErrorIs(t, err, c.is, name)
	}
	err := f.directory.Hold(t.Context(), who, func(directory.User) error {
		_, err := f.mover().Move(t.Context(), who, "b")

		return err
	})
	require.ErrorIs(t, err, directory.ErrMoving)

	for _, c := range []struct{ says, spoil, mend string }{
		{"another user of the name", `INSERT INTO users (name) VALUES ('` + who + `')`, `DELETE FROM users WHERE name = '` + who + `'`},
		{"other columns", `ALTER TABLE kitchen.tasks ALTER due_date TYPE timestamp`, `ALTER TABLE kitchen.tasks ALTER due_date TYPE date`},
		{"b has another domain", `ALTER TABLE kitchen.recipes RENAME TO dishes`, `ALTER TABLE kitchen.dishes RENAME TO recipes`},
		{"shared rows must have the same keys", `ALTER TABLE kitchen.ingredients RENAME name TO was; ALTER TABLE kitchen.ingredients ADD name text NOT NULL DEFAULT 'other'`, `ALTER TABLE kitchen.ingredients DROP name; ALTER TABLE kitchen.ingredients RENAME was TO name`},
		{"a trigger of that table", `CREATE FUNCTION public.spoil() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.title := upper(NEW.title); RETURN NEW; END';
			CREATE TRIGGER spoil BEFORE INSERT ON kitchen.tasks FOR EACH ROW EXECUTE FUNCTION public.spoil()`, `DROP FUNCTION public.spoil CASCADE`},
	} {
		f.exec("b", c.spoil)
		_, err := f.mover().Move(t.Context(), who, "b")
		refusal := &mover.RefusedError{}
		require.ErrorAs(t, err, &refusal, c.says)
		require.ErrorContains(t, err, c.says)
		require.Less(t, len(err.Error()), 400, "one sentence, however much differs")
		require.True(t, f.accepts("a"), "nothing has happened: %s", c.says)
		require.Equal(t, "0", f.text("b", `SELECT count(*)::text FROM turns WHERE user_id = $1`, f.user))
		f.exec("b", c.mend)
	}
	f.exec("a", `ALTER TABLE kitchen.recipes RENAME TO dishes`)
	_, err = f.mover().Move(t.Context(), who, "b")
	require.ErrorContains(t, err, "a has another domain")
	f.exec("a", `ALTER TABLE kitchen.dishes RENAME TO recipes`)
	f.exec("a", `CREATE TABLE kitchen.notes (user_id uuid REFERENCES users, text text); INSERT INTO kitchen.notes SELECT id, 'x' FROM users`)
	_, err = f.mover().Move(t.Context(), who, "b")
	require.ErrorContains(t, err, "would be left behind")
	f.exec("a", `DROP TABLE kitchen.notes; UPDATE sessions SET domain = 'garage' WHERE id = '`+f.session+`'`)
	_, err = f.mover().Move(t.Context(), who, "b")
	require.ErrorContains(t, err, "domain garage")
	f.exec("a", `UPDATE sessions SET domain = NULL`) // begun in SQL
	f.exec("a", `UPDATE entity_refs SET entity_type = 'spanner' WHERE session_id = '`+f.session+`' AND ref = 'recipe_1'`)
	_, err = f.mover().Move(t.Context(), who, "b")
	require.ErrorContains(t, err, "a domain with the type spanner")
	f.exec("a", `UPDATE entity_refs SET entity_type = 'recipe' WHERE entity_type = 'spanner'`)
	f.exec("b", `INSERT INTO kitchen.tasks (id, user_id, title) SELECT $1, id, 'theirs' FROM users LIMIT 1`, f.text("a", `SELECT id::text FROM kitchen.tasks WHERE user_id = $1 LIMIT 1`, f.user))
	_, err = f.mover().Move(t.Context(), who, "b")
	require.ErrorContains(t, err, "has a key that another user's row has")
	require.True(t, f.accepts("a"))
}

// A turn that does not end keeps the user where they are.
func TestMoveWaitsForATurnNoLongerThanItMay(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	f.exec("a", `SELECT enqueue_turn($1, 'for ever')`, f.session)
	m := f.mover()
	m.Patience = 0
	_, err := m.Move(t.Context(), who, "b")
	require.ErrorIs(t, err, mover.ErrTurnRuns)
	require.True(t, f.accepts("a"))
	require.NoError(t, f.mover().Abort(t.Context(), who))
}

// A database without conversations is given the shared rows of another, with their keys.
func TestShareRows(t *testing.T) {
	t.Parallel()

	f := openFleet(t)
	f.exec("b", `DELETE FROM sessions; UPDATE kitchen.recipe_ingredients SET ingredient_id = NULL; UPDATE kitchen.inventory SET ingredient_id = NULL;
		UPDATE kitchen.shopping_list SET ingredient_id = NULL; UPDATE kitchen.ingredients SET id = gen_random_uuid()`)
	a, err := f.directory.Database(t.Context(), "a")
	require.NoError(t, err)
	b, err := f.directory.Database(t.Context(), "b")
	require.NoError(t, err)
	n, err := f.mover().CopyShared(t.Context(), a, b)
	require.NoError(t, err)
	require.Positive(t, n)
	all := `SELECT md5(string_agg(i::text, '' ORDER BY i.id)) FROM kitchen.ingredients AS i`
	require.Equal(t, f.text("a", all), f.text("b", all))
	for name := range f.pools {
		f.exec(name, `CREATE SCHEMA shown; GRANT USAGE ON SCHEMA shown TO alfred_tenant; CREATE TABLE shown.stored (id bigint PRIMARY KEY, name text NOT NULL);
			INSERT INTO shown.stored VALUES (1, 'milk'); CREATE VIEW shown.goods WITH (security_barrier) AS SELECT * FROM shown.stored; GRANT SELECT ON shown.goods TO alfred_tenant`)
	}
	views := f.mover()
	views.Domain = func() (fs.FS, string) {
		return fstest.MapFS{"shown.yaml": {Data: []byte("{name: shown, schema: shown, persona: x, entities: [{type: good, table: goods, key: id, label: \"{name}\", reference: true}]}")}}, "shown.yaml"
	}
	n, err = views.CopyShared(t.Context(), a, b)
	require.NoError(t, err)
	require.Zero(t, n, "what stands behind a view is its owner's to bring")
	f.exec("b", `SELECT start_session('first')`)
	n, err = f.mover().CopyShared(t.Context(), a, b)
	require.NoError(t, err)
	require.Zero(t, n, "one with conversations is left as it is")
}

func TestPlan(t *testing.T) {
	t.Parallel()

	loads := []mover.Load{
		{Database: "a", Turns: 1000, Users: []mover.UserLoad{{Name: "light", Turns: 10}, {Name: "loud", Turns: 400}, {Name: "whale", Turns: 500}}},
		{Database: "b", Turns: 100, Users: []mover.UserLoad{{Name: "quiet", Turns: 100}}},
	}
	require.InDelta(t, 1.82, mover.Unevenness(loads), 0.01)
	plan := mover.Plan(loads)
	require.Equal(t, []mover.PlannedMove{{User: "loud", From: "a", To: "b", Turns: 400}}, plan[:1], "the heaviest who leaves no less behind than comes there")
	require.Less(t, mover.Unevenness(loads), 1.1)
	require.Equal(t, []mover.PlannedMove{}, mover.Plan(loads[:1]), "a list in JSON, too")
	require.Empty(t, mover.Plan([]mover.Load{{Database: "a", Turns: 10, Users: []mover.UserLoad{{Name: "one", Turns: 10}}}, {Database: "b"}}), "one user alone cannot be shared out")
}

// A row has another version where it has been moved to, and is for a conversation what it was: changed since it was seen,
// or not.
func TestMoveCarriesVersions(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	f.exec("a", `UPDATE entity_refs AS r SET row_version = x.xmin::text FROM kitchen.recipes AS x WHERE r.session_id = $1 AND x.id = r.entity_id::uuid`, f.session)
	f.exec("a", `INSERT INTO questions (session_id, user_id, turn_id, kind, payload) SELECT $1, $2, t.id, 'approve', (
			SELECT jsonb_build_object('text', 'Shall I?', 'calls', jsonb_build_array(
				jsonb_build_object('tool', 'db_update', 'entity_type', 'recipe', 'keys', jsonb_agg(x.id), 'versions', jsonb_object_agg(x.id, x.xmin::text)),
				jsonb_build_object('tool', 'cook', 'entity_type', 'task', 'versions', jsonb_object_agg('recipe ' || x.id, x.xmin::text))))
			FROM kitchen.recipes AS x JOIN entity_refs AS r ON r.entity_id = x.id::text WHERE r.session_id = $1 AND r.ref IN ('recipe_1', 'recipe_2'))
		FROM turns AS t WHERE t.session_id = $1 LIMIT 1`, f.session, f.user)
	f.exec("a", `UPDATE kitchen.recipes SET servings = 9 WHERE id = (SELECT entity_id::uuid FROM entity_refs WHERE session_id = $1 AND ref = 'recipe_2')`, f.session)
	_, err := f.mover().Move(t.Context(), who, "b")
	require.NoError(t, err)
	require.Equal(t, "recipe_1 t, recipe_2 f", f.text("b", `SELECT string_agg(concat_ws(' ', r.ref, r.row_version = x.xmin::text), ', ' ORDER BY r.ref)
		FROM entity_refs AS r JOIN kitchen.recipes AS x ON x.id = r.entity_id::uuid WHERE r.session_id = $1 AND r.ref IN ('recipe_1', 'recipe_2')`, f.session))
	require.Equal(t, "1 recipe_1 t, 1 recipe_2 f, 2 recipe_1 t, 2 recipe_2 f", f.text("b", `SELECT string_agg(concat_ws(' ', c.n, r.ref, v.value = x.xmin::text), ', ' ORDER BY c.n, r.ref)
		FROM questions AS q, jsonb_array_elements(q.payload -> 'calls') WITH ORDINALITY AS c (call, n), jsonb_each_text(c.call -> 'versions') AS v
		JOIN kitchen.recipes AS x ON x.id::text = replace(v.key, 'recipe ', '') JOIN entity_refs AS r ON r.entity_id = x.id::text
		WHERE q.session_id = $1`, f.session), "nor has it changed since the user was asked")
}
