package crud_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
)

const butterChicken = "01900000-0000-7000-8000-000000000101"

func TestApplyInputs(t *testing.T) {
	t.Parallel()

	apply := func(b *bundle, message, changes, mentions string) []string {
		b.t.Helper()

		notices := b.applied(b.scope, message, changes, mentions)
		b.noIDs()

		return notices
	}
	action := func(b *bundle, ref string) string {
		return query[string](b, `SELECT action FROM entity_refs WHERE session_id = $1 AND ref = $2`, b.scope.SessionID, ref)
	}

	t.Run("MentionByToken", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		require.Empty(t, apply(b, "how long does @[Butter Chicken](recipe:"+butterChicken+") take?", `[]`, `[]`))
		require.Equal(t, "mentioned:user", action(b, "recipe_1"))
		require.Equal(t, "mention 0 1 {recipe_1}", query[string](b, `SELECT concat_ws(' ', tool, step, call, refs) FROM turn_step_results WHERE turn_id = $1`, b.scope.TurnID))
		require.Equal(t, "user", query[string](b, `SELECT DISTINCT actor FROM entity_events WHERE session_id = $1 AND ref = 'recipe_1'`, b.scope.SessionID))
	})

	t.Run("SameRowTwiceIsOneMention", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		apply(b, "@[Butter Chicken](recipe:"+butterChicken+")", ``, `[{"ref_type": "recipe", "uuid": "`+butterChicken+`", "label": "Butter Chicken", "data": {"name": "a lie"}}]`)
		require.Equal(t, 1, query[int](b, `SELECT count(*)::int FROM turn_step_results WHERE turn_id = $1`, b.scope.TurnID))
		require.Equal(t, "Butter Chicken", query[string](b, `SELECT rows->0->>'name' FROM turn_step_results WHERE turn_id = $1`, b.scope.TurnID), "the row is read, not believed")
	})

	t.Run("ManyMissingAreCounted", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		var mentions []string
		for n := range 10_000 {
			mentions = append(mentions, sprintf(`{"ref_type": "recipe", "uuid": "%d", "label": "Row %d"}`, n, n/2))
		}
		notices := apply(b, "", `[]`, "["+strings.Join(mentions, ",")+"]")
		require.Len(t, notices, 21)
		require.Contains(t, notices[20], "4980 more")
	})

	t.Run("ForeignOrMissingGetsNoRef", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		_, secret := b.user()
		notices := apply(b, "@[Stew](recipe:"+secret.String()+") and @[Gone](recipe:"+uuid.NewString()+") and @[Odd](recipe:abc) and @[Ship](ship:1)", `[{"action": "created", "entity_type": "recipe", "entity_id": "`+secret.String()+`", "label": "Stew"}, {"action": "exploded", "label": "Bang"}]`, `[]`)
		require.Len(t, notices, 5, "each once")
		require.Zero(t, query[int](b, `SELECT count(*)::int FROM entity_refs WHERE session_id = $1`, b.scope.SessionID))
	})

	t.Run("UIChanges", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		paneer := uuid.New()
		b.exec(`INSERT INTO kitchen.recipes (id, user_id, name) VALUES ($1, $2, 'Butter Paneer')`, paneer, b.scope.UserID)
		require.Empty(t, apply(b, "", `[{"action": "created", "entity_type": "recipes", "entity_id": "`+paneer.String()+`", "label": "x"}, {"action": "updated:user", "entity_type": "recipe", "id": "`+butterChicken+`"}]`, ``))
		require.Equal(t, "created:user", action(b, "recipe_1"))
		require.Equal(t, "updated:user", action(b, "recipe_2"))
		require.Equal(t, "Butter Paneer", query[string](b, `SELECT label FROM entity_refs WHERE session_id = $1 AND ref = 'recipe_1'`, b.scope.SessionID))

		b.exec(`DELETE FROM kitchen.recipes WHERE id = $1`, paneer)
		b.nextTurn()
		require.Len(t, apply(b, "", `[{"action": "deleted", "entity_type": "recipe", "entity_id": "`+paneer.String()+`", "label": "Butter Paneer"}, {"action": "deleted", "entity_type": "recipe", "entity_id": "`+butterChicken+`"}]`, ``), 1)
		require.Equal(t, "deleted:user", action(b, "recipe_1"))
		require.Equal(t, "updated:user", action(b, "recipe_2"), "what is still there was not deleted")
	})

	t.Run("OtherFormsNameNothing", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		odd := `[1, null, "x", [], {}, {"action": 1}, {"ref_type": "recipe", "uuid": {}}, {"ref_type": "recipe", "uuid": "` + butterChicken + `", "label": 5}]`
		require.Len(t, apply(b, "", odd, odd), 1, "said once")
		require.Zero(t, query[int](b, `SELECT count(*)::int FROM entity_refs WHERE session_id = $1`, b.scope.SessionID))
	})

	t.Run("LongNamesAreCut", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		gone := func(label string) string {
			return apply(b, "", `[{"action": "updated", "entity_type": "recipe", "entity_id": "`+uuid.NewString()+`", "label": "`+label+`"}]`, ``)[0]
		}
		hundred := strings.Repeat("ü", 100)
		require.Equal(t, hundred+" could not be found: it does not exist, or not any more.", gone(hundred))
		require.Equal(t, gone(hundred), gone(hundred+"x"))
	})
}

