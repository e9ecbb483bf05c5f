package crud_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
)

// What a page changed between two turns is in the next turn's step 0, once, and appears once in the history.
func TestChangesBeforeATurn(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ctx := t.Context()
	user := crud.User{ID: b.scope.UserID, Session: &b.scope.SessionID}
	kept, err := b.tools.Create(ctx, b.tx, user, "recipe", json.RawMessage(`{"name": "Toast"}`))
	require.NoError(t, err)
	id, _ := kept.Data["id"].(string)
	gone, err := b.tools.Create(ctx, b.tx, user, "recipe", json.RawMessage(`{"name": "Soup"}`))
	require.NoError(t, err)
	goneID, _ := gone.Data["id"].(string)
	_, err = b.tools.Delete(ctx, b.tx, user, "recipe", goneID, crud.Deletion{Version: ""})
	require.NoError(t, err)

	next := b.scope
	next.Turn++
	require.Empty(t, b.applied(next, "plan it", `[{"action": "created:user", "entity_type": "recipe", "entity_id": "`+id+`", "label": "Toast"}]`, ""))
	require.Equal(t, "created:user Toast, deleted:user Soup", query[string](b, `SELECT string_agg(concat_ws(' ', params ->> 'action', coalesce(rows -> 0 ->> 'name', rows -> 0 ->> 'label')), ', ' ORDER BY params ->> 'action')
		FROM turn_step_results WHERE turn_id = $1 AND step = 0`, next.TurnID))
	require.Equal(t, 1, query[int](b, `SELECT count(*)::int FROM entity_events WHERE session_id = $1 AND ref = 'recipe_1'`, next.SessionID))
}
