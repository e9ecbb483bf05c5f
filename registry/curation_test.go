package registry

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/db"
)

func TestTiersInDisplayOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	b.read(t, 1, "recipe", numbered("Dish", 12)...)
	_, err := b.at(1).Generate(ctx, []Draft{{Type: "meal", Content: decode(t, `{}`)}, {Type: "meal", Content: decode(t, `{}`)}})
	require.NoError(t, err)
	low := float32(0.2)
	require.NoError(t, b.at(1).Retain(ctx, "recipe_2", "for Friday", &low))
	require.NoError(t, b.at(1).Exclude(ctx, "recipe_1", "not the soup", nil))
	require.NoError(t, b.at(1).Exclude(ctx, "gen_meal_2", "no Mondays", nil))
	b.read(t, 4, "recipe", "Dish 10", "Dish 3")
	b.read(t, 6, "inv", "Eggs")

	refs, tiers := b.active(t, 6)
	require.Equal(t, []string{"gen_meal_1", "inv_1", "recipe_3", "recipe_10", "recipe_2", "gen_meal_2", "recipe_1"}, refs)
	require.Equal(t, []string{"generated", "recent", "recent", "recent", "retained", "excluded", "excluded"}, tiers)
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND ref = 'recipe_2' AND retain_confidence = 0.2::real`))
}

// A demoted ref leaves the lists at once and returns when it is named or, V28, read again.
func TestDemote(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	b.read(t, 1, "recipe", "Soup")
	require.NoError(t, b.at(1).Retain(ctx, "recipe_1", "for Friday", nil))
	require.NoError(t, b.at(1).Demote(ctx, "recipe_1", "off topic"))
	require.Empty(t, b.tiers(t, 1))
	b.read(t, 2, "recipe", "Soup")
	require.Equal(t, map[string]string{"recipe_1": tierRecent}, b.tiers(t, 2))
	require.NoError(t, b.at(2).Demote(ctx, "recipe_1", "off topic"))

	require.NoError(t, b.at(2).Touch(ctx, []string{"recipe_1", "recipe_1", "recipe_7"}))
	require.Equal(t, map[string]string{"recipe_1": tierRecent}, b.tiers(t, 2))
	require.Empty(t, b.tiers(t, 5), "the reason went with the demotion")

	for _, action := range []string{ActionUpdated, ActionMentionedUser, ActionCreatedUser} {
		require.NoError(t, b.at(5).Demote(ctx, "recipe_1", ""))
		b.register(t, 5, "recipe", action, "Soup")
		require.Equal(t, map[string]string{"recipe_1": tierRecent}, b.tiers(t, 5), action)
	}

	_, err := b.at(5).Generate(ctx, []Draft{{Type: "recipe", Content: decode(t, `{}`)}})
	require.NoError(t, err)
	require.ErrorIs(t, b.at(5).Demote(ctx, "gen_recipe_1", ""), ErrRefused)
	require.Equal(t, []string{"retain", "demote", "demote", "demote", "demote", "demote"}, b.decisions(t))
}

func TestDropAndRestore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	b.read(t, 1, "recipe", "Soup")
	_, err := b.at(1).Generate(ctx, []Draft{{Type: "recipe", Content: decode(t, `{"name": "Pie"}`)}})
	require.NoError(t, err)
	require.NoError(t, b.at(1).Retain(ctx, "recipe_1", "for Friday", nil))
	require.NoError(t, b.at(1).Exclude(ctx, "gen_recipe_1", "too sweet", nil))
	require.NoError(t, b.at(1).Forget(ctx, "recipe_1", "no"))
	require.NoError(t, b.at(1).Forget(ctx, "gen_recipe_1", "no"))
	require.Empty(t, b.tiers(t, 1))

	found, err := b.at(1).Lookup(ctx, []string{"recipe_1", "gen_recipe_1"})
	require.NoError(t, err)
	require.Empty(t, found)
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM artifacts WHERE session_id = $1`), "versions stay")

	require.Equal(t, []string{"recipe_1"}, refsOf(b.read(t, 2, "recipe", "Soup")), "read again, it has its old ref")
	require.Equal(t, map[string]string{"recipe_1": tierRecent}, b.tiers(t, 2))
	require.Zero(t, b.count(t, `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND (active_reason IS NOT NULL OR excluded_reason IS NOT NULL)`),
		"no reason outlives what it was given for")
	requireReasonOf(t, b.at(2).Retain(ctx, "recipe_9", "", nil), ReasonUnknown)
}

