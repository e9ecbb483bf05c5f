package crud_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/pg"
	"alfred/internal/vocab"
)

// statements counts a connection's statements.
type statements struct{ n atomic.Int64 }

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	s.n.Add(1)

	return ctx
}

func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestStatementsDoNotGrowWithRows checks that every tool needs as many statements for many rows as for one.
func TestStatementsDoNotGrowWithRows(t *testing.T) {
	t.Parallel()

	config, err := pgx.ParseConfig(dbtest.URL(t))
	require.NoError(t, err)
	config.RuntimeParams["search_path"] = pg.SearchPath
	counter := &statements{}
	config.Tracer = counter
	conn, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	b := setupIn(t, tx, uuid.MustParse(demoUser))

	count := func(stepType string, calls ...vocab.Call) int64 {
		t.Helper()

		prepared, err := b.tools.Prepare(t.Context(), b.tx, b.asker(), calls)
		require.NoError(t, err)
		scope := b.at()
		before := counter.n.Load()
		outcome, err := b.tools.Execute(t.Context(), b.tx, scope, crud.Bounds{StepType: stepType}, prepared)
		require.NoError(t, err)
		require.False(t, outcome.Failed(), "%+v", outcome)

		return counter.n.Load() - before
	}
	list := func(format string, n int) string {
		var items []string
		for i := range n {
			items = append(items, strings.ReplaceAll(format, "#", string(rune('a'+i))))
		}

		return "[" + strings.Join(items, ", ") + "]"
	}
	refs := b.ok("write", vocab.ToolCreate, `{"table": "inventory", "data": `+list(`{"name": "beet #"}`, 9)+`}`).Refs
	const most = 30 // including savepoints and role switches

	for name, one := range map[string]struct {
		stepType string
		call     func(n int) vocab.Call
	}{
		"CreateBatch": {"write", func(n int) vocab.Call {
			return call(vocab.ToolCreate, `{"table": "inventory", "data": `+list(`{"name": "carrot #", "quantity": 1}`, n)+`}`)
		}},
		"CreateMerged": {"write", func(n int) vocab.Call {
			return call(vocab.ToolCreate, `{"table": "shopping_list", "data": `+list(`{"name": "zq#zq", "quantity": 1}`, n)+`}`)
		}},
		"CreateWithChildren": {"write", func(n int) vocab.Call {
			return call(vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Soup", "recipe_ingredients": `+list(`{"name": "leek #"}`, n)+`}}`)
		}},
		"Generate": {"generate", func(n int) vocab.Call {
			return call(vocab.ToolGenerate, `{"creates": `+list(`{"type": "task", "content": {"title": "Do #"}}`, n)+`}`)
		}},
		"ReadFull": {"read", func(n int) vocab.Call {
			return call(vocab.ToolRead, sprintf(`{"table": "recipes", "detail": "full", "limit": %d}`, n))
		}},
		"ReadByName": {"read", func(n int) vocab.Call {
			return call(vocab.ToolRead, `{"table": "inventory", "filters": [{"field": "name", "op": "in", "value": `+list(`"carrot #"`, n)+`}]}`)
		}},
		"Update": {"write", func(n int) vocab.Call {
			refs := strings.Join(refs[:n], `", "`)

			return call(vocab.ToolUpdate, `{"table": "inventory", "filters": [{"field": "id", "op": "in", "value": ["`+refs+`"]}], "data": {"notes": "x"}}`)
		}},
	} {
		count(one.stepType, one.call(1)) // exclude the cost of seeing a row for the first time
		few, many := count(one.stepType, one.call(2)), count(one.stepType, one.call(9))
		require.LessOrEqual(t, many, int64(most), name)
		require.InDelta(t, few, many, 2, name)
	}
}
