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
	const row = "| recipe_1 | Soup | recipe | {} |"
	unitOf := func(text, key string) unit { return unit{text: text, key: key} }
	for shown, want := range map[unit]bool{
		unitOf(recipe, "### recipe_1\n"):                                           true,
		unitOf("### recipe_1\ninstructions:\n1. Chop.\n2. Fry.", "### recipe_1\n"): false,
		unitOf("### recipe_2\nnotes:\n- a", "### recipe_2\n"):                      true,
		unitOf("### recipe_2\nnotes:", "### recipe_2\n"):                           false,
		unitOf(row, "| recipe_1 | "):                                               true,
		unitOf(draft+"\n{\"name\": \"Soup\"}", "- gen_recipe_1: "):                 true,
		unitOf(draft, "- gen_recipe_1: "):                                          false,
	} {
		require.Equal(t, want, shown.isSeen(told), shown.text)
	}
	again := unitOf("### recipe_1\nnotes:\n- a", "### recipe_1\n")
	require.True(t, again.isSeen(told+"\n### recipe_1\nnotes:\n- a\n### recipe_2\nnotes:\n- b\n"), "as news is written")
}

// A row whose only part has been deleted has no details, and nothing would say that its old ones are gone.
func TestLostDetails(t *testing.T) {
	t.Parallel()
	const told = "\n| list_1 | Shopping | list | {} |\n"
	row, details := unit{ref: "list_1", key: "| list_1 | "}, unit{ref: "list_1", key: "### list_1\n"}
	without, with := &section{units: []unit{row}}, &section{units: []unit{row, details}}
	require.True(t, without.hasLostDetails(told+"\n### list_1\nitems:\n- leeks\n</data_to_analyze>\n"))
	require.False(t, with.hasLostDetails(told+"\n### list_1\nitems:\n- leeks\n</data_to_analyze>\n"))
	require.False(t, without.hasLostDetails(told))
}

// A draft that was discarded meanwhile must not be shown as unsaved any more; one that was saved is shown as saved.
func TestWithdrawnDrafts(t *testing.T) {
	t.Parallel()
	const told = "\n## Generated (NOT YET SAVED)\n- gen_recipe_1: Soup (recipe) [needs save]\n"
	require.False(t, hasLostDraft("x"+told, told))
	require.False(t, hasLostDraft("\n- gen_recipe_1: Soup (recipe) [created]\n", told))
	require.True(t, hasLostDraft("\n- gen_recipe_2: Stew (recipe) [needs save]\n", told))
}
