package httpapi_test

import (
	"net/url"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/domain"
	"alfred/internal/httpapi"
	"alfred/internal/llm/lexical"
	"alfred/internal/recall"
)

const forum = `CREATE SCHEMA forum;
CREATE TABLE forum.users (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE forum.channels (id serial PRIMARY KEY, created_by integer NOT NULL REFERENCES forum.users, name text NOT NULL);
CREATE TABLE forum.messages (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES forum.users, channel_id integer NOT NULL REFERENCES forum.channels ON DELETE CASCADE, title text NOT NULL);
INSERT INTO forum.users (name) VALUES ('Ada'), ('Eve');
INSERT INTO forum.channels (created_by, name) VALUES (1, 'general'), (1, 'diary'), (1, 'news');
INSERT INTO forum.messages (user_id, channel_id, title) VALUES (2, 1, 'hi'), (1, 2, 'today'), (2, 3, 'hello')`

// forumOf declares the forum, whose users write into each other's channels.
func forumOf(t *testing.T, pool *pgxpool.Pool) *domain.Domain {
	t.Helper()
	_, err := pool.Exec(t.Context(), forum)
	require.NoError(t, err)
	text, err := domain.InitViews(t.Context(), pool, "forum", "")
	require.NoError(t, err)
	decl, err := domain.Load(fstest.MapFS{"d.yaml": {Data: []byte(text)}}, "d.yaml")
	require.NoError(t, err)
	for i := range decl.Entities {
		if decl.Entities[i].Type == "channel" {
			decl.Entities[i].Writes = []domain.Verb{domain.Delete}
		}
	}
	sql, _, err := domain.Views(t.Context(), pool, decl)
	require.NoError(t, err)
	require.NoError(t, domain.Attach(t.Context(), pool, decl, sql))
	d, err := domain.Bind(t.Context(), pool, decl)
	require.NoError(t, err)

	return d
}

// Deletions that take other people's rows along have to be confirmed, alone and in a batch.
func TestDeletingRowsOfOthersIsConfirmed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := forumOf(t, b.pool)
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
