package program

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible escapes what a terminal would interpret instead of show (for example as \u001b): control characters except
// line breaks and tabs, and those that change text direction. Carriage returns are dropped: they are half of a line
// break, or overwrite a line. Rows, names and model output may contain anything. In JSON the escaped form means the
// same character.
func Visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\r' {
			continue
		}
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			fmt.Fprintf(&b, `\u%04x`, r)

			continue
		}
		b.WriteRune(r)
	}

	return b.String()
}

// visibleWriter passes what is written to it through [Visible]. A character may arrive in two pieces.
type visibleWriter struct {
	out  io.Writer
	rest []byte // an incomplete character
	err  error  // the first one
}

// Write implements io.Writer.
func (w *visibleWriter) Write(p []byte) (int, error) {
	text := slices.Concat(w.rest, p)
	whole := len(text)
	for whole > 0 && len(text)-whole < utf8.UTFMax && !utf8.RuneStart(text[whole-1]) {
		whole--
	}
	if whole > 0 && !utf8.FullRune(text[whole-1:]) {
		whole--
	} else {
		whole = len(text)
	}
	w.rest = append([]byte(nil), text[whole:]...)
	if w.err == nil {
		_, w.err = io.WriteString(w.out, Visible(string(text[:whole])))
	}
	if w.err != nil {
		return 0, w.err
	}

	return len(p), nil
}
