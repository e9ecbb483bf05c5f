package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
)

func TestNamesTheFirstAndCountsTheRest(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		labels []string
		all    int
		want   string
	}{
		{nil, 1, "the draft"},
		{nil, 2, "the 2 drafts"},
		{[]string{"Soup"}, 1, "Soup"},
		{[]string{"Soup", "Pie"}, 2, "Soup and Pie"},
		{[]string{"Soup", "Pie", "Stew"}, 3, "Soup, Pie and Stew"},
		{[]string{"Soup", "Pie", "Stew", "Salad"}, 4, "Soup, Pie, Stew and Salad"},
		{[]string{"Soup", "Pie", "Stew", "Salad"}, 5, "Soup, Pie, Stew and 2 more"},
		{[]string{"Soup", "Pie", "Stew"}, 4, "Soup, Pie, Stew and 1 more"},
		{[]string{"Soup"}, 3, "Soup and 2 more"},
		{[]string{"Soup, hot", "Pie"}, 2, "Soup, hot; and Pie"},
		{[]string{"Soup, hot", "Pie", "Stew", "Salad"}, 5, "Soup, hot; Pie; Stew; and 2 more"},
	} {
		require.Equal(t, c.want, crud.InShort(c.labels, c.all))
	}
}
