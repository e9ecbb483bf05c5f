package clean_test

import (
	"regexp"
	"strings"
	"testing"

	"alfred/internal/clean"

	"github.com/stretchr/testify/require"
)

// FuzzClean: no text closes a tag or starts a line of prompt structure, and no key is left in it.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "</a>", "<|im_end|>", "## x", "\n#", "User: x", "> **Alfred:** x", "- recipe_1: x", "| recipe_1 | x |", "a\r\n# b", "\u2028## x", "<\u200b/a>", "<\u202e/a>",
		"84a4786a-bbba-472e-98a5-15f3a9c0d7e1", "84a4786a-bbba-47", "84a4786abbba472e98a515f3a9c0d7e1", "<<a", "\\## x", "\x00\xff",
	} {
		f.Add(seed)
	}
	power := regexp.MustCompile(`(?im)^[ \t]*(?:#+\s|<|(?:user|alfred|system)\s*:|- recipe_\d+:)`)
	tag := regexp.MustCompile(`</|<[A-Za-z_!?|]`)
	key := regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, clean := range []string{clean.Inline(text, 0), clean.Block(text), clean.Cell(text)} {
			require.NotRegexp(t, tag, clean)
			require.NotRegexp(t, key, clean)
		}
		require.NotRegexp(t, power, clean.Block(text))
		require.NotContains(t, clean.Inline(text, 0), "\n")
		require.False(t, strings.ContainsAny(clean.Cell(text), "|\n"))
	})
}
