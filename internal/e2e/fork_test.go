package e2e_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/tour"
	"alfred/llm/offline"
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

// A fork begins as its parent stood after each turn, goes on by itself, and outlives it.
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

// The time of a fork does not grow with the number of turns that are not copied.
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
