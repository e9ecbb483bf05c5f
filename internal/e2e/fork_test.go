package e2e_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/llm/offline"
	"alfred/internal/tour"
	"alfred/jobs"
)

func (c *talk) fork(turn int) *talk {
	c.t.Helper()
	var made struct {
		ID uuid.UUID `json:"id"`
	}
	require.Equal(c.t, http.StatusCreated, c.call(http.MethodPost, c.path("/fork"), map[string]int{"turn": turn}, &made))
	fork := *c
	fork.session = made.ID

	return &fork
}

const registryAt = `SELECT coalesce(string_agg((to_jsonb(r) - 'session_id')::text, E'\n' ORDER BY r.ref), '') FROM registry_at('%s', %d) AS r WHERE $1::uuid IS NOT NULL AND $2::uuid IS NOT NULL`

// A fork begins where its parent stood after each turn, continues independently, and outlives it.
func TestForks(t *testing.T) {
	t.Parallel()
	c := openHouse(t, fixtures{model: offline.New}).resident("ada").talk()
	for _, one := range tour.Conversation() {
		c.say(one.Say)
	}
	for turn := range len(tour.Conversation()) + 1 {
		fork := c.fork(turn)
		require.Equal(t, c.one(fmt.Sprintf(registryAt, c.session, turn)), c.one(fmt.Sprintf(registryAt, fork.session, turn)), "turn %d", turn)
		fork.fact(strconv.Itoa(min(turn, 5)), `SELECT least(count(*), 5) FROM turns WHERE session_id = $1`)
		fork.fact(strconv.Itoa(turn), `SELECT forked_at_turn FROM sessions WHERE id = $1`)
	}
	fork := c.fork(6)
	fork.fact("pending", `SELECT state FROM entity_refs WHERE session_id = $1 AND ref = 'gen_recipe_1'`)
	fork.fact("2", `SELECT max(version) FROM artifacts WHERE session_id = $1`)
	got := fork.say("Save it")
	require.Equal(t, 7, got.Number)
	fork.fact("promoted", `SELECT state FROM entity_refs WHERE session_id = $1 AND ref = 'gen_recipe_1'`)
	require.Equal(t, http.StatusBadRequest, c.call(http.MethodPost, c.path("/fork"), map[string]int{"turn": 99}, nil))
	require.Equal(t, http.StatusNotFound, c.guest("eve").call(http.MethodPost, c.path("/fork"), map[string]int{"turn": 1}, nil))
	c.exec(`SELECT forget_session('` + c.session.String() + `') WHERE $1::uuid IS NOT NULL`)
	fork.fact("true", `SELECT (parent_id IS NULL AND forked_at_turn = 6)::text FROM sessions WHERE id = $1`)
	require.Contains(t, fork.say("Show my recipes").Reply, "Butter Chicken")
}

// A fork is called what its own first message asks for: beside its parent, of the same name nobody would find it again.
func TestForksHaveTitlesOfTheirOwn(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: chat}
    think: {goal: Plan a week of dinners, decision: plan, steps: []}
    reply: Gladly.
  - understand: {intent: chat}
    think: {goal: Cook for the freezer, decision: plan, steps: []}
    reply: Of course.
  - understand: {intent: chat}
    think: {goal: Something else, decision: plan, steps: []}
    reply: Of course.
  - understand: {intent: chat}
    think: {goal: Something else, decision: plan, steps: []}
    reply: Of course.
