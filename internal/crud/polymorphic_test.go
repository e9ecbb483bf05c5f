package crud_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

// What a row is about is read, written and undone by the ref of a row, whichever type it has.
func TestRowsAboutRowsOfSeveralTypes(t *testing.T) {
	t.Parallel()

	tx := dbtest.OwnTx(t)
	_, err := tx.Exec(t.Context(), `CREATE SCHEMA press; CREATE TABLE press.users (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE press.posts (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES press.users, title text NOT NULL);
CREATE TABLE press.deals (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES press.users, name text NOT NULL);
CREATE TABLE press.comments (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES press.users, commentable_type varchar NOT NULL, commentable_id bigint NOT NULL, body text NOT NULL);
INSERT INTO press.users (name) VALUES ('Ada');
INSERT INTO press.posts (user_id, title) VALUES (1, 'Rain'); INSERT INTO press.deals (user_id, name) VALUES (1, 'Acme');
INSERT INTO press.comments (user_id, commentable_type, commentable_id, body) VALUES (1, 'Post', 1, 'Yes'), (1, 'Deal', 1, 'No')`)
	require.NoError(t, err)
	d := testfactory.Views(t, tx, "press", strings.NewReplacer(
		"    # read only; to allow more: writes: [create, update, delete] and columns: [body, commentable_deal, commentable_post]",
		"    writes: [create, update, delete]\n    columns: [body, commentable_deal, commentable_post]",
		"    # read only; to allow more: writes: [create, update, delete] and columns: [title]",
		"    writes: [create, delete]\n    columns: [title]\n    children: [{type: comment, column: commentable_post}]"))
	_, err = tx.Exec(t.Context(), `INSERT INTO press_alfred.alfred_accounts VALUES ($1, 1)`, demoUser)
	require.NoError(t, err)
	b := setupOn(t, tx, uuid.MustParse(demoUser), d.Domain)
	held := func() string {
		return query[string](b, `SELECT string_agg(concat_ws(' ', body, commentable_type, commentable_id), ', ' ORDER BY id) FROM press.comments`)
	}

	about := b.rows(b.ok("read", vocab.ToolRead, `{"table": "comments", "filters": [{"field": "commentable_deal", "op": "=", "value": "Acme"}]}`))
	require.Equal(t, []string{"No"}, column[string](about, "body"))
	require.Equal(t, []string{"Acme"}, column[string](about, "_commentable_deal_label"))
	b.scope.Call++
	b.ok("write", vocab.ToolUpdate, `{"table": "comments", "filters": [{"field": "body", "op": "=", "value": "No"}], "set": [{"column": "commentable_post", "value": "Rain"}]}`)
	require.Equal(t, "Yes Post 1, No Post 1", held())
	b.scope.Call++
	b.ok("write", vocab.ToolCreate, `{"table": "posts", "data": {"title": "Snow", "comments": [{"body": "Cold"}]}}`)
	require.Equal(t, "Yes Post 1, No Post 1, Cold Post 2", held())
	b.scope.Call++
	require.Contains(t, b.refused("write", vocab.ToolCreate, `{"table": "comments", "data": {"body": "nowhere"}}`, crud.CodeViolation), "A row has one of commentable_deal, commentable_post.")
	b.scope.Call++
	require.Contains(t, b.refused("write", vocab.ToolCreate, `{"table": "comments", "data": {"body": "both", "commentable_deal": "Acme", "commentable_post": "Snow"}}`, crud.CodeViolation), "A row has only one of commentable_deal, commentable_post.")
	require.Contains(t, d.ByType("comment").Describe(), "- commentable_deal: ref (deal_1). A row has one of commentable_deal, commentable_post.\n")

	b.nextTurn()
	before := held()
	deleted := b.decide("write", call(vocab.ToolDelete, `{"table": "posts", "filters": [{"field": "title", "op": "=", "value": "Rain"}]}`))
	require.Equal(t, "Left without it: 2 comments.", deleted.Company, "no foreign key takes them along")
	b.agreed(b.scope.TurnID, b.scope.Turn)
	require.Equal(t, before, held())
	b.nextTurn()
	asked := b.decide("write", call(vocab.ToolDelete, `{"table": "posts", "filters": []}`), call(vocab.ToolDelete, `{"table": "comments", "filters": [{"field": "body", "op": "=", "value": "Yes"}]}`))
	require.Contains(t, asked.Approval.Text, "; 2 comments would be left without them.", "but for the one that is deleted itself")

	b.nextTurn()
	b.ok("write", vocab.ToolUpdate, `{"table": "comments", "filters": [{"field": "body", "op": "=", "value": "Yes"}], "set": [{"column": "commentable_deal", "value": "Acme"}]}`)
	b.ok("write", vocab.ToolDelete, `{"table": "comments", "filters": [{"field": "body", "op": "=", "value": "Cold"}]}`)
	require.Equal(t, "Yes Deal 1, No Post 1", held())
	changed, number := b.scope.TurnID, b.scope.Turn
	b.agreed(changed, number)
	require.Equal(t, before, held())
}