// An exclusion lasts until retain, an @-mention, clear_all or the end of its constraint.
func TestExclusionEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	b.read(t, 1, "recipe", "Cod", "Wings")
	sunday := time.Now().Add(time.Hour)
	id, err := b.at(1).AddConstraint(ctx, db.ConstraintInsertParams{Text: "no cod this week", Kind: "exclude", Value: json.RawMessage(`"cod"`), Scope: "lasting", ExpiresAt: &sunday}, nil)
	require.NoError(t, err)

	excluded := map[string]string{"recipe_1": tierExcluded, "recipe_2": tierRecent}
	exclude := func(constraint *uuid.UUID) {
		t.Helper()
		require.NoError(t, b.at(1).Exclude(t.Context(), "recipe_1", "no cod", constraint))
		require.Equal(t, excluded, b.tiers(t, 1))
	}
	free := func() {
		t.Helper()
		require.Equal(t, map[string]string{"recipe_1": tierRecent, "recipe_2": tierRecent}, b.tiers(t, 1))
	}

	exclude(nil)
	b.read(t, 1, "recipe", "Cod")
	require.NoError(t, b.at(1).Touch(ctx, []string{"recipe_1"}))
	require.Equal(t, excluded, b.tiers(t, 1), "a result or a word does not end it")
	require.NoError(t, b.at(1).Retain(ctx, "recipe_1", "after all", nil))
	free()
	exclude(nil)
	b.register(t, 1, "recipe", ActionMentionedUser, "Cod")
	free()

	exclude(&id)
	require.NoError(t, b.at(1).ExpireConstraints(ctx, time.Now()))
	require.Equal(t, excluded, b.tiers(t, 1))
	require.NoError(t, b.at(1).ExpireConstraints(ctx, sunday))
	free()

	id, err = b.at(1).AddConstraint(ctx, db.ConstraintInsertParams{Text: "no fish", Kind: "exclude", Scope: "session"}, nil)
	require.NoError(t, err)
	exclude(&id)
	other, err := b.at(1).AddConstraint(ctx, db.ConstraintInsertParams{Text: "fish is fine", Kind: "other", Scope: "session"}, &id)
	require.NoError(t, err)
	free()

	live, err := b.at(1).Constraints(ctx)
	require.NoError(t, err)
	require.Len(t, live, 1)
	require.Equal(t, other, live[0].ID)
	exclude(&other)
	require.NoError(t, b.at(1).endConstraints(ctx, []uuid.UUID{other}, nil))
	free()
}

// A lasting constraint that ends here also ends its exclusions in other sessions.
func TestConstraintEndsInEverySession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	id, err := b.at(1).AddConstraint(ctx, db.ConstraintInsertParams{Text: "no cod", Kind: "exclude", Scope: "lasting"}, nil)
	require.NoError(t, err)

	other := *b
	other.scope.SessionID = uuid.New()
	_, err = b.tx.Exec(ctx, `INSERT INTO sessions (id, user_id) VALUES ($1, $2)`, other.scope.SessionID, b.scope.UserID)
	require.NoError(t, err)
	other.read(t, 1, "recipe", "Cod")
	require.NoError(t, other.at(1).Exclude(ctx, "recipe_1", "no cod", &id))

	require.NoError(t, b.at(1).endConstraints(ctx, []uuid.UUID{id}, nil))
	require.Equal(t, map[string]string{"recipe_1": tierRecent}, other.tiers(t, 1))
	require.Equal(t, []string{"exclude", "expire"}, other.decisions(t))
}

