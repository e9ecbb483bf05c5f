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
	"alfred/internal/dbtest"
)

// typist sits at a pseudo terminal with a chat in it.
type typist struct {
	t       *testing.T
	keys    *os.File
	shown   *lockedBuffer
	signals chan os.Signal
	ended   chan error
}

// open begins a chat on a terminal.
func (c *chatting) open(t *testing.T) *typist {
	t.Helper()
	keys, screen, err := pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(keys, &pty.Winsize{Rows: 40, Cols: 60}))
	term := &typist{t: t, keys: keys, shown: &lockedBuffer{}, signals: make(chan os.Signal, 2), ended: make(chan error, 1)}
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
	where := &setting{terminal: openTerminal(screen, screen, term.signals), signals: term.signals}
	where.read = where.terminal.line
	go func() {
		term.ended <- (&chatCommand{User: "ada"}).talk(t.Context(), settings.Env{"DATABASE_URL": c.url}, console, where)
	}()
	t.Cleanup(func() { // a test that fails leaves nobody reading
		_, _ = keys.WriteString("\x03\x03")
	})

	return term
}

func (term *typist) press(keys string) {
	term.t.Helper()
	_, err := term.keys.WriteString(keys)
	require.NoError(term.t, err)
}

// shows waits until a text has been shown.
func (term *typist) shows(text string) {
	term.t.Helper()
	require.Eventually(term.t, func() bool { return strings.Contains(ansi.Strip(term.shown.String()), text) }, dbtest.Patience, 5*time.Millisecond,
		"%q in %q", text, term.shown)
}

// says waits until a turn has been answered, and holds its message to what was typed.
func (term *typist) says(c *chatting, number int, message string) {
	term.t.Helper()
	require.Eventually(term.t, func() bool {
		var text string
		err := c.pool.QueryRow(term.t.Context(), `SELECT message FROM turns WHERE number = $1 AND status = 'succeeded'`, number).Scan(&text)

		return err == nil && text == message
	}, dbtest.Patience, 5*time.Millisecond, "%q in %q", message, term.shown)
}

// leaves ends the chat, at once or after the answer that is awaited.
func (term *typist) leaves() {
	term.t.Helper()
	term.press("\x04")
	require.NoError(term.t, <-term.ended)
}

// Y17: on a terminal a message has as many lines as were pasted and any characters, Ctrl-C takes away what is written before it ends the chat,
// something is said from the beginning on, and replies are drawn.
func TestY17ChatOnATerminal(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	c := newChatting(t)
	c.work(t)
	term := c.open(t)
	term.shows("lists commands")
	term.press("never sent\x03")
	term.shows("Ctrl-C again ends the chat")
	term.press("Crèmx\x7fe brûlée 🍲🍲\x7f?\x1b[D\x1b[D\x1b[D\x1b[D!\r") // taken back, gone back over
	term.says(c, 1, "Crème brûlé!e 🍲?")
	term.press("\x1b[200~Show my recipes\nand nothing else\x1b[201~\r")
	term.says(c, 2, "Show my recipes\nand nothing else")
	require.Contains(t, term.shown.String(), "Reading your message…", "it is said what goes on before there is a plan")
	require.Contains(t, term.shown.String(), "\x1b[1mAlfred ")

	// What was sent is there again with the arrow up.
	term.press("\x1b[A\r")
	term.says(c, 3, "Show my recipes\nand nothing else")
	term.leaves()
}

// Y17: what is typed while an answer is awaited stays in the box, what is sent then is said afterwards, and Ctrl-C stops the answer, without losing
// either.
func TestY17TypingAhead(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	c := newChatting(t)
	term := c.open(t)
	term.shows("lists commands")
	term.press("Show my recipes\r")
	term.shows("Reading your message") // nobody answers yet
	term.press("Show my tasks\r")
	term.shows("then: Show my tasks")
	term.press("\x1b[200~What is in my\x1b[201~") // pasted, it is drawn at once: by keys, a slow machine draws it in pieces
	term.shows("What is in my")
	c.work(t)
	term.says(c, 1, "Show my recipes")
	term.says(c, 2, "Show my tasks")
	term.press(" pantry?\r")
	term.says(c, 3, "What is in my pantry?")
	term.press("\r") // nothing is written
	term.leaves()
	require.Equal(t, "3", c.one(t, `SELECT count(*)::text FROM turns`))
}

// Y17: Ctrl-C takes away what is written, then stops the answer and gives back what was to be said after it.
func TestY17StopsAnAnswer(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	c := newChatting(t)
	term := c.open(t)
	term.shows("lists commands")
	term.press("Show my recipes\r")
	term.shows("Reading your message")
	term.press("Show my tasks\r")
	term.shows("then: Show my tasks")
	term.press("no\x03")
	term.shows("Ctrl-C again stops the answer")
	term.press("\x03")
	require.Eventually(t, func() bool { return c.one(t, `SELECT status::text FROM turns`) == "cancelled" }, dbtest.Patience, 5*time.Millisecond)
	c.work(t)
	term.press("\r")
	term.says(c, 2, "Show my tasks")
	term.leaves()
}

// Y17: Markdown is drawn, between words at the terminal's width, and as soon as a piece of it is whole.
func TestY17MarkdownOnATerminal(t *testing.T) {
	t.Parallel()

	got := markdown("**Bold** words that are more than one line of this terminal holds.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |", 47)
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
		require.Equal(t, want, text[:renderable(text)], text)
	}
}

// K09: nor may a reply's Markdown, which can write any character by its number.
func TestMarkdownSpeaksToNoTerminal(t *testing.T) {
	t.Parallel()

	got := markdown("a\x1b[2Jb &#27;[2J &#x1b;]0;title&#7; `&#27;` [x](javascript:&#27;[2J) \u202e", 80)
	for text := got; text != ""; {
		at := strings.IndexAny(text, "\x1b\x07\u202e")
		if at < 0 {
			break
		}
		require.Regexp(t, `^\x1b\[[0-9;]*m`, text[at:], got)
		text = text[at+1:]
	}
}
