package crud_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/vocab"
)

// If two conversations of one user add the same new thing at once, they create one row: the second waits for the first
// to commit.
func TestMergeAcrossSessions(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	add := func(b *bundle) error {
		prepared, err := b.tools.Prepare(t.Context(), b.tx, b.asker(), []vocab.Call{
			call(vocab.ToolCreate, `{"table": "shopping_list", "data": [{"name": "Dragon fruit", "quantity": 2, "unit": "piece"}, {"name": "oat milk"}]}`),
			call(vocab.ToolCreate, `{"table": "preferences", "data": {"allergies": ["nuts"]}}`),
		})
		if err != nil {
			return err
		}
		outcome, err := b.tools.Execute(t.Context(), b.tx, b.at(), crud.Bounds{StepType: "write"}, prepared)
		if err == nil && outcome.Failed() {
			return errors.New(outcome.Results[0].ErrorMessage + outcome.Results[1].ErrorMessage)
		}

		return err
	}
	begin := func() *bundle {
		tx, err := pool.Begin(t.Context())
		require.NoError(t, err)

		return setupIn(t, tx, uuid.MustParse(demoUser))
	}
	first, second := begin(), begin()
	require.NoError(t, add(first))
	done := make(chan error, 1)
	go func() { done <- add(second) }()
	require.Eventually(t, func() bool {
		var waiting bool
		err := pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waiting)

		return err == nil && waiting || len(done) > 0
	}, dbtest.Patience, 5*time.Millisecond)
	require.NoError(t, first.tx.Commit(t.Context()))
	require.NoError(t, <-done)
	require.NoError(t, second.tx.Commit(t.Context()))

	var list string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT string_agg(lower(name) || ' ' || coalesce(trim_scale(quantity)::text, '-'), ', ' ORDER BY name)
		FROM kitchen.shopping_list WHERE user_id = $1 AND name ~* 'dragon|oat'`, demoUser).Scan(&list))
	require.Equal(t, "dragon fruit 4, oat milk -", list)
}

// Equal rows of one call are one row, whether or not a like one exists: amounts add up exactly, words are kept once,
// what is empty is filled in and nothing else is overwritten.
func TestMergeWithinACall(t *testing.T) {
	t.Parallel()

	for name, first := range map[string]bool{"new": false, "added to a row": true} {
		b := setupAlone(t)
		rows := []string{
			`{"name": "Milk", "quantity": 0.1, "notes": "oat milk", "source": "Curry"}`, `{"name": "milk ", "notes": "OAT", "category": "dairy"}`,
			`{"name": "MILK", "quantity": 0.2, "source": "Soup"}`,
		}
		if first {
			b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "data": [`+rows[0]+`]}`)
			rows = rows[1:]
		}
		result := b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "data": [`+strings.Join(rows, ",")+`, {"name": "Milk", "unit": "l"}]}`)
		require.Equal(t, []string{"Milk 0.3 - dairy oat milk Curry, Soup", "Milk - l dairy - -"}, query[[]string](b, `SELECT array_agg(concat_ws(' ', name, coalesce(trim_scale(quantity)::text, '-'), coalesce(unit::text, '-'),
			coalesce(category, '-'), coalesce(notes, '-'), coalesce(source, '-')) ORDER BY quantity) FROM kitchen.shopping_list WHERE user_id = $1`, b.scope.UserID), name)
		require.Equal(t, map[bool]string{false: "created created", true: "updated created"}[first], result.Changes[0].Action+" "+result.Changes[1].Action, name)
	}
}

// A row of nothing but defaults.
func TestCreateOfDefaultsAlone(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "preferences", "data": {"household_adults": null}}`)
	require.Equal(t, 1, query[int](b, `SELECT household_adults FROM kitchen.preferences WHERE user_id = $1`, b.scope.UserID))
	b.ok("write", vocab.ToolCreate, `{"table": "preferences", "data": {"household_adults": null, "allergies": ["nuts"]}}`)
	require.Equal(t, "1 {nuts}", query[string](b, `SELECT concat_ws(' ', household_adults, allergies) FROM kitchen.preferences WHERE user_id = $1`, b.scope.UserID))
}