// SQL writes a bigint as a JSON number.
func TestInputsWithNumericKeys(t *testing.T) {
	t.Parallel()

	b := setupThings(t)
	var changes, mentions json.RawMessage
	require.NoError(t, b.tx.QueryRow(t.Context(), `WITH made AS (INSERT INTO things.things (user_id, n, title) VALUES ($1, 1, 'Oak'), ($1, 2, 'Elm') RETURNING id, title)
		SELECT jsonb_agg(jsonb_build_object('action', 'created', 'entity_type', 'thing', 'entity_id', id, 'label', title)) FILTER (WHERE title = 'Oak'),
			jsonb_agg(jsonb_build_object('ref_type', 'thing', 'uuid', id, 'label', title)) FILTER (WHERE title = 'Elm') FROM made`, b.scope.UserID).Scan(&changes, &mentions))
	require.Empty(t, b.applied(b.scope, "", string(changes), string(mentions)))
	require.Equal(t, "created:user Oak, mentioned:user Elm", query[string](b, `SELECT string_agg(action || ' ' || label, ', ' ORDER BY number) FROM entity_refs WHERE session_id = $1`, b.scope.SessionID))
}

// A type's name may have digits, and a key that is text any character.
func TestMentionsOfOtherTypesAndKeys(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, `CREATE SCHEMA depot;
		CREATE TABLE depot.songs (code text PRIMARY KEY, user_id uuid NOT NULL, name text NOT NULL);
		GRANT SELECT ON depot.songs TO alfred_tenant`, `
name: depot
schema: depot
owner: user_id
persona: You keep songs.
entities:
  - {type: mp3, table: songs, label: "{name}"}
subdomains:
  - {name: songs, description: All., tables: [songs]}
`)
	b.exec(`INSERT INTO depot.songs (user_id, code, name) VALUES ($1, 'A.1/b#2', 'Blue'), ($1, 'a.1/B#2', 'Red')`, b.scope.UserID)
	require.Empty(t, b.applied(b.scope, "play @[Blue](mp3:A.1/b#2), not @[Red](mp3:a.1/B#2)", "", ""))
	require.Equal(t, "mp3_1 Blue, mp3_2 Red", query[string](b, `SELECT string_agg(ref || ' ' || label, ', ' ORDER BY number) FROM entity_refs WHERE session_id = $1`, b.scope.SessionID))
}

func TestRowsOfUserInterfaces(t *testing.T) {
	t.Parallel()

	b := setup(t)
	user := crud.User{ID: b.scope.UserID}
	inSession := crud.User{ID: b.scope.UserID, Session: &b.scope.SessionID}
	ctx := t.Context()

	list, err := b.tools.List(ctx, b.tx, user, "inv", crud.ListParams{Limit: 2, Query: "c"})
	require.NoError(t, err)
	require.Equal(t, 6, list.Total)
	require.Len(t, list.Rows, 2)
	require.Equal(t, "Canned tomatoes", list.Rows[0].Data["name"])

	made, err := b.tools.Create(ctx, b.tx, inSession, "recipe", json.RawMessage(`{"name": "Toast", "description": "Brown", "recipe_ingredients": [{"name": "bread"}]}`))
	require.NoError(t, err)
	id, _ := made.Data["id"].(string)
	require.Equal(t, "created:user 2", query[string](b, `SELECT action || ' ' || turn_created FROM entity_refs WHERE session_id = $1 AND ref = 'recipe_1'`, b.scope.SessionID))

	patched, err := b.tools.Patch(ctx, b.tx, inSession, "recipe", id, made.Version, json.RawMessage(`{"description": null, "servings": 1}`))
	require.NoError(t, err)
	require.Nil(t, patched.Data["description"])
	require.Equal(t, "updated:user", query[string](b, `SELECT action FROM entity_refs WHERE session_id = $1 AND ref = 'recipe_1'`, b.scope.SessionID))

	var fault *crud.Error
	_, err = b.tools.Patch(ctx, b.tx, inSession, "recipe", id, "1", json.RawMessage(`{"servings": 9}`))
	require.ErrorAs(t, err, &fault)
	require.Equal(t, crud.CodeStale, fault.Code)

	_, err = b.tools.Delete(ctx, b.tx, inSession, "recipe", id, crud.Deletion{Version: patched.Version})
	require.NoError(t, err)
	require.Equal(t, "deleted:user", query[string](b, `SELECT action FROM entity_refs WHERE session_id = $1 AND ref = 'recipe_1'`, b.scope.SessionID))

	stranger, secret := b.user()
	for _, one := range []struct {
		user crud.User
		id   string
	}{{user, secret.String()}, {user, "abc"}, {user, id}, {crud.User{ID: stranger}, butterChicken}} {
		_, err = b.tools.Get(ctx, b.tx, one.user, "recipe", one.id)
		require.ErrorAs(t, err, &fault)
		require.Equal(t, crud.CodeNotFound, fault.Code)
		_, err := b.tools.Delete(ctx, b.tx, one.user, "recipe", one.id, crud.Deletion{Version: ""})
		require.ErrorAs(t, err, &fault)
		require.Equal(t, crud.CodeNotFound, fault.Code)
	}
	_, err = b.tools.Create(ctx, b.tx, user, "task", json.RawMessage(`{"title": "x", "recipe_id": "`+secret.String()+`"}`))
	require.ErrorAs(t, err, &fault)
	require.Equal(t, crud.CodeNotFound, fault.Code, "a foreign key must not reach another user's row")
	_, err = b.tools.Create(ctx, b.tx, crud.User{ID: stranger, Session: &b.scope.SessionID}, "task", json.RawMessage(`{"title": "x"}`))
	require.ErrorAs(t, err, &fault)
}
