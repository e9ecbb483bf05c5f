package crud_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

func TestUpdate(t *testing.T) {
	t.Parallel()

	t.Run("KeepsTheRefAndTellsTheChange", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("read", vocab.ToolRead, `{"table": "inventory"}`)
		milk := query[string](b, `SELECT ref FROM entity_refs WHERE label = 'Milk'`)
		result := b.ok("write", vocab.ToolUpdate, sprintf(`{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": %q}], "data": {"quantity": 2}}`, milk))
		require.Equal(t, []string{milk}, result.Refs)
		require.Equal(t, "updated", query[string](b, `SELECT action FROM entity_refs WHERE ref = $1`, milk))
		row := b.rows(result)[0]
		require.InDelta(t, 2, row["quantity"], 0)
		require.Equal(t, map[string]any{"quantity": 1.0}, row["_was"])
	})

	t.Run("RenameLinksAnew", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		result := b.ok("write", vocab.ToolUpdate, `{"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "milk"}], "data": {"name": "oat milk"}}`)
		require.Equal(t, "oat milk", b.rows(result)[0]["_ingredient_id_label"])
		result = b.ok("write", vocab.ToolUpdate, `{"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "oat milk"}], "data": {"name": "zzz"}}`)
		require.Nil(t, b.rows(result)[0]["ingredient_id"], "a name that means nothing keeps no old link")
	})

	t.Run("NullClears", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("write", vocab.ToolUpdate, `{"table": "recipes", "filters": [{"field": "name", "op": "=", "value": "Pad See Ew"}], "data": {"description": null, "servings": "", "occasions": null}}`)
		require.True(t, query[bool](b, `SELECT description IS NULL AND servings IS NULL AND occasions = '{}' FROM kitchen.recipes WHERE name = 'Pad See Ew'`))
		b.refused("write", vocab.ToolUpdate, `{"table": "recipes", "filters": [{"field": "name", "op": "=", "value": "Pad See Ew"}], "data": {"name": null}}`, crud.CodeViolation)
	})

	t.Run("ChildRowByRef", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "name", "op": "=", "value": "Pad See Ew"}], "detail": "rows"}`)
		ref := query[string](b, `SELECT ref FROM entity_refs WHERE label = 'gai lan' AND entity_type = 'ri'`)
		b.ok("write", vocab.ToolUpdate, sprintf(`{"table": "recipe_ingredients", "filters": [{"field": "id", "op": "=", "value": %q}], "data": {"name": "broccoli", "notes": "gai lan in season"}}`, ref))
		require.Equal(t, "broccoli", query[string](b, `SELECT i.name FROM kitchen.recipe_ingredients AS r JOIN kitchen.ingredients AS i ON i.id = r.ingredient_id WHERE r.notes = 'gai lan in season'`))
		message := b.refused("write", vocab.ToolUpdate, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}], "data": {"recipe_ingredients": []}}`, crud.CodeBadArgument)
		require.Contains(t, message, "one by one")
	})

	t.Run("ANameMeansTheClosestRows", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.exec(`INSERT INTO kitchen.inventory (user_id, name) VALUES ($1, 'Peanut butter')`, b.scope.UserID)
		result := b.ok("write", vocab.ToolDelete, `{"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "butter"}]}`)
		require.Equal(t, 1, result.RowCount)
		require.Equal(t, "Peanut butter", query[string](b, `SELECT name FROM kitchen.inventory WHERE name ILIKE '%butter%'`))
	})

	t.Run("EachOfSeveralNames", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.exec(`INSERT INTO kitchen.inventory (user_id, name) VALUES ($1, 'Peanut butter')`, b.scope.UserID)
		result := b.ok("write", vocab.ToolDelete, `{"table": "inventory", "filters": [{"field": "name", "op": "in", "value": ["butter", "chiken thighs"]}]}`)
		require.ElementsMatch(t, []string{"Butter", "Chicken thighs"}, column[string](b.rows(result), "name"))
	})

	t.Run("Refuses", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("read", vocab.ToolRead, `{"table": "recipes"}`)
		for args, code := range map[string]crud.Code{
			`{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}], "data": {}}`:                            crud.CodeBadArgument,
			`{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}], "data": []}`:                            crud.CodeBadArgument,
			`{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}], "data": {"title": "x"}}`:                crud.CodeUnknownColumn,
			`{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}], "data": {"difficulty": "expert"}}`:      crud.CodeBadValue,
			`{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_9"}], "data": {"name": "x"}}`:                 crud.CodeUnknownRef,
			`{"table": "recipes", "filters": [{"field": "_semantic", "op": "similar", "value": "light"}], "data": {"name": "x"}}`:       crud.CodeBadFilter,
			`{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}], "data": {"parent_recipe_id": "inv_3"}}`: crud.CodeUnknownRef,
		} {
			b.refused("write", vocab.ToolUpdate, args, code)
		}
	})
}

