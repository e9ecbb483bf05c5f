package clean_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/clean"
)

// A text may be all refs: replacing them takes as long for each as for the first.
func TestUnrefOfAHundredThousandRefs(t *testing.T) {
	t.Parallel()
	const times = 100_000
	n := clean.Names{Labels: map[string]string{"inv_1": "olive oil"}}
	began := time.Now()
	require.Equal(t, strings.Repeat("olive oil, ", times), n.Unref(strings.Repeat("inv_1, ", times)))
	require.Less(t, time.Since(began), 10*time.Second)
}

// Models asked for "ref and name" write both: a reader sees the name once.
func TestUnrefSaysANameOnce(t *testing.T) {
	t.Parallel()
	n := clean.Names{
		Labels: map[string]string{"recipe_1": "Pad See Ew", "gen_recipe_2": "Curry", "mp3_1": "Yesterday", "order_item_2": "Lamp"},
		Word:   func(entityType string) string { return map[string]string{"recipe": "recipe"}[entityType] },
		Plural: func(entityType string) string { return entityType + "s" },
	}
	for text, want := range map[string]string{
		"recipe_1 Pad See Ew: 25 min":          "Pad See Ew: 25 min",
		"Pad See Ew recipe_1 for dinner":       "Pad See Ew for dinner",
		"Take pad see ew recipe_1.":            "Take pad see ew.",
		"Pad See Ew (recipe_1) and recipe_1":   "Pad See Ew and Pad See Ew",
		"recipe_1, gen_recipe_2 Curry":         "Pad See Ew, Curry",
		"gen_recipe_2 currywurst":              "Curry currywurst",
		"Green Curry gen_recipe_2":             "Green Curry",
		"the curry (gen_recipe_2, 25 min)":     "the curry (25 min)",
		"recipe_7 is unknown, other_1 no type": "recipe is unknown, other_1 no type",
		"mp3_1, the song (mp3_1)":              "Yesterday, the song",
		"mp3_1..mp3_4 and order_item_2":        "4 mp3s and Lamp",
	} {
		require.Equal(t, want, n.Unref(text), text)
	}
}
