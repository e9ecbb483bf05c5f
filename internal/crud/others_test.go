package crud_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

// setupForum is a schema in which one user's rows belong to another's row.
func setupForum(t *testing.T) *bundle {
	t.Helper()

	return setupViews(t, "forum", testfactory.Forum, map[string][]string{"channel": {"name"}})
}

// setupViews is a schema as init declares it, with rows of some types that may be written, by the columns that may be set. Ada,
// whose account is 1, works with it; Eve has the account 2.
func setupViews(t *testing.T, schema, tables string, writable map[string][]string, review ...string) *bundle {
	t.Helper()
	tx := dbtest.Tx(t)
	_, err := tx.Exec(t.Context(), tables)
	require.NoError(t, err)
	for entityType, columns := range writable {
		line := "\n  - type: " + entityType + "\n"
		review = append(review, line, line+"    writes: [create, update, delete]\n    columns: ["+strings.Join(columns, ", ")+"]\n")
	}
	d := testfactory.Views(t, tx, schema, strings.NewReplacer(review...)).Domain
	ada, eve := testfactory.User(t, tx, "UTC"), testfactory.User(t, tx, "UTC")
	_, err = tx.Exec(t.Context(), `INSERT INTO `+schema+`_alfred.alfred_accounts VALUES ($1, 1), ($2, 2)`, ada, eve)
	require.NoError(t, err)

	return setupOn(t, tx, ada, d)
}

// Other people's rows that go with one's own are not deleted unasked, and nothing says that they can be brought back.
func TestDeletionTakesRowsOfOthers(t *testing.T) {
	t.Parallel()
	b := setupForum(t)
	b.read("channels")
	b.nextTurn()
	const said = "With the channel, messages of others are deleted or changed, which I do not see and cannot bring back."

	asked := b.decide("write", call(vocab.ToolDelete, `{"table": "channels", "filters": [{"field": "name", "op": "=", "value": "general"}]}`))
	require.NotNil(t, asked.Approval)
	require.Equal(t, "This would delete 1 channel: general, with its 1 message. "+said+" Shall I?", asked.Approval.Text)
	require.Equal(t, 3, query[int](b, `SELECT count(*)::int FROM forum.messages`))

	b.ok("write", vocab.ToolDelete, `{"table": "channels", "filters": [{"field": "name", "op": "=", "value": "diary"}]}`)
	require.Equal(t, "possible", b.undoable(), "nobody else has written there")
}

// What others have added to a created row is not deleted by undoing it.
func TestUndoKeepsRowsOfOthers(t *testing.T) {
	t.Parallel()
	b := setupForum(t)
	b.ok("write", vocab.ToolCreate, `{"table": "channels", "data": {"name": "new"}}`)
	made, number := b.scope.TurnID, b.scope.Turn
	b.exec(`INSERT INTO forum.messages (user_id, channel_id, title) SELECT 2, id, 'hi' FROM forum.channels WHERE name = 'new'`)
	b.nextTurn()
	outcome, err := b.tools.Undo(t.Context(), b.tx, b.at(), crud.Undoing{Turn: made, Number: number})
	require.NoError(t, err)
	require.Contains(t, outcome.Results[0].ErrorMessage, "messages of others")
	require.Equal(t, 4, query[int](b, `SELECT count(*)::int FROM forum.messages`))
}

// A person's deletion takes other people's rows along only once it is known that it does.
func TestPersonDeletesRowsOfOthers(t *testing.T) {
	t.Parallel()
	b := setupForum(t)
	remove := func(channel, told string) error {
		_, err := b.tools.Delete(t.Context(), b.tx, crud.User{ID: b.scope.UserID}, "channel", channel, crud.Deletion{Told: told})

		return err
	}
	var asks *crud.ConfirmError
	require.ErrorAs(t, remove("1", "yes"), &asks)
	require.Equal(t, "With the channel, messages of others are deleted or changed, which I do not see and cannot bring back.", asks.Text)
	require.Equal(t, 3, query[int](b, `SELECT count(*)::int FROM forum.messages`))
	require.NoError(t, remove("2", ""), "nobody else has written there")
	require.NoError(t, remove("1", asks.Text))
	require.Zero(t, query[int](b, `SELECT count(*)::int FROM forum.messages`))
}

// Other people's rows are found by a key of several columns too, and whatever else goes that no type shows.
func TestDeletionTakesRowsOfOthersByCombinedKey(t *testing.T) {
	t.Parallel()
	b := setupViews(t, "club", `CREATE SCHEMA club;
		CREATE TABLE club.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE club.courts (hall text, number integer, user_id integer NOT NULL REFERENCES club.users, title text NOT NULL, PRIMARY KEY (hall, number));
		CREATE TABLE club.audits (hall text, number integer, FOREIGN KEY (hall, number) REFERENCES club.courts ON DELETE CASCADE);
		CREATE TABLE club.games (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES club.users, hall text, number integer, title text NOT NULL,
			FOREIGN KEY (hall, number) REFERENCES club.courts ON DELETE CASCADE);
		INSERT INTO club.users (name) VALUES ('Ada'), ('Eve');
		INSERT INTO club.courts VALUES ('a:b', 1, 1, 'First'), ('a', 2, 1, 'Second');
		INSERT INTO club.audits VALUES ('a:b', 1), ('a', 2);
		INSERT INTO club.games (user_id, hall, number, title) VALUES (1, 'a:b', 1, 'Mine'), (2, 'a:b', 1, 'Hers'), (1, 'a', 2, 'Mine alone')`,
		map[string][]string{"court": {"title", "hall", "number"}, "game": {"title"}})
	b.read("courts")
	b.nextTurn()
	asked := b.decide("write", call(vocab.ToolDelete, `{"table": "courts", "filters": [{"field": "title", "op": "=", "value": "First"}]}`))
	require.NotNil(t, asked.Approval)
	require.Equal(t, "This would delete 1 court: First, with its 1 game. With the court, games of others are deleted or changed, which I do not see and cannot bring back. Shall I?", asked.Approval.Text)

	b.ok("write", vocab.ToolDelete, `{"table": "courts", "filters": [{"field": "title", "op": "=", "value": "Second"}]}`)
	require.Equal(t, 2, query[int](b, `SELECT count(*)::int FROM club.games`))
}

// A question about a deletion counts what goes with rows of earlier calls, which it names too.
func TestQuestionCountsWhatEarlierCallsTook(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(`DELETE FROM kitchen.recipes`)
	for _, name := range []string{"Soup", "Stew"} {
		b.ok("write", vocab.ToolCreate, sprintf(`{"table": "recipes", "data": {"name": %q, "instructions": ["Cook."], "recipe_ingredients": [{"name": "salt"}]}}`, name))
	}
	b.nextTurn()
	asked := b.decide("write",
		call(vocab.ToolDelete, `{"table": "recipes", "filters": [{"field": "name", "op": "=", "value": "Soup"}]}`),
		call(vocab.ToolDelete, `{"table": "recipes", "filters": []}`))
	require.NotNil(t, asked.Approval, "%+v", asked.Results)
	require.Contains(t, asked.Approval.Text, "This would delete 2 recipes: Soup, Stew, with their 2 recipe ingredients.")
}