// Preferences are one row: a create adds to it, omitted columns stay, and an update sets a list as given.
func TestSingletonGrows(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.exec(`DELETE FROM kitchen.preferences WHERE user_id = $1`, demoUser)
	state := func() string {
		return query[string](b, `SELECT concat_ws(' ', allergies, favorite_cuisines, household_adults, count(*) OVER ()) FROM kitchen.preferences WHERE user_id = $1`, demoUser)
	}
	b.ok("write", vocab.ToolCreate, `{"table": "preferences", "data": {"allergies": ["Peanuts"], "favorite_cuisines": ["Thai"], "household_adults": 2}}`)
	require.Equal(t, "{peanuts} {thai} 2 1", state())
	result := b.ok("write", vocab.ToolCreate, `{"table": "preferences", "data": {"allergies": ["shellfish", "PEANUTS"], "household_adults": 3}}`)
	require.Equal(t, "{peanuts,shellfish} {thai} 3 1", state())
	require.Equal(t, []string{"pref_1"}, result.Refs)
	require.Equal(t, "updated", result.Changes[0].Action)
	b.ok("write", vocab.ToolUpdate, `{"table": "preferences", "filters": [{"field": "id", "op": "=", "value": "pref_1"}], "data": {"allergies": ["shellfish"]}}`)
	require.Equal(t, "{shellfish} {thai} 3 1", state())
	b.refused("write", vocab.ToolCreate, `{"table": "preferences", "data": [{"allergies": ["x"]}, {"allergies": ["y"]}]}`, crud.CodeBadArgument)
}

// Tags and cuisines are free-form words: stored in lower case, matched in any case.
func TestFreeWords(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "recipe", "content": {"name": "Laab", "cuisine": "Thai", "tags": ["Smoky ", "Hot"]}}]}`)
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1"}`)
	require.Equal(t, "thai {smoky,hot}", query[string](b, `SELECT concat_ws(' ', cuisine, tags) FROM kitchen.recipes WHERE name = 'Laab'`))
	b.exec(`UPDATE kitchen.recipes SET cuisine = 'THAI', tags = '{SMOKY}' WHERE name = 'Laab'`)
	for _, filter := range []string{
		`{"field": "cuisine", "op": "=", "value": "Thai"}, {"field": "name", "op": "=", "value": "laab"}`,
		`{"field": "cuisine", "op": "in", "value": ["greek", "tHAI"]}, {"field": "tags", "op": "contains", "value": "Smoky"}`,
	} {
		require.Equal(t, []string{"Laab"}, column[string](b.rows(b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [`+filter+`]}`)), "name"))
	}
}

// What is added to a row that is there changes it: two more loaves were told as a new thing to buy.
func TestMergedRowsAreToldAsChanged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	add := func(row string) string {
		return b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "data": `+row+`}`).Told
	}
	require.Equal(t, "created 1 shopping item: Dragon fruit (shop_1)", add(`{"name": "Dragon fruit", "quantity": 1, "unit": "piece"}`))
	require.Equal(t, "changed 1 shopping item: Dragon fruit (shop_1)", add(`{"name": "dragon fruit", "quantity": 2, "unit": "piece"}`))
}

// A unit that is never said tells no rows apart: people saw two lines of eggs, 2 without a unit and 8 by the count.
func TestMergeRegardsNoUnitThatIsNotSaid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, unit := range []string{`null`, `"piece"`, `"count"`, `"kg"`} {
		b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "data": {"name": "Dragon fruit", "quantity": 2, "unit": `+unit+`}}`)
	}
	require.Equal(t, "2 kg, 6 piece", query[string](b, `SELECT string_agg(trim_scale(quantity) || ' ' || unit, ', ' ORDER BY quantity) FROM kitchen.shopping_list WHERE name = 'Dragon fruit'`))
}