func TestDelete(t *testing.T) {
	t.Parallel()

	t.Run("LeavesATombstone", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("read", vocab.ToolRead, `{"table": "recipes", "detail": "rows"}`)
		result := b.ok("write", vocab.ToolDelete, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_2"}]}`)
		require.Equal(t, []string{"recipe_2"}, result.Refs)
		require.Equal(t, "Pad See Ew", b.rows(result)[0]["name"])
		require.Equal(t, "deleted", query[string](b, `SELECT state::text FROM entity_refs WHERE ref = 'recipe_2'`))
		require.Equal(t, 11, query[int](b, `SELECT count(*)::int FROM entity_refs WHERE state = 'deleted' AND entity_type = 'ri'`), "rows that went with it have no refs any more")
		b.nextTurn()
		b.refused("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_2"}]}`, crud.CodeUnknownRef)
	})

	t.Run("V16: RowsWithoutRefGetOneAndAnEvent", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		result := b.ok("write", vocab.ToolDelete, `{"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "Cod"}]}`)
		require.Equal(t, 1, result.RowCount)
		require.Equal(t, []string{"inv_1"}, result.Refs)
		require.Equal(t, "deleted Cod assistant", query[string](b, `SELECT v.action || ' ' || (v.data ->> 'label') || ' ' || v.actor FROM entity_events AS v
			WHERE v.session_id = $1 AND v.data ->> 'entity_id' IS NOT NULL AND v.ref = 'inv_1'`, b.scope.SessionID))
		require.Equal(t, "hidden", query[string](b, `SELECT tier FROM v_entities WHERE session_id = $1 AND ref = 'inv_1'`, b.scope.SessionID))
	})

	t.Run("NothingMatches", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		require.Zero(t, b.ok("write", vocab.ToolDelete, `{"table": "tasks", "filters": []}`).RowCount)
	})
}

