package offline

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOp_TextAndBack(t *testing.T) {
	t.Parallel()
	for _, o := range []*op{
		{act: opRead, table: "inventory"},
		{act: opRead, table: "recipes", refs: []string{"recipe_1", "gen_recipe_2"}, full: true},
		{act: opRead, table: "recipes", name: `Mum's "best" pie`, filters: []filter{{"cuisine", "=", "thai"}}},
		{act: opCreate, table: "shopping_list", rows: []map[string]any{{"name": "milk", "quantity": 2.0}, {"name": "where to with []"}}},
		{act: opNote, table: "preferences", by: "allergies", text: "peanuts, with shells"},
		{act: opRecall, text: "the budget"},
		{act: opCount, table: "recipes", by: "cuisine"},
	} {
		back, ok := parseOp(o.String())
		require.True(t, ok, o.String())
		require.Equal(t, o, back)
	}
	for _, other := range []string{"Read the room before you speak", "add 12 eggs to the fridge", "Save the date"} {
		require.False(t, isOp(other), other)
	}
}
