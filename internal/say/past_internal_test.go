package say

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/view"
)

// No key reaches a model, whatever the type is called and whatever the key looks like; keys that are text and differ only
// in case are two rows.
func TestMentionsAreShownByRef(t *testing.T) {
	t.Parallel()

	known := &Teller{&view.Scene{}}
	for _, one := range [][3]string{
		{"mp3_1", "mp3", "a.1/B#2"}, {"mp3_2", "mp3", "A.1/b#2"}, {"dish_1", "dish", "0190b5c0-0000-7000-8000-00000000000a"},
	} {
		known.Entities = append(known.Entities, &view.Entity{EntityRefListInViewRow: &db.EntityRefListInViewRow{Ref: one[0], EntityType: one[1], EntityID: &one[2]}})
	}
	for token, want := range map[string]string{
		"@[Blue](mp3:A.1/b#2)": "Blue (mp3_2)", "@[Red](mp3:a.1/B#2)": "Red (mp3_1)", "@[Green](mp3:A.1/B#2)": "Green",
		"@[Soup](dish:0190B5C0-0000-7000-8000-00000000000A)": "Soup (dish_1)", "@[None](other2:17)": "None",
	} {
		require.Equal(t, want, known.WithLabels(token))
	}
}

// What Markdown sets apart by lines and stars reads as a sentence on one line.
func TestASummaryOnOneLineHasNoMarksOfMarkdown(t *testing.T) {
	t.Parallel()

	require.Equal(t, "Found 2 recipes: Pad See Ew (25 min); Shakshuka (35 min) Which one?", shorten("Found 2 recipes:\n- **Pad See Ew** (25 min)\n- Shakshuka (35 min)\n\nWhich one?"))
	require.Equal(t, "5 - 3 is 2", shorten("5 - 3 is 2"))
}