func TestApproval(t *testing.T) {
	t.Parallel()

	asked := func(t *testing.T, b *bundle, calls ...vocab.Call) *crud.Approval {
		t.Helper()

		outcome := b.decide("write", calls...)
		require.NotNil(t, outcome.Approval)
		require.Equal(t, crud.CodeApprovalNeeded, outcome.Results[0].ErrorCode)
		require.Equal(t, 12, query[int](b, `SELECT count(*)::int FROM kitchen.inventory WHERE user_id = $1`, b.scope.UserID))
		require.NotRegexp(t, hexID, outcome.Approval.Text)

		return outcome.Approval
	}

	t.Run("WithoutFilter", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		approval := asked(t, b, call(vocab.ToolDelete, `{"table": "inventory", "filters": []}`))
		require.Contains(t, approval.Text, "delete 12 pantry items")
		require.Len(t, approval.Calls[0].Keys, 12)
	})

	t.Run("WithoutFilterOfWhatWasSeen", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "Shop"}, {"title": "Cook"}]}`)
		b.nextTurn()
		for _, one := range []vocab.Call{
			call(vocab.ToolDelete, `{"table": "tasks", "filters": []}`), call(vocab.ToolUpdate, `{"table": "tasks", "filters": [], "data": {"category": "other"}}`),
		} {
			asked(t, b, one)
		}
	})

	t.Run("ManyRows", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("read", vocab.ToolRead, `{"table": "inventory"}`)
		asked(t, b, call(vocab.ToolUpdate, `{"table": "inventory", "filters": [{"field": "quantity", "op": ">", "value": 0}], "data": {"notes": "x"}}`))
	})

	t.Run("TenRowsRunElevenAsk", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		update := call(vocab.ToolUpdate, `{"table": "tasks", "filters": [{"field": "title", "op": "ilike", "value": "Chore%"}], "data": {"category": "prep"}}`)
		b.exec(`INSERT INTO kitchen.tasks (user_id, title, due_date) SELECT $1, 'Chore ' || n, date '2027-01-01' + n FROM generate_series(10, 19) AS n`, b.scope.UserID)
		b.ok("read", vocab.ToolRead, `{"table": "tasks"}`)
		require.Equal(t, 10, b.ok("write", vocab.ToolUpdate, string(update.Args)).RowCount)
		b.exec(`INSERT INTO kitchen.tasks (user_id, title, due_date) VALUES ($1, 'Chore 20', '2027-01-21')`, b.scope.UserID)
		require.Equal(t, "This would change 11 tasks (category: prep): Chore 10, Chore 11, Chore 12, Chore 13, Chore 14 and 6 more. Shall I?", asked(t, b, update).Text)
	})

	t.Run("TwoHundredRowsAndNoMore", func(t *testing.T) {
		t.Parallel()

		b := setupAlone(t)
		tasks := strings.Repeat(`{"title": "Chore"}, `, 200)
		require.Equal(t, 200, b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [`+strings.TrimSuffix(tasks, ", ")+`]}`).RowCount)
		require.Contains(t, b.refused("write", vocab.ToolCreate, `{"table": "tasks", "data": [`+tasks+`{"title": "One more"}]}`, crud.CodeBadArgument), "1 to 200 rows")
	})

	t.Run("UnseenSet", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		freezer := call(vocab.ToolDelete, `{"table": "inventory", "filters": [{"field": "location", "op": "=", "value": "freezer"}]}`)
		approval := asked(t, b, freezer)
		require.Contains(t, approval.Text, "3 pantry items: Chicken thighs, Cod, Peas")

		b.exec(`INSERT INTO kitchen.inventory (user_id, name, location) VALUES ($1, 'Ice', 'freezer')`, b.scope.UserID)
		outcome := b.approve(approval)
		require.False(t, outcome.Failed(), "%+v", outcome)
		require.Equal(t, 3, outcome.Results[0].RowCount)
		require.Equal(t, "Ice", query[string](b, `SELECT string_agg(name, ' ') FROM kitchen.inventory WHERE location = 'freezer'`), "exactly the rows of the question")
	})

	// A model that looked several rows up by itself deletes them unasked only if the user has seen or named them.
	t.Run("FoundByTheModel", func(t *testing.T) {
		t.Parallel()

		for name, test := range map[string]struct {
			seenBefore bool
			message    string
			refs       string
			asks       bool
		}{
			"two unseen":             {false, "tidy up", `"inv_1", "inv_2"`, true},
			"one unseen":             {false, "tidy up", `"inv_1"`, false},
			"one of two named":       {false, "throw the peas away", `"inv_1", "inv_2"`, false},
			"two of three not named": {false, "throw the peas away", `"inv_1", "inv_2", "inv_3"`, true},
			"seen before":            {true, "tidy up", `"inv_1", "inv_2", "inv_3"`, false},
		} {
			b := setupAlone(t)
			b.exec(`INSERT INTO kitchen.inventory (user_id, name) SELECT $1, unnest(ARRAY['Peas', 'Cod', 'Ice'])`, b.scope.UserID)
			b.ok("read", vocab.ToolRead, `{"table": "inventory", "order_by": "name", "order_dir": "desc"}`)
			if test.seenBefore {
				b.nextTurn()
			}
			prepared, err := b.tools.Prepare(t.Context(), b.tx, b.asker(), []vocab.Call{call(vocab.ToolDelete, `{"table": "inventory", "filters": [{"field": "id", "op": "in", "value": [`+test.refs+`]}]}`)})
			require.NoError(t, err)
			outcome, err := b.tools.Execute(t.Context(), b.tx, b.at(), crud.Bounds{StepType: "write", Message: test.message}, prepared)
			require.NoError(t, err)
			require.Equal(t, test.asks, outcome.Approval != nil, "%s: %+v", name, outcome.Results)
		}
	})

	// What is split into many calls is no less: they are counted, and asked about, together.
	t.Run("Split", func(t *testing.T) {
		t.Parallel()

		each := func(n int) (calls []vocab.Call) {
			for i := range n {
				calls = append(calls, call(vocab.ToolDelete, sprintf(`{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": "inv_%d"}]}`, i+1)))
			}

			return calls
		}
		for name, test := range map[string]struct {
			rows, calls int
			seenBefore  bool
			deleted     []string
			asked       string
		}{
			"two unseen":       {3, 2, false, nil, "This would delete 2 pantry items: R1, R2."},
			"three unseen":     {3, 3, false, nil, "This would delete 3 pantry items: R1, R2, R3."},
			"one":              {3, 1, false, nil, ""},
			"one after others": {3, 1, false, []string{"Peas"}, "This would delete 1 pantry item: R1."},
			"one after named":  {3, 1, false, []string{"tidy"}, ""},
			"seen":             {10, 10, true, nil, ""},
			"many seen":        {11, 11, true, nil, "This would delete 11 pantry items: R1, R2, R3, R4, R5 and 6 more."},
		} {
			b := setupAlone(t)
			b.exec(`INSERT INTO kitchen.inventory (user_id, name, quantity) SELECT $1, 'R' || n, n FROM generate_series(1, $2) AS n`, b.scope.UserID, test.rows)
			b.ok("read", vocab.ToolRead, `{"table": "inventory", "order_by": "quantity"}`)
			if test.seenBefore {
				b.nextTurn()
			}
			prepared, err := b.tools.Prepare(t.Context(), b.tx, b.asker(), each(test.calls))
			require.NoError(t, err)
			outcome, err := b.tools.Execute(t.Context(), b.tx, b.at(), crud.Bounds{StepType: "write", Message: "tidy up", Deleted: test.deleted}, prepared)
			require.NoError(t, err)
			require.Equal(t, test.asked != "", outcome.Approval != nil, "%s: %+v", name, outcome.Results)
			if outcome.Approval == nil {
				continue
			}
			require.Contains(t, outcome.Approval.Text, test.asked, name)
			require.Equal(t, 1, strings.Count(outcome.Approval.Text, "This would"), name)
			done := b.approve(outcome.Approval)
			require.False(t, done.Failed(), "%s: %+v", name, done.Results)
			require.Equal(t, test.rows-test.calls, query[int](b, `SELECT count(*)::int FROM kitchen.inventory WHERE user_id = $1`, b.scope.UserID), name)
		}
	})

	// A type that has one row, which is called as the type is, is not counted.
	t.Run("Only", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		text := asked(t, b, call(vocab.ToolUpdate, `{"table": "preferences", "data": {"allergies": ["peanuts"]}}`)).Text
		require.Contains(t, text, "This would change the preferences (allergies: peanuts).")
	})

	// Questions stand in the order of their kinds' first calls.
	t.Run("SplitKinds", func(t *testing.T) {
		t.Parallel()

		b := setupAlone(t)
		b.exec(`INSERT INTO kitchen.inventory (user_id, name, quantity) SELECT $1, 'R' || n, n FROM generate_series(1, 3) AS n`, b.scope.UserID)
		b.exec(`INSERT INTO kitchen.tasks (user_id, title) VALUES ($1, 'Shop')`, b.scope.UserID)
		b.ok("read", vocab.ToolRead, `{"table": "inventory", "order_by": "quantity"}`)
		all := call(vocab.ToolDelete, `{"table": "tasks", "filters": []}`)
		some := func(refs string) vocab.Call {
			return call(vocab.ToolDelete, `{"table": "inventory", "filters": [{"field": "id", "op": "in", "value": [`+refs+`]}]}`)
		}
		outcome := b.decide("write", all, some(`"inv_1", "inv_2"`), some(`"inv_3"`))
		require.Equal(t, "This would delete 1 task: Shop. This would delete 3 pantry items: R1, R2, R3. This can be undone. Shall I?", outcome.Approval.Text)
	})

	// Rows that are called alike are told apart, whatever each gets, and amounts stand as they will in the table.
	t.Run("ValuesOfEachAlike", func(t *testing.T) {
		t.Parallel()

		b := setupViews(t, "bills", `CREATE SCHEMA bills;
			CREATE TABLE bills.users (id serial PRIMARY KEY, name text NOT NULL);
			CREATE TABLE bills.invoices (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES bills.users, number text NOT NULL UNIQUE);
			CREATE TABLE bills.items (id serial PRIMARY KEY, invoice_id integer NOT NULL REFERENCES bills.invoices, name text NOT NULL, amount numeric(12,2) NOT NULL);
			INSERT INTO bills.users (name) VALUES ('Ada'); INSERT INTO bills.invoices (user_id, number) SELECT 1, 'B-' || n FROM generate_series(1, 12) AS n;
			INSERT INTO bills.items (invoice_id, name, amount) SELECT n, 'Design', 100 + n FROM generate_series(1, 12) AS n`,
			map[string][]string{"item": {"invoice_id", "name", "amount]\n    approve: [update"}})
		b.ok("read", vocab.ToolRead, `{"table": "items", "order_by": "amount"}`)
		set := func(n int, amount string) vocab.Call {
			return call(vocab.ToolUpdate, sprintf(`{"table": "items", "filters": [{"field": "id", "op": "=", "value": "item_%d"}], "set": [{"column": "amount", "value": %s}]}`, n, amount))
		}
		outcome := b.decide("write", set(1, "104.0"), set(2, "105.06"), set(3, "104"))
		require.Equal(t, "This would change 2 items (amount: 104.00): Design, invoice B-1; Design, invoice B-3. This would change 1 item (amount: 105.06): Design, invoice B-2. Shall I?", outcome.Approval.Text)
		b.nextTurn()
		outcome = b.decide("write", set(1, "104.0"), set(2, "105.06"), set(3, "106.1"))
		require.Equal(t, "This would change 3 items: Design, invoice B-1 (amount: 104.00); Design, invoice B-2 (amount: 105.06); Design, invoice B-3 (amount: 106.10). Shall I?", outcome.Approval.Text)
	})

	// What differs from row to row is told with the rows that it is for: 32 prices in a list of their own said nothing of any vehicle.
	t.Run("ValuesOfEach", func(t *testing.T) {
		t.Parallel()

		b := setupAlone(t)
		b.exec(`INSERT INTO kitchen.inventory (user_id, name, quantity) SELECT $1, 'Oil, ' || n, n FROM generate_series(1, 12) AS n`, b.scope.UserID)
		b.ok("read", vocab.ToolRead, `{"table": "inventory", "order_by": "quantity"}`)
		some := func(refs string, quantity int) vocab.Call {
			return call(vocab.ToolUpdate, sprintf(`{"table": "inventory", "filters": [{"field": "id", "op": "in", "value": [%s]}], "set": [{"column": "quantity", "value": %d}]}`, refs, quantity))
		}
		outcome := b.decide("write", some(`"inv_1", "inv_2"`, 20), some(`"inv_3..inv_12"`, 30))
		require.Equal(t, "This would change 10 pantry items (quantity: 30): Oil, 10; Oil, 11; Oil, 12; Oil, 3; Oil, 4 and 5 more. This would change 2 pantry items (quantity: 20): Oil, 1; Oil, 2. Shall I?", outcome.Approval.Text)

		b.nextTurn()
		whole := func(set string) vocab.Call {
			return call(vocab.ToolUpdate, `{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": "inv_1..inv_12"}], "set": [`+set+`]}`)
		}
		outcome = b.decide("write", whole(`{"column": "quantity", "value": 20}`), whole(`{"column": "location", "value": "freezer"}`))
		for _, becomes := range []string{"quantity: 20", "location: freezer"} {
			require.Contains(t, outcome.Approval.Text, "This would change 12 pantry items ("+becomes+"): ", "two calls may change one row")
		}
		b.nextTurn()
		outcome = b.decide("write", some(`"inv_1", "inv_3..inv_12"`, 20), some(`"inv_2"`, 999))
		require.Contains(t, outcome.Approval.Text, "This would change 1 pantry item (quantity: 999): Oil, 2.", "of each new value rows are named")
		b.nextTurn()
		outcome = b.decide("write", some(`"inv_1"`, 20), call(vocab.ToolDelete, `{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": "inv_2..inv_12"}]}`))
		require.Contains(t, outcome.Approval.Text, "This would delete 11 pantry items: ", "nothing is written into what is deleted")
	})

	t.Run("RowsThatAreGone", func(t *testing.T) {
		t.Parallel()

		b := setupAlone(t)
		b.ok("write", vocab.ToolCreate, `{"table": "inventory", "data": {"name": "Peas"}}`)
		b.exec(`DELETE FROM kitchen.inventory WHERE user_id = $1`, b.scope.UserID)
		one := `{"field": "id", "op": "=", "value": "inv_1"}`
		require.Contains(t, b.refused("write", vocab.ToolDelete, `{"table": "inventory", "filters": [`+one+`]}`, crud.CodeNotFound), "There is no such pantry item any more.")
		require.Contains(t, b.refused("write", vocab.ToolDelete, `{"table": "inventory", "filters": [`+one+`, {"field": "quantity", "op": ">", "value": 0}]}`, crud.CodeNotFound), "does not fit the other filters")
	})

	t.Run("SeenSetRuns", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("read", vocab.ToolRead, `{"table": "inventory", "filters": [{"field": "location", "op": "=", "value": "freezer"}]}`)
		require.Equal(t, 3, b.ok("write", vocab.ToolDelete, `{"table": "inventory", "filters": [{"field": "location", "op": "=", "value": "freezer"}]}`).RowCount)
	})

	t.Run("WholeDecisionWaits", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		approval := asked(t, b, call(vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Shop"}}`), call(vocab.ToolDelete, `{"table": "inventory", "filters": []}`))
		require.Zero(t, query[int](b, `SELECT count(*)::int FROM kitchen.tasks`))
		outcome := b.approve(approval)
		require.False(t, outcome.Failed(), "%+v", outcome)
		require.Equal(t, 1, query[int](b, `SELECT count(*)::int FROM kitchen.tasks`))
		require.Zero(t, query[int](b, `SELECT count(*)::int FROM kitchen.inventory`))
	})
}
