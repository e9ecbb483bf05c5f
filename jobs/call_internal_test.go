package jobs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/nodes"
)

func TestReasonsAreStoredInGroups(t *testing.T) {
	t.Parallel()

	require.Equal(t, [][3]string{{"Recent", "recent", "2:7:recipe_1, 3:8:recipe_2"}, {"Recent", "pinned", "1:9:recipe_3"}, {"Snapshot", "snapshot", ":5"}, {"Recent", "recent", "4:6:recipe_4"}},
		reasons([]nodes.Item{
			{Section: "Recent", Reason: "recent", Ref: "recipe_1", Turn: 2, Tokens: 7}, {Section: "Recent", Reason: "recent", Ref: "recipe_2", Turn: 3, Tokens: 8},
			{Section: "Recent", Reason: "pinned", Ref: "recipe_3", Turn: 1, Tokens: 9}, {Section: "Snapshot", Reason: "snapshot", Tokens: 5},
			{Section: "Recent", Reason: "recent", Ref: "recipe_4", Turn: 4, Tokens: 6},
		}))
	require.NotNil(t, reasons(nil), "an empty list, not null")
}
