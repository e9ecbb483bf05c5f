package follow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/follow"
)

func TestSpeech(t *testing.T) {
	t.Parallel()

	delta := func(text string) follow.Event {
		return follow.Event{Type: "reply.delta", Data: []byte(`{"text": "` + text + `"}`)}
	}
	reset := follow.Event{Type: "reply.reset", Data: []byte(`{}`)}
	for name, c := range map[string]struct {
		events    []follow.Event
		committed string
		heard     string
		rest      string
		corrected bool
	}{
		"nothing heard":      {nil, "Hi there", "", "Hi there", false},
		"the beginning":      {[]follow.Event{delta("Hi ")}, "Hi there", "Hi ", "there", false},
		"all, with a space":  {[]follow.Event{delta("Hi "), delta("there ")}, "Hi there", "Hi there ", "", false},
		"a reset at once":    {[]follow.Event{reset, delta("Hi ")}, "Hi there", "Hi ", "there", false},
		"a reset in between": {[]follow.Event{delta("Hi "), reset, delta("Hi ")}, "Hi there", "Hi ", "there", false},
		"something else":     {[]follow.Event{delta("Oh ")}, "Hi there", "Oh ", "Hi there", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			speech, heard := follow.Speech{}, strings.Builder{}
			for _, event := range c.events {
				piece, err := speech.Hear(&event)
				require.NoError(t, err)
				heard.WriteString(piece)
			}
			rest, corrected := speech.Rest(c.committed)
			require.Equal(t, c.heard, heard.String())
			require.Equal(t, c.rest, rest)
			require.Equal(t, c.corrected, corrected)
		})
	}
	_, err := new(follow.Speech).Hear(&follow.Event{Type: "reply.delta", Data: []byte(`"x"`)})
	require.ErrorContains(t, err, "reply.delta")
}

func TestSaid(t *testing.T) {
	t.Parallel()

	options := []follow.Option{{Label: "Butter Chicken"}, {Label: "Shakshuka"}}
	for want, turn := range map[string]*follow.Turn{
		"Done.":             {Reply: "Done."},
		"Shall I?":          {Reply: "Shall I?", Question: &follow.Question{Text: "Shall I?"}},
		"Done.\n\nShall I?": {Reply: "Done.", Question: &follow.Question{Text: "Shall I?"}},
		"Which?\n\n1. Butter Chicken\n2. Shakshuka":                          {Reply: "Which?", Question: &follow.Question{Text: "Which?", Options: options}},
		"No Shakshuka is planned. Which?\n\n1. Butter Chicken\n2. Shakshuka": {Reply: "No Shakshuka is planned. Which?", Question: &follow.Question{Text: "Which?", Options: options}},
		"Which? Butter Chicken or Shakshuka":                                 {Reply: "Which? Butter Chicken or Shakshuka", Question: &follow.Question{Text: "Which?", Options: options}},
	} {
		require.Equal(t, want, turn.PlainText())
	}
}
