package vocab_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"alfred/internal/vocab"
)

// A type's name may have several words, and digits. What is found is what the pattern matches.
func TestRefs(t *testing.T) {
	t.Parallel()

	found := slices.Collect(vocab.Refs(`["gen_recipe_1", "order_item_2", "mp3_3", "Table_4", "3_5", "recipe"]`))
	require.Equal(t, []string{"gen_recipe_1", "order_item_2", "mp3_3"}, found)
	pattern := regexp.MustCompile(`\b` + vocab.Ref + `\b`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab_019_Aé .-"))).Draw(t, "text")
		require.Equal(t, pattern.FindAllString(text, -1), slices.Collect(vocab.Refs(text)))
	})
}
