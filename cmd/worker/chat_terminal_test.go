package main

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
)

// terminal is a pseudo terminal with a chat in it.
type terminal struct {
	t       *testing.T
	keys    *os.File
	shown   *lockedBuffer
	signals chan os.Signal
	ended   chan error
}

// open begins a chat on a terminal.
func (c *chatting) open(t *testing.T) *terminal {
	t.Helper()
	keys, screen, err := pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(keys, &pty.Winsize{Rows: 40, Cols: 60}))
	term := &terminal{t: t, keys: keys, shown: &lockedBuffer{}, signals: make(chan os.Signal, 2), ended: make(chan error, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(term.shown, keys) // ends with an error when the terminal is closed
	}()
	t.Cleanup(func() {
		require.NoError(t, screen.Close())
		<-read
		require.NoError(t, keys.Close())
	})
	console := &program.Console{Out: screen, Errs: screen, Screen: screen}
	where := &setting{in: newTerminalInput(screen, screen), interactive: true, signals: term.signals}
	go func() {
		term.ended <- (&chatCommand{User: "ada"}).talk(t.Context(), settings.Env{"DATABASE_URL": c.url}, console, where)
	}()
	t.Cleanup(func() { // a test that fails leaves nobody reading
		_, _ = keys.WriteString("\x03\x03")
	})

	return term
}

func (term *terminal) press(keys string) {
	term.t.Helper()
	_, err := term.keys.WriteString(keys)
	require.NoError(term.t, err)
}

// shows waits until a text has been shown so many times.
func (term *terminal) shows(text string, times int) {
	term.t.Helper()
	require.Eventually(term.t, func() bool { return strings.Count(ansi.Strip(term.shown.String()), text) >= times }, time.Minute, 5*time.Millisecond,
		"%q %d times in %q", text, times, term.shown)
}

// asks waits until the line editor reads for the nth time: it turns on bracketed paste as it begins.
func (term *terminal) asks(n int) {
	term.t.Helper()
	require.Eventually(term.t, func() bool { return strings.Count(term.shown.String(), "\x1b[?2004h") >= n }, time.Minute, 5*time.Millisecond,
		"the %d. line is read in %q", n, term.shown)
}

// says waits until a turn has been answered, and holds its message to what was typed.
func (term *terminal) says(c *chatting, number int, message string) {
	term.t.Helper()
	require.Eventually(term.t, func() bool {
		var text string
		err := c.pool.QueryRow(term.t.Context(), `SELECT message FROM turns WHERE number = $1 AND status = 'succeeded'`, number).Scan(&text)

		return err == nil && text == message
	}, time.Minute, 5*time.Millisecond, "%q in %q", message, term.shown)
}

// Y17: on a terminal a message has as many lines as were pasted and any characters, Ctrl-C takes away what is written before it ends the chat,
// something is said from the beginning on, and replies are drawn.
func TestY17ChatOnATerminal(t *testing.T) {
	t.Parallel()

	c := newChatting(t)
	c.work(t)
	term := c.open(t)
	term.shows("lists commands", 1)
	term.asks(1)
	term.press("never sent\x03")
	term.shows("Ctrl-C again ends the chat", 1)
	term.press("Crèmx\x7fe brûlée 🍲🍲\x7f?\x1b[D\x1b[D\x1b[D\x1b[D!\r") // taken back, gone back over
	term.says(c, 1, "Crème brûlé!e 🍲?")
	term.asks(2)
	term.press("\x1b[200~Show my recipes\nand nothing else\x1b[201~\r")
	term.says(c, 2, "Show my recipes\nand nothing else")
	require.Contains(t, term.shown.String(), "Reading your message…", "it is said what goes on before there is a plan")
	require.Contains(t, term.shown.String(), "\x1b[1mAlfred ")

	// What was sent is there again with the arrow up.
	term.asks(3)
	term.press("\x1b[A\r")
	term.says(c, 3, "Show my recipes\nand nothing else")
	term.asks(4)
	term.press("\x03")
	require.NoError(t, <-term.ended)
}

// Y17: Markdown is drawn, between words at the terminal's width, and as soon as a piece of it is whole.
func TestY17MarkdownOnATerminal(t *testing.T) {
	t.Parallel()

	draw := newMarkdown(47)
	got := draw.written("**Bold** words that are more than one line of this terminal holds.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |")
	require.Contains(t, got, "\x1b[1mBold")
	for line := range strings.Lines(ansi.Strip(got)) {
		require.LessOrEqual(t, ansi.StringWidth(strings.TrimSuffix(line, "\n")), 40, line)
	}
	require.NotContains(t, got, "**")
	require.Regexp(t, `(?m)^\W*one$`, ansi.Strip(got))
	require.Regexp(t, `1\s*\|\s*2`, ansi.Strip(got))

	for text, want := range map[string]string{
		"One.\n\nTwo":                      "One.\n\n",
		"One.\n":                           "",
		"One.\n\n- two":                    "",
		"- one\n\n  more\n\nAnd then":      "- one\n\n  more\n\n",
		"```\na\n\nbc\n```":                "",
		"```\na\n\nbc\n```\n\nThat is all": "```\na\n\nbc\n```\n\n",
		"1. one\n\n2. two":                 "",
		"One.\n\n**Two** and":              "One.\n\n",
	} {
		require.Equal(t, want, text[:ripe(text)], text)
	}
}

// K09: nor may a reply's Markdown, which can write any character by its number.
func TestMarkdownSpeaksToNoTerminal(t *testing.T) {
	t.Parallel()

	got := newMarkdown(80).written("a\x1b[2Jb &#27;[2J &#x1b;]0;title&#7; `&#27;` [x](javascript:&#27;[2J) \u202e")
	for text := got; text != ""; {
		at := strings.IndexAny(text, "\x1b\x07\u202e")
		if at < 0 {
			break
		}
		require.Regexp(t, `^\x1b\[[0-9;]*m`, text[at:], got)
		text = text[at+1:]
	}
}
