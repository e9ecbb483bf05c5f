package program

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// K09: nothing in a row or a name can control the terminal that prints it.
func TestK09NothingSpeaksToTheTerminal(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"Crème brûlée 🍮\n\tfor two":    "Crème brûlée 🍮\n\tfor two",
		"\x1b[2J\x1b]52;c;aGk=\a":      `\u001b[2J\u001b]52;c;aGk=\u0007`,
		"c1 \u009b31m":                 `c1 \u009b31m`,
		"two\r\nlines":                 "two\nlines",
		"line\rover\b\x7f":             `lineover\u0008\u007f`,
		"file\u202etxt.exe \u2066x":    `file\u202etxt.exe \u2066x`,
		"eight bits \x9b31m":           "eight bits \ufffd31m",
		"مرحبا":                        "مرحبا",
		`{"name":"` + "\u0085" + `"}`:  `{"name":"\u0085"}`,
		"a zero-width joiner 👩\u200d🍳": "a zero-width joiner 👩\u200d🍳",
	} {
		require.Equal(t, want, Visible(text))

		var whole, bytewise bytes.Buffer
		n, err := (&visibleWriter{out: &whole}).Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, len(text), n)
		require.Equal(t, want, whole.String())

		w := &visibleWriter{out: &bytewise}
		for i := range len(text) {
			_, err := w.Write([]byte{text[i]})
			require.NoError(t, err)
		}
		require.Equal(t, want, bytewise.String())
	}
}