func TestClearAll(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	b.read(t, 1, "recipe", "Cod", "Wings", "Pasta")
	_, err := b.at(1).Generate(ctx, []Draft{{Type: "recipe", Content: decode(t, `{"name": "Pie"}`)}})
	require.NoError(t, err)
	require.NoError(t, b.at(1).Exclude(ctx, "recipe_1", "no", nil))
	require.NoError(t, b.asUser(1).Pin(ctx, "recipe_2"))
	_, err = b.at(1).AddConstraint(ctx, db.ConstraintInsertParams{Text: "8 meals", Kind: "count", Scope: "session"}, nil)
	require.NoError(t, err)
	_, err = b.at(1).AddConstraint(ctx, db.ConstraintInsertParams{Text: "no nuts", Kind: "exclude", Scope: "lasting"}, nil)
	require.NoError(t, err)
	require.NoError(t, b.at(1).Demote(ctx, "recipe_3", ""))
	_, err = b.tx.Exec(ctx, `WITH asked AS (SELECT enqueue_turn($1, 'draft a pie') AS turn)
		INSERT INTO questions (id, session_id, user_id, turn_id, kind, payload)
		SELECT uuid_v7(), $1, $2, turn, 'propose', '{"text": "Shall I save Pie?", "writes": [{"save": true, "refs": ["gen_recipe_1"]}]}' FROM asked`,
		b.scope.SessionID, b.scope.UserID)
	require.NoError(t, err)

	require.NoError(t, b.at(2).ClearAll(ctx, "fresh start"))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM questions WHERE session_id = $1 AND status = 'expired'`), "an offer to save the dropped draft too")
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND ref = 'gen_recipe_1' AND label = 'Pie' AND state = 'dropped'`))
	require.Equal(t, 2, b.count(t, `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND demoted_at_turn = 2`))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM constraints WHERE session_id = $1 AND ended_turn = 2`))
	require.Empty(t, b.tiers(t, 2))
	require.Zero(t, b.count(t, `SELECT count(*) FROM entity_refs WHERE session_id = $1
		AND (active_reason IS NOT NULL OR excluded_reason IS NOT NULL OR pinned OR active_turn IS NOT NULL)`))
	require.Equal(t, []string{"recipe_4"}, refsOf(b.read(t, 2, "recipe", "New")), "counters stay")
	require.Equal(t, []string{"forget", "clear_all"}, b.decisions(t)[3:])
}

// The system expires retentions, but not pins.
func TestExpireRetentions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	b.read(t, 1, "recipe", "Old", "Renewed", "Touched", "Pinned")
	for _, ref := range []string{"recipe_1", "recipe_2", "recipe_3"} {
		require.NoError(t, b.at(1).Retain(ctx, ref, "for later", nil))
	}
	require.NoError(t, b.asUser(1).Pin(ctx, "recipe_4"))
	require.NoError(t, b.at(9).Retain(ctx, "recipe_2", "still", nil))
	require.Equal(t, tierRetained, b.tiers(t, 9)["recipe_2"], "retaining is no touch")
	require.NoError(t, b.at(9).Touch(ctx, []string{"recipe_3"}))

	for _, decay := range []int{0, 21} {
		require.NoError(t, b.at(21).ExpireRetentions(ctx, decay))
		require.Contains(t, b.tiers(t, 21), "recipe_1")
	}
	require.NoError(t, b.at(21).ExpireRetentions(ctx, 20))
	require.Equal(t, map[string]string{"recipe_2": "retained", "recipe_3": "retained", "recipe_4": "retained"}, b.tiers(t, 21))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM decisions WHERE session_id = $1 AND action = 'expire' AND actor = 'system'`))

	require.NoError(t, b.asUser(21).Unpin(ctx, "recipe_4"))
	require.NotContains(t, b.tiers(t, 21), "recipe_4")
}

func requireReasonOf(t *testing.T, err error, reason Reason) {
	t.Helper()

	var refused *RefError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, reason, refused.Reason)
}

func (b *bundle) decisions(t *testing.T) []string {
	t.Helper()

	var actions []string
	require.NoError(t, b.tx.QueryRow(t.Context(),
		`SELECT array_agg(action ORDER BY created_at, id) FROM decisions WHERE session_id = $1`, b.scope.SessionID).Scan(&actions))

	return actions
}

// V25: what psql and the page show uses the workers' window, in every view and function.
func TestV25OneWindow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.read(t, 1, "recipe", "Soup")
	_, err := b.tx.Exec(t.Context(), `UPDATE sessions SET last_turn = 5 WHERE id = $1`, b.scope.SessionID)
	require.NoError(t, err)
	tiers := func() (found string) {
		require.NoError(t, b.tx.QueryRow(t.Context(), `SELECT concat_ws(' ', (SELECT tier FROM v_entities WHERE session_id = $1 AND ref = 'recipe_1'), (SELECT tier FROM active_entities($1) WHERE ref = 'recipe_1'),
			(SELECT tier FROM registry_at($1, 5) WHERE ref = 'recipe_1'))`, b.scope.SessionID).Scan(&found))

		return found
	}
	require.Equal(t, "background background", tiers())
	require.NoError(t, db.New().SettingSet(t.Context(), b.tx, &db.SettingSetParams{Name: "retention_window", Value: 4}))
	require.Equal(t, "recent recent recent", tiers())
	require.NoError(t, db.New().SettingSet(t.Context(), b.tx, &db.SettingSetParams{Name: "retention_window", Value: 0}))
	require.Equal(t, "background background", tiers())
}
