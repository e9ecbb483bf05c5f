package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// narrowed makes calls in answer to a question: "yes, but leave Lars out".
func (b *bundle) narrowed(asked *crud.Approval, calls ...vocab.Call) crud.Outcome {
	b.t.Helper()

	prepared, err := b.tools.Prepare(b.t.Context(), b.tx, b.asker(), calls)
	require.NoError(b.t, err)
	outcome, err := b.tools.Execute(b.t.Context(), b.tx, b.at(), crud.Bounds{StepType: vocab.StepWrite, Seen: b.seen, Agreed: b.kept(asked)}, prepared)
	require.NoError(b.t, err)

	return outcome
}

// tidy are thirteen people's chores, about which the user is asked.
func (b *bundle) tidy(tool, change string) *crud.Approval {
	b.t.Helper()

	b.exec(`INSERT INTO kitchen.tasks (user_id, title, due_date) SELECT $1, 'Chore ' || n, date '2027-01-01' + n FROM generate_series(10, 22) AS n`, b.scope.UserID)
	asked := b.decide(vocab.StepWrite, call(tool, sprintf(`{"table": "tasks", "filters": [{"field": "title", "op": "ilike", "value": "Chore%%"}]%s}`, change))).Approval
	require.NotNil(b.t, asked)
	b.nextTurn()

	return asked
}

// Whatever rows are called, a question about them is one line that reads as it is written.
func TestAQuestionIsOneLine(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	b.exec(`INSERT INTO kitchen.tasks (user_id, title, due_date) SELECT $1, 'Chore ' || n || E'\u202E\x1B[2J.\n\n## Nothing\nis deleted', date '2027-01-01' + n FROM generate_series(10, 22) AS n`, b.scope.UserID)
	asked := b.decide(vocab.StepWrite, call(vocab.ToolDelete, `{"table": "tasks", "filters": [{"field": "title", "op": "ilike", "value": "Chore%"}]}`)).Approval
	require.NotNil(t, asked)
	require.Contains(t, asked.Text, "delete 13 tasks: Chore 10 [2J. ## Nothing is deleted, Chore 11 [2J. ## Nothing is deleted")
}

// V19: who has agreed to a change of rows has agreed to the same change of fewer of them, and to nothing else.
func TestV19FewerRowsThanAgreedAreNotAskedAboutAgain(t *testing.T) {
	t.Parallel()

	const set, fewer = `, "set": [{"column": "category", "value": "prep"}]`, `{"field": "title", "op": "ilike", "value": "Chore%"}, {"field": "title", "op": "!=", "value": "Chore 15"}`
	update := func(filters, change string) vocab.Call {
		return call(vocab.ToolUpdate, sprintf(`{"table": "tasks", "filters": [%s]%s}`, filters, change))
	}
	remove := func(filters string) vocab.Call {
		return call(vocab.ToolDelete, sprintf(`{"table": "tasks", "filters": [%s]}`, filters))
	}
	other := update(`{"field": "title", "op": "=", "value": "Chore 15"}`, `, "data": {"category": "cleanup"}`)
	for name, test := range map[string]struct {
		tool, set string
		between   string
		calls     []vocab.Call
		asks      string
	}{
		"the others":              {vocab.ToolUpdate, set, "", []vocab.Call{update(fewer, set)}, ""},
		"in another form":         {vocab.ToolUpdate, set, "", []vocab.Call{update(fewer, `, "data": {"category": "prep"}`)}, ""},
		"the others deleted":      {vocab.ToolDelete, "", "", []vocab.Call{remove(fewer)}, ""},
		"and another otherwise":   {vocab.ToolUpdate, set, "", []vocab.Call{update(fewer, set), other}, ""},
		"another otherwise first": {vocab.ToolUpdate, set, "", []vocab.Call{other, update(fewer, set)}, ""},
		"all":                     {vocab.ToolUpdate, set, "", []vocab.Call{update(`{"field": "title", "op": "ilike", "value": "Chore%"}`, set)}, "change 13 tasks"},
		"all, in two calls": {vocab.ToolUpdate, set, "", []vocab.Call{update(fewer, set), update(`{"field": "title", "op": "ilike", "value": "Chore%"}, {"field": "title", "op": ">=", "value": "Chore 15"}`, set)},
			"This would change 8 tasks"},
		"another value":        {vocab.ToolUpdate, set, "", []vocab.Call{update(fewer, `, "set": [{"column": "category", "value": "cleanup"}]`)}, "change 12 tasks"},
		"another value beside": {vocab.ToolUpdate, set, "", []vocab.Call{update(fewer, `, "set": [{"column": "category", "value": "prep"}, {"column": "completed", "value": true}]`)}, "change 12 tasks"},
		"deleted instead":      {vocab.ToolUpdate, set, "", []vocab.Call{remove(fewer)}, "delete 12 tasks"},
		"changed instead":      {vocab.ToolDelete, "", "", []vocab.Call{update(fewer, set)}, "change 12 tasks"},
		"one more": {vocab.ToolUpdate, set, `INSERT INTO kitchen.tasks (user_id, title, due_date) VALUES ($1, 'Chore 30', '2027-02-01')`,
			[]vocab.Call{update(fewer, set)}, "change 13 tasks"},
		"one has changed": {vocab.ToolUpdate, set, `UPDATE kitchen.tasks SET completed = true WHERE user_id = $1 AND title = 'Chore 12'`,
			[]vocab.Call{update(fewer, set)}, "change 12 tasks"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setupAlone(t)
			asked := b.tidy(test.tool, test.set)
			if test.between != "" {
				b.exec(test.between, b.scope.UserID)
			}
			b.seen.Shown = map[string]map[string][]string{}
			if len(test.calls) > 1 {
				b.seen.Shown = nil
			}
			outcome := b.narrowed(asked, test.calls...)
			if test.asks == "" {
				require.Nil(t, outcome.Approval, "%+v", outcome.Approval)
				require.False(t, outcome.Failed(), "%+v", outcome.Results)
				require.Equal(t, "1", query[string](b, `SELECT count(*)::text FROM kitchen.tasks WHERE user_id = $1 AND title LIKE 'Chore%' AND category <> 'prep'`, b.scope.UserID))

				return
			}
			require.NotNil(t, outcome.Approval, "%+v", outcome.Results)
			require.Contains(t, outcome.Approval.Text, test.asks)
		})
	}
}

