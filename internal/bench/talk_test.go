package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// The comparison uses recorded data: the calls up to the first word, and what an agent without drafts would have sent.
func TestConversationIsRecorded(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	recorded, err := recordTalk(t.Context(), dbtest.URL(t), repeated())
	require.NoError(t, err)
	p := newProvider(profiles()[0])
	for i, before := range map[int]int{0: 1, 1: 1, 2: 1, 3: 1, 4: 1, 5: 0} {
		turn := recorded.Turns[i]
		require.Equal(t, before, p.turn(turn.calls).Before, turn.Message)
		require.NotEmpty(t, turn.Reply)
	}
	require.Len(t, recorded.Turns[0].Rounds, 1)
	require.Empty(t, recorded.Turns[3].Rounds, "a draft is words")
	require.Contains(t, string(recorded.Turns[4].Rounds[0][0].Args), "lentils", "and saved with its content")
	require.Contains(t, recorded.tools, "calculate")
	require.Contains(t, recorded.system, "shopping_list")
}
