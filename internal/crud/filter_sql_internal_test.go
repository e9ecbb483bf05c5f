package crud

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
	"alfred/internal/testfactory"
)

// However many columns of a row that a column points to a statement names, it joins that row once, also on the way to rows further away.
func TestRowsThatColumnsPointToAreJoinedOnce(t *testing.T) {
	t.Parallel()
	var columns []*domain.Column
	for _, path := range []string{"meal_plan_id.recipe_id.name", "title", "meal_plan_id.date", "meal_plan_id.meal_type", "meal_plan_id.recipe_id", "meal_plan_id.recipe_id.id", "meal_plan_id.recipe_id.cuisine"} {
		c := testfactory.Kitchen(t).Entity("task").ColumnOrPath(path)
		require.NotNil(t, c, path)
		columns = append(columns, c)
	}
	require.Equal(t, 2, strings.Count(joinsFor(columns), "JOIN"))
}
