package crud_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

// conversations is how many random conversations to hold: a few, or ALFRED_UNDO_CONVERSATIONS.
func conversations(t *testing.T) int {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv("ALFRED_UNDO_CONVERSATIONS")); err == nil {
		return n
	}
	if testing.Short() {
		return 3
	}

	return 8
}

// Random conversations with random undos: an undo and its own undo leave the rows unchanged, a refused one changes
// nothing, and undoing everything from the last turn back restores the initial state.
func TestRandomUndos(t *testing.T) {
	t.Parallel()
	var done, refused atomic.Int64
	for seed := range conversations(t) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			tx := dbtest.Tx(t)
			b := setupIn(t, tx, testfactory.User(t, tx, "UTC"))
			c := &randomTalk{bundle: b, r: rand.New(rand.NewPCG(uint64(seed), 7))}
			start := b.state()
			for range 12 {
				c.step()
			}
			c.backwards()
			require.JSONEq(t, start, b.state())
			done.Add(int64(c.done))
			refused.Add(int64(c.refused))
		})
	}
	t.Cleanup(func() {
		t.Logf("%d undos, %d refused", done.Load(), refused.Load())
		require.Positive(t, done.Load())
	})
}

type randomTalk struct {
	*bundle

	r             *rand.Rand
	turns         []uuid.UUID // that wrote, including undos
	done, refused int
}

func (c *randomTalk) pick(list ...string) string { return list[c.r.IntN(len(list))] }

// refs returns the live refs of a type.
func (c *randomTalk) refs(entityType string) []string {
	return query[[]string](c.bundle, `SELECT coalesce(array_agg(ref ORDER BY ref), '{}') FROM entity_refs
		WHERE session_id = $1 AND entity_type = $2 AND state IN ('stored', 'promoted') AND action <> 'linked'`, c.scope.SessionID, entityType)
}

func (c *randomTalk) step() {
	c.t.Helper()
	if len(c.turns) > 0 && c.r.IntN(3) == 0 {
		c.tryUndo()

		return
	}
	c.nextTurn()
	for range 1 + c.r.IntN(2) {
		calls := []vocab.Call{c.write()}
		if c.r.IntN(2) == 0 {
			calls = append(calls, c.write())
		}
		c.decide("write", calls...) // a failed one has written nothing
		c.scope.Call++
	}
	if c.undoable() != "" {
		c.turns = append(c.turns, c.scope.TurnID)
	}
}

func (c *randomTalk) write() vocab.Call {
	n := strconv.Itoa(c.r.IntN(9) + 1)
	recipes, tasks, meals, lines := c.refs("recipe"), c.refs("task"), c.refs("meal"), c.refs("ri")
	byRef := func(table, ref, rest string) string {
		return sprintf(`{"table": %q, "filters": [{"field": "id", "op": "=", "value": %q}]%s}`, table, ref, rest)
	}
	switch what := c.r.IntN(9); {
	case what == 1 && len(recipes) > 0:
		return call(vocab.ToolUpdate, byRef("recipes", c.pick(recipes...), `, "data": {"servings": `+n+`, "tags": ["`+c.pick("a", "b")+`"]}`))
	case what == 2 && len(recipes) > 0:
		return call(vocab.ToolDelete, byRef("recipes", c.pick(recipes...), ""))
	case what == 3 && len(recipes) > 0:
		return call(vocab.ToolCreate, sprintf(`{"table": "meal_plans", "data": {"date": "2026-11-0%s", "meal_type": "dinner", "recipe_id": %q}}`, n, c.pick(recipes...)))
	case what == 4:
		return call(vocab.ToolCreate, sprintf(`{"table": "shopping_list", "data": {"name": %q, "quantity": %s, "unit": "piece"}}`, c.pick("eggs", "milk", "soap"), n))
	case what == 5:
		return call(vocab.ToolCreate, sprintf(`{"table": "preferences", "data": {"allergies": [%q], "household_adults": %s}}`, c.pick("nuts", "eggs"), n))
	case what == 6 && len(lines) > 0:
		return call(c.pick(vocab.ToolDelete), byRef("recipe_ingredients", c.pick(lines...), ""))
	case what == 7 && len(meals) > 0:
		return call(vocab.ToolCreate, sprintf(`{"table": "tasks", "data": {"title": "Cook", "meal_plan_id": %q}}`, c.pick(meals...)))
	case what == 8 && len(tasks) > 0:
		return call(vocab.ToolDelete, byRef("tasks", c.pick(tasks...), ""))
	default:
		return call(vocab.ToolCreate, sprintf(`{"table": "recipes", "data": {"name": "Soup %s", "servings": 2, "recipe_ingredients": [{"name": "water"}, {"name": "salt", "quantity": %s}]}}`, n, n))
	}
}

func (c *randomTalk) stands(turn uuid.UUID) bool {
	return query[string](c.bundle, `SELECT undo FROM turns WHERE id = $1`, turn) == "possible"
}

func (c *randomTalk) number(turn uuid.UUID) int {
	return query[int](c.bundle, `SELECT number FROM turns WHERE id = $1`, turn)
}

func (c *randomTalk) tryUndo() {
	c.t.Helper()
	turn := c.turns[c.r.IntN(len(c.turns))]
	if !c.stands(turn) {
		return
	}
	before := c.state()
	if outcome := c.undo(turn, c.number(turn)); outcome.Failed() {
		c.refused++
		require.JSONEq(c.t, before, c.state(), outcome.Results[0].ErrorMessage)

		return
	}
	c.done++
	undo := c.scope.TurnID
	if c.r.IntN(2) == 0 {
		c.undone(undo, c.scope.Turn)
		require.JSONEq(c.t, before, c.state(), "an undo and its undo")
		c.turns = append(c.turns, undo, c.scope.TurnID)

		return
	}
	c.turns = append(c.turns, undo)
}

func (c *randomTalk) backwards() {
	c.t.Helper()
	for _, turn := range slices.Backward(c.turns) {
		if c.stands(turn) {
			c.undone(turn, c.number(turn))
			c.done++
		}
	}
}
