package crud_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/llm/lexical"
	"alfred/internal/recall"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

// searchable is a bundle on its own database whose rows have embeddings.
func searchable(t *testing.T) *bundle {
	t.Helper()

	pool := dbtest.Pool(t)
	kit := testfactory.Kitchen(t)
	require.NoError(t, recall.NewIndex(recall.New(kit, lexical.Embedder{}), pool).Sweep(t.Context()))
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })

	return setupIn(t, tx, uuid.MustParse(demoUser))
}

func TestSemanticFilter(t *testing.T) {
	t.Parallel()

	t.Run("RanksAndFilters", func(t *testing.T) {
		t.Parallel()

		b := searchable(t)
		rows := b.rows(b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "_semantic", "op": "similar", "value": "poached eggs in spiced tomato sauce"}]}`))
		require.Equal(t, "Shakshuka Classic", rows[0]["name"])
		rows = b.rows(b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "_semantic", "op": "similar", "value": "poached eggs in spiced tomato sauce"}, {"field": "cuisine", "op": "=", "value": "thai"}]}`))
		require.Equal(t, []string{"Pad See Ew"}, column[string](rows, "name"), "no filter is starved")
		rows = b.rows(b.ok("read", vocab.ToolRead, `{"table": "ingredients", "filters": [{"field": "_semantic", "op": "similar", "value": "cheddar cheese"}], "limit": 3}`))
		require.Contains(t, column[string](rows, "name"), "cheddar")
	})

	t.Run("NotEmbeddedYet", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		rows := b.rows(b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "_semantic", "op": "similar", "value": "eggs poached in tomato sauce"}]}`))
		require.Equal(t, "Shakshuka Classic", rows[0]["name"])
	})

	t.Run("EmbedderDown", func(t *testing.T) {
		t.Parallel()

		b := searchable(t)
		b.tools = crud.New(b.kit, recall.New(b.kit, brokenEmbedder{}))
		rows := b.rows(b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "_semantic", "op": "similar", "value": "shakshuka"}]}`))
		require.Equal(t, "Shakshuka Classic", rows[0]["name"])
		require.Contains(t, rows[0]["_notice"], "not available", "an outage is not an empty result")
	})
}

func TestRecall(t *testing.T) {
	t.Parallel()

	b := searchable(t)
	past := func(message, reply string) {
		b.exec(`UPDATE turns SET status = 'succeeded', message = $2, reply = $3, replied_at = now(), finished_at = now() WHERE id = $1`, b.scope.TurnID, message, reply)
		b.exec(`SELECT turn_summary_write_facts($1)`, b.scope.TurnID)
		b.nextTurn()
	}
	past("my grandmother's secret is nutmeg in the @[Mash](recipe:"+butterChicken+")", "Noted: nutmeg.")
	past("what about dessert", "Maybe a crumble.")

	result := b.ok("read", vocab.ToolRecall, `{"query": "what was the secret of my grandmother?"}`)
	rows := b.rows(result)
	require.Equal(t, "turn", rows[0]["type"])
	require.InDelta(t, 1, rows[0]["turn"], 0)
	require.Equal(t, "my grandmother's secret is nutmeg in the Mash", rows[0]["message"])

	rows = b.rows(b.ok("read", vocab.ToolRecall, `{"query": "shakshuka", "limit": 1}`))
	require.Equal(t, "Shakshuka Classic", rows[0]["label"])
	require.Equal(t, "recipe_1", rows[0]["ref"])

	stranger, _ := b.user()
	other := setupIn(t, b.tx, stranger)
	for _, row := range other.rows(other.ok("read", vocab.ToolRecall, `{"query": "grandmother's secret nutmeg shakshuka"}`)) {
		require.NotEqual(t, "turn", row["type"])
		require.NotEqual(t, "Shakshuka Classic", row["label"])
	}
	b.refused("read", vocab.ToolRecall, `{"query": " "}`, crud.CodeBadArgument)
}

type brokenEmbedder struct{ lexical.Embedder }

func (brokenEmbedder) Embed(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("no answer")
}
