package prompt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A text that has lost its end begins like the one that was shown, and is shown again.
func TestIsToldSeesWhatHasBecomeShorter(t *testing.T) {
	t.Parallel()
	const (
		recipe = "### recipe_1\ninstructions:\n1. Chop.\n2. Fry.\n3. Add peanuts."
		draft  = "- gen_recipe_1: Soup (recipe) [needs save]"
	)
	told := "\n<entity_context>\n## Generated (NOT YET SAVED)\n" + draft + "\n{\"name\": \"Soup\"}\n</entity_context>\n\n" +
		"<data_to_analyze>\n## Active Entities (Full Data)\n| recipe_1 | Soup | recipe | {} |\n\n" + recipe + "\n\n### recipe_2\nnotes:\n- a\n</data_to_analyze>\n"
	for text, want := range map[string]bool{
		recipe: true,
		"### recipe_1\ninstructions:\n1. Chop.\n2. Fry.": false,
		"### recipe_2\nnotes:\n- a":                      true,
		"### recipe_2\nnotes:":                           false,
		"| recipe_1 | Soup | recipe | {} |":              true,
		draft + "\n{\"name\": \"Soup\"}":                 true,
		draft:                                            false,
	} {
		require.Equal(t, want, isTold(text, told), text)
	}
	require.True(t, isTold("### recipe_1\nnotes:\n- a", told+"\n### recipe_1\nnotes:\n- a\n### recipe_2\nnotes:\n- b\n"), "as news is written")
}

// A row whose only part has been deleted has no details, and nothing would say that its old ones are gone.
func TestLostDetails(t *testing.T) {
	t.Parallel()
	const row = "| ref | label | type | data |\n|---|---|---|---|\n| list_1 | Shopping | list | {} |"
	told := "\n" + row + "\n\n### list_1\nitems:\n- leeks\n</data_to_analyze>\n"
	require.True(t, lost(row, told))
	require.False(t, lost(row+"\n\n### list_1\nitems:\n- milk", told))
	require.False(t, lost(row, "\n"+row+"\n"))
}

// A draft that was discarded meanwhile must not be shown as unsaved any more; one that was saved is shown as saved.
func TestWithdrawnDrafts(t *testing.T) {
	t.Parallel()
	const told = "\n## Generated (NOT YET SAVED)\n- gen_recipe_1: Soup (recipe) [needs save]\n"
	require.False(t, withdrawn("x"+told, told))
	require.False(t, withdrawn("\n- gen_recipe_1: Soup (recipe) [created]\n", told))
	require.True(t, withdrawn("\n- gen_recipe_2: Stew (recipe) [needs save]\n", told))
}
