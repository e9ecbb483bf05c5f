package httpapi_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/httpapi"
	"alfred/internal/llm/lexical"
	"alfred/internal/recall"
	"alfred/internal/testfactory"
)

// Deletions that take other people's rows along have to be confirmed, alone and in a batch.
func TestDeletingRowsOfOthersIsConfirmed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, testfactory.Forum+`INSERT INTO forum.channels (created_by, name) VALUES (1, 'games'); INSERT INTO forum.messages (user_id, channel_id, title) VALUES (2, 3, 'chess?')`)
	d := testfactory.Views(t, b.pool, "forum", strings.NewReplacer("\n  - type: channel\n", "\n  - type: channel\n    writes: [delete]\n")).Domain
	b.exec(t, `INSERT INTO forum_alfred.alfred_accounts VALUES ($1, 1)`, b.user)
	b.url = b.serve(t, func(c *httpapi.Config) {
		c.Domain, c.Rows = d, crud.New(d, recall.New(d, lexical.Embedder{}))
	})

	require.Equal(t, 204, b.call(t, "DELETE", "/v1/data/channel/2", nil).status)
	asks := b.call(t, "DELETE", "/v1/data/channel/1", nil)
	require.Equal(t, 409, asks.status, asks.raw)
	require.Equal(t, "confirmation_needed", asks.code())
	told := asks.text("detail")
	require.Contains(t, told, "messages of others")
	require.Equal(t, 409, b.call(t, "DELETE", "/v1/data/channel/1?confirm=yes", nil).status)
	require.Equal(t, 204, b.call(t, "DELETE", "/v1/data/channel/1?confirm="+url.QueryEscape(told), nil).status)

	change := map[string]any{"action": "delete", "id": "3"}
	batch := func() *answer {
		return b.call(t, "POST", "/v1/data/channel/batch", map[string]any{"changes": []any{change}})
	}
	require.Contains(t, batch().raw, `"code":"confirmation_needed"`)
	change["confirm"] = told
	done := batch()
	require.Equal(t, []any{}, done.body["errors"], done.raw)
	require.InDelta(t, 1, done.body["written"], 0)
}
