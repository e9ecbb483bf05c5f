package registry

import (
	"regexp"
	"strings"
)

const (
	scrubbed  = "[id]"
	plainLen  = 32 // a UUID without hyphens, which Postgres also accepts
	firstPart = 8
)

// idTail matches the rest of a UUID after its first eight digits, possibly truncated.
var idTail = regexp.MustCompile(`^-[0-9a-fA-F]{4}(?:-[0-9a-fA-F]{1,4}){0,2}(?:-[0-9a-fA-F]{1,12})?`)

// Scrub replaces every UUID-shaped text by [id], truncated ones included. All text that enters a prompt from outside
// the registry passes through it.
func Scrub(text string) string {
	start, end := findID(text, 0)
	if start < 0 {
		return text
	}
	var b strings.Builder
	done := 0
	for ; start >= 0; start, end = findID(text, done) {
		b.WriteString(text[done:start])
		b.WriteString(scrubbed)
		done = end
	}
	b.WriteString(text[done:])

	return b.String()
}

// hasID reports whether the text contains UUID-shaped text.
func hasID(text string) bool {
	start, _ := findID(text, 0)

	return start >= 0
}

// findID returns the bounds of the first UUID-shaped text at or after from, or -1.
func findID(text string, from int) (int, int) {
	run := 0 // hex digits that end just before i
	for i := from; i <= len(text); i++ {
		if i < len(text) && isHex(text[i]) {
			run++

			continue
		}
		switch {
		case run == plainLen:
			return i - run, i
		case run >= firstPart && i < len(text) && text[i] == '-':
			if end := idEnd(text, i); end > 0 {
				return i - run, end
			}
		}
		run = 0
	}

	return -1, -1
}

// idEnd returns the end of the id whose first hyphen is at i, or 0 if there is none. Two groups of only digits are a
// date with a time, or a telephone number.
func idEnd(text string, i int) int {
	tail := idTail.FindString(text[i:])
	end := i + len(tail)
	if tail == "" || strings.Count(tail, "-") == 1 && !hasLetter(text[i-firstPart:end]) {
		return 0
	}

	return end
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func hasLetter(s string) bool {
	return strings.ContainsAny(s, "abcdefABCDEF")
}