`)
	title := `SELECT title FROM sessions WHERE id = $1`
	c.say("Plan my dinners")
	c.settle()
	fork, named := c.fork(1), c.fork(1)
	named.exec(`UPDATE sessions SET title = 'Lunches' WHERE id = '` + named.session.String() + `' AND $1::uuid IS NOT NULL`)
	for _, one := range []*talk{fork, named, fork} {
		one.say("Rather for the freezer")
		one.settle()
	}
	fork.fact("Cook for the freezer", title)
	named.fact("Lunches", title)
	c.fact("Plan a week of dinners", title)
}

// The time to fork does not grow with the number of turns that are not copied.
func TestForkOfALongSession(t *testing.T) {
	t.Parallel()
	c := openHouse(t, fixtures{model: offline.New}).resident("ada").talk()
	c.say("What is in my pantry?")
	c.exec(`INSERT INTO turns (session_id, user_id, number, message, mode, status, reply, replied_at, summarized_at, finished_at)
		SELECT s.id, s.user_id, n, 'hello ' || n, 'plan', 'succeeded', 'hello', now(), now(), now() FROM sessions AS s, generate_series(2, 10000) AS n WHERE s.user_id = $1`)
	c.exec(`INSERT INTO entity_events (session_id, user_id, ref, turn_number, action, actor, data)
		SELECT v.session_id, v.user_id, v.ref, n, 'touched', 'assistant', v.data || jsonb_build_object('turn_last_ref', n)
		FROM entity_events AS v, generate_series(2, 10000, 3) AS n WHERE v.user_id = $1 AND v.ref IN ('inv_1', 'inv_2', 'inv_3')`)
	c.exec(`UPDATE sessions SET last_turn = 10000 WHERE user_id = $1`)
	started := time.Now()
	fork := c.fork(9999)
	t.Logf("a session of 10,000 turns was forked in %s", time.Since(started))
	fork.fact(c.one(`SELECT count(*) FROM entity_refs WHERE session_id = $1`), `SELECT count(*) FROM entity_refs WHERE session_id = $1`)
	fork.fact("50", `SELECT count(*) FROM turns WHERE session_id = $1`)
	c.exec(`DELETE FROM sessions WHERE user_id = $1`)
}

// forking creates a fork and returns it with its description.
func (c *talk) forking(turn int) (*talk, *jobs.Fork) {
	c.t.Helper()
	made := &jobs.Fork{}
	require.Equal(c.t, http.StatusCreated, c.call(http.MethodPost, c.path("/fork"), map[string]int{"turn": turn}, made))
	fork := *c
	fork.session = made.ID

	return &fork, made
}

// Constraints and decisions are copied in their current state as separate rows: later changes on either side stay
// separate.
func TestForksHaveTheirOwnConstraintsAndDecisions(t *testing.T) {
	t.Parallel()
	c := openHouse(t, fixtures{model: offline.New}).resident("ada").talk()
	const (
		held    = `SELECT coalesce(string_agg(text || ' ' || (ended_turn IS NULL), ', ' ORDER BY created_at), 'nothing') FROM constraints WHERE session_id = $1`
		decided = `SELECT coalesce(string_agg(concat_ws(' ', turn_number, action, ref, reason, actor), ', ' ORDER BY id), 'nothing') FROM decisions WHERE session_id = $1`
		out     = `SELECT coalesce(string_agg(concat_ws(' ', e.ref, e.excluded_reason, k.session_id = e.session_id), ', ' ORDER BY e.ref), 'nothing')
			FROM entity_refs AS e LEFT JOIN constraints AS k ON k.id = e.excluded_constraint_id WHERE e.session_id = $1 AND e.excluded_reason IS NOT NULL`
	)
	c.say("Show my recipes")
	c.say("No shakshuka this week")
	c.say("Plan dinners for Monday and Tuesday")
	stood := [3]string{c.one(held), c.one(decided), c.one(out)}
	require.NotContains(t, stood, "nothing")
	c.say("Forget the butter chicken")
	require.NotEqual(t, stood[1], c.one(decided))

	before := c.fork(1)
	before.fact("nothing", held)
	before.fact("nothing", decided)
	before.fact("nothing", out)
	fork := c.fork(3)
	require.Equal(t, [3]string{fork.one(held), fork.one(decided), fork.one(out)}, stood)
	require.NotContains(t, fork.say("Plan dinners for Friday and Saturday").Reply, "Shakshuka")
	fork.exec(`UPDATE constraints SET ended_turn = 4 WHERE session_id = '` + fork.session.String() + `' AND $1::uuid IS NOT NULL`)
	require.Equal(t, stood[0], c.one(held), "the parent's own holds on")
}

// A failed turn is like any other: the fork begins after it, and continues.
func TestForkAtATurnThatFailed(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: chat}
    think: {goal: Talk, decision: plan, steps: []}
    reply: Hello.
  - understand: {intent: chat}
    think: {decision: plan, error: {kind: auth}}
  - understand: {intent: chat}
    think: {goal: Talk, decision: plan, steps: []}
    reply: Here again.
`)
	c.say("hello")
	failed := c.fail("are you there?")
	fork, made := c.forking(failed.Number)
	require.Equal(t, failed.Number, made.ForkedAtTurn)
	require.Equal(t, c.session, *made.ParentID)
	require.Empty(t, made.Changed)
	fork.fact("succeeded, failed", `SELECT string_agg(status::text, ', ' ORDER BY number) FROM turns WHERE session_id = $1`)
	got := fork.say("and now?")
	require.Equal(t, 3, got.Number)
	require.Equal(t, "Here again.", got.Reply)
}

// Rows are in their current state: the fork lists which have changed since and by which turns, in the API's response
// and on the command line.
func TestForksSayWhatHasChangedSince(t *testing.T) {
	t.Parallel()
	c := openHouse(t, fixtures{model: offline.New}).resident("ada").talk()
	c.say("Show my recipes")
	c.say("What's in the pantry?")
	c.say("Set the milk to 2 litres")
	c.say("Delete the shakshuka")
	undone := c.say("Delete the butter")
	c.say("Remind me to defrost the cod")
	c.undo(undone.ID)
	c.exec(`UPDATE kitchen.recipes SET servings = 9 WHERE user_id = $1 AND name = 'Butter Chicken'`)

	_, made := c.forking(2)
	said := map[string]string{}
	for _, row := range made.Changed {
		said[row.Label] = fmt.Sprintf("%s %s %d", row.EntityType, row.Change, row.Turn)
		require.Equal(t, row.Change != crud.SinceMade, row.Ref != "")
	}
	require.Equal(t, "inv changed 3", said["Milk"])
	require.Equal(t, "recipe deleted 4", said["Shakshuka Classic"])
	require.Equal(t, "task created 6", said["Defrost the cod"], "%v", said)
	require.Equal(t, "recipe changed 0", said["Butter Chicken"])
	require.NotContains(t, said, "Pad See Ew")
	require.NotContains(t, said, "Butter", "it is back as it was")

	// A fork inherits its first turns from its parent, and only the parent knows their intermediate states.
	fork, _ := c.forking(6)
	again, within := fork.forking(2)
	require.Equal(t, c.session, *within.ParentID)
	require.Equal(t, c.one(fmt.Sprintf(registryAt, c.session, 2)), c.one(fmt.Sprintf(registryAt, again.session, 2)))
	c.exec(`SELECT forget_session('` + c.session.String() + `') WHERE $1::uuid IS NOT NULL`)
	require.Equal(t, http.StatusConflict, fork.call(http.MethodPost, fork.path("/fork"), map[string]int{"turn": 2}, nil))
	_, begun := fork.forking(0)
	require.Equal(t, fork.session, *begun.ParentID)
}
