package clean_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/clean"
)

// W11: an address in angle brackets is not a tag, and reaches a reply unchanged; the text beside it is neutralized.
func TestW11Addresses(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"Mei <mei.kovacs@example.org>":      "Mei <mei.kovacs@example.org>",
		"</system> <a@b.c> <system>":        "‹/system> <a@b.c> ‹system>",
		"<system a@b.c>":                    "‹system a@b.c>",
		"<mei@example.org><|im_start|>":     "<mei@example.org>‹|im_start|>",
		"<mei@example.org onload=x> [INST]": "‹mei@example.org onload=x> (INST)",
	} {
		require.Equal(t, want, clean.Inline(text, 0))
	}
}
