package clean_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/clean"
)

// Most texts are on one line already and are not taken apart; the result must be that of taking them apart.
func TestOneLineWithSingleSpaces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", " ": "", "a": "a", "a b": "a b", "a  b": "a b", " a": "a", "a ": "a", "a\tb": "a b", "a\nb": "a b",
		"a\x7fb": "a b", "a\u00a0b": "a b", "a\u2028b": "a b", "é  x": "é x", "x \u3000": "x",
	} {
		require.Equal(t, want, clean.Inline(text, 0), "%q", text)
	}
}

// What nobody sees may neither turn round what stands after it nor tell models anything; what joins letters and emoji stays.
func TestHiddenCharactersAreLeftOut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"tea\u202e ?llahS": "tea ?llahS", "\u2067\u202aa\u2069b": "ab", "<\u202e/rows>": "‹/rows>",
		"tea\U000e0001\U000e0064\U000e0065\U000e006c": "tea", "می\u200cخواهم \u200f👩\u200d🍳": "می\u200cخواهم \u200f👩\u200d🍳",
	} {
		require.Equal(t, want, clean.Inline(text, 0), "%q", text)
		require.Equal(t, want, clean.Block(text), "%q", text)
	}
}

func TestClipCountsCharacters(t *testing.T) {
	t.Parallel()
	require.Equal(t, "äöü", clean.Clip("äöü", 3))
	require.Equal(t, "äö…", clean.Clip("äöü", 2))
	require.Equal(t, "äöü", clean.Clip("äöü", 0))
}