// Nobody is asked for what the database refuses: the person said yes, and then heard of the failure.
func TestQuestionsAskForWhatIsPossible(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.exec(`CREATE FUNCTION kitchen.keeps() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF OLD.title = 'Chore 12' THEN RAISE EXCEPTION 'Chore 12 is done on Monday.'; END IF; RETURN coalesce(NEW, OLD); END $$`)
	b.tidy(vocab.ToolDelete, "")
	b.exec(`CREATE TRIGGER keeps BEFORE UPDATE OR DELETE ON kitchen.tasks FOR EACH ROW EXECUTE FUNCTION kitchen.keeps()`)
	chores := `{"table": "tasks", "filters": [{"field": "title", "op": "ilike", "value": "Chore%"}]`
	require.Equal(t, "Chore 12 is done on Monday.", b.refused(vocab.StepWrite, vocab.ToolDelete, chores+`}`, crud.CodeViolation))
	require.Equal(t, "Chore 12 is done on Monday.", b.refused(vocab.StepWrite, vocab.ToolUpdate, chores+`, "set": [{"column": "title", "value": "Chore"}]}`, crud.CodeViolation))
	require.Positive(t, query[int](b, `SELECT count(*)::int FROM kitchen.tasks WHERE title LIKE 'Chore %'`))
}

// V19: who leaves some operations out of those that were asked about has agreed to the others, as they were.
func TestV19FewerOperationsThanAgreedAreNotAskedAboutAgain(t *testing.T) {
	t.Parallel()

	weigh := func(crate, weight int) vocab.Call {
		return call("weigh_crate", sprintf(`{"this": "crate_%d", "weight": %d}`, crate, weight))
	}
	for name, test := range map[string]struct {
		between, asks string
		calls         []vocab.Call
	}{
		"the others":          {calls: []vocab.Call{weigh(2, 30), weigh(3, 40)}},
		"one":                 {calls: []vocab.Call{weigh(3, 40)}},
		"all":                 {calls: []vocab.Call{weigh(2, 30), weigh(1, 20), weigh(3, 40)}, asks: "Mugs would weigh 30. Lamps would weigh 20. Pots would weigh 40."},
		"another value":       {calls: []vocab.Call{weigh(2, 31)}, asks: "Mugs would weigh 31."},
		"the others and more": {calls: []vocab.Call{weigh(2, 30), weigh(3, 41)}, asks: "Pots would weigh 41. This would weigh the crate Mugs, weight: 30."},
		"it would do another": {between: `UPDATE depot.crates SET name = 'Cups' WHERE name = 'Mugs'`, calls: []vocab.Call{weigh(2, 30)}, asks: "Cups would weigh 30."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setupOperations(t)
			b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "Mugs"}}`)
			b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "Pots"}}`)
			asked := b.decide("write", weigh(1, 20), weigh(2, 30), weigh(3, 40)).Approval
			require.NotNil(t, asked)
			b.nextTurn()
			if test.between != "" {
				b.exec(test.between)
			}
			outcome := b.narrowed(asked, test.calls...)
			if test.asks != "" {
				require.NotNil(t, outcome.Approval, "%+v", outcome.Results)
				require.Contains(t, outcome.Approval.Text, test.asks)

				return
			}
			require.Nil(t, outcome.Approval)
			require.False(t, outcome.Failed(), "%+v", outcome.Results)
			require.Equal(t, "10 40", query[string](b, `SELECT string_agg(weight::text, ' ' ORDER BY id) FROM depot.crates WHERE name IN ('Lamps', 'Pots')`))
		})
	}
}
