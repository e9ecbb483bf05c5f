package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
	"alfred/internal/follow"
	"alfred/jobs"
)

// chatting is a database for which a worker can be started.
type chatting struct {
	url  string
	pool *pgxpool.Pool
}

func newChatting(t *testing.T) *chatting {
	t.Helper()

	url, pool := database(t)

	return &chatting{url: url, pool: pool}
}

// work runs a worker with the offline model until the test ends.
func (c *chatting) work(t *testing.T) {
	t.Helper()

	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"run", "--quiet"}, settings.Env{"DATABASE_URL": c.url}, io.Discard, io.Discard)
	}()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
}

// chat runs the command with the given input and returns its output.
func (c *chatting) chat(t *testing.T, command *chatCommand, in string, signals <-chan os.Signal) (string, error) {
	t.Helper()

	if command.User == "" {
		command.User = "ada"
	}
	out := &lockedBuffer{}
	console := program.NewConsole(out, io.Discard)
	err := command.talk(t.Context(), settings.Env{"DATABASE_URL": c.url}, console, &setting{read: linesOf(strings.NewReader(in)), signals: signals})

	return out.String(), err
}

func (c *chatting) one(t *testing.T, sql string) string {
	t.Helper()

	return query[string](t, c.pool, sql)
}

type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.buffer.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.buffer.String()
}

// Below a reply stands what was written, from the rows: a reply in another language says it as well, or says anything.
func TestChatShowsWhatWasWritten(t *testing.T) {
	t.Parallel()

	out := &bytes.Buffer{}
	screen := &textScreen{out: out}
	screen.turn(&follow.Turn{Reply: "Ist notiert.", Wrote: []follow.Wrote{
		{Action: "created", Label: "Bake bread"}, {Action: "deleted", Label: "Cod"}, {Action: "created", Label: "Buy flour"}, {Action: "updated", Label: "Milk"},
	}})
	require.Equal(t, "Alfred Ist notiert.\n       saved: Bake bread, Buy flour\n       changed: Milk\n       deleted: Cod\n", out.String())
	out.Reset()
	screen.turn(&follow.Turn{Reply: "Alles gespeichert!"})
	require.NoError(t, screen.failed())
	require.Equal(t, "Alfred Alles gespeichert!\n", out.String(), "nothing was written, so nothing stands there")
}

// A whole conversation from a pipe, and the same session resumed.
func TestChat(t *testing.T) {
	t.Parallel()

	c := newChatting(t)
	c.work(t)
	out, err := c.chat(t, &chatCommand{Title: "Dinner", User: "demo"}, "Show my recipes\n\nDraft a Thai basil chicken\n/entities\n/why\n/save\nAdd 12 eggs to the fridge\nDelete all my recipes\n2\n/help", nil)
	require.NoError(t, err)
	require.Contains(t, out, "Alfred Found 3 recipes:")
	require.Contains(t, out, "1. read: ")
	require.Contains(t, out, "gen_recipe_1   Thai Basil Chicken [generated]")
	require.Regexp(t, `(Current Step|Execution Results) +(current|generated) +1 items`, out) // of the draft or, if that was sooner, of the summary
	require.Contains(t, out, "saved gen_recipe_1")
	require.Contains(t, out, "\n       saved: eggs\n", "what was written, from the rows")
	require.Contains(t, out, "1. Yes\n       2. No\n")
	require.Contains(t, out, "/quit")
	require.Equal(t, 1, strings.Count(out, "It is not saved yet."), "a reply is told once")
	require.Equal(t, "No", c.one(t, `SELECT message FROM turns WHERE number = 5`), "a number chooses")
	require.Equal(t, "4", c.one(t, `SELECT count(*)::text FROM kitchen.recipes AS r JOIN users AS u ON u.id = r.user_id WHERE u.name = 'demo'`))
	require.Equal(t, "created:user", c.one(t, `SELECT action FROM entity_refs WHERE entity_type = 'recipe' AND turn_promoted IS NOT NULL`))

	// Resumed, as JSON: the history, then every event as the API streams it, and the turn.
	out, err = c.chat(t, &chatCommand{Continue: true, History: 2, JSON: true, User: "demo"}, "hello\n/entities\n/why\n", nil)
	require.NoError(t, err)
	lines := decodeLines(t, out)
	require.Equal(t, "session", lines[0]["type"])
	require.Len(t, lines[0]["history"], 2)
	require.Equal(t, "turn.started", lines[1]["type"])
	kinds := []any{}
	for _, line := range lines[len(lines)-4:] {
		kinds = append(kinds, line["type"])
	}
	require.Equal(t, []any{"turn.finished", "turn", "entities", "why"}, kinds)
	require.Equal(t, "succeeded", lines[len(lines)-3]["turn"].(map[string]any)["status"])
	require.Equal(t, "1", c.one(t, `SELECT count(*)::text FROM sessions`))
}

// A number chooses an option of the last reply, also where no past turn is shown.
func TestChatChoosesWithoutHistory(t *testing.T) {
	t.Parallel()

	c := newChatting(t)
	c.work(t)
	out, err := c.chat(t, &chatCommand{User: "demo"}, "Delete all my recipes", nil)
	require.NoError(t, err)
	require.Contains(t, out, "2. No\n")
	out, err = c.chat(t, &chatCommand{Continue: true, User: "demo"}, "2", nil)
	require.NoError(t, err)
	require.Contains(t, out, "leave it as it is")
	require.NotContains(t, out, "Delete all")
}

func decodeLines(t *testing.T, out string) []map[string]any {
	t.Helper()

	var lines []map[string]any
	for text := range strings.Lines(out) {
		var line map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &line), text)
		lines = append(lines, line)
	}

	return lines
}

// A refusal is printed, sets an exit status, and does not stop the remaining input from being sent.
// Whoever chats does not notice a restart of the database between two messages, and no message is sent twice.
func TestChatWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()

	c := newChatting(t)
	_, err := c.pool.Exec(t.Context(), `CREATE SEQUENCE public.failures;
		CREATE FUNCTION public.fail_twice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval('public.failures') <= 2 THEN RAISE 'shutting down' USING ERRCODE = '57P01'; END IF; RETURN NEW; END $$;
		CREATE TRIGGER fail_twice AFTER INSERT ON turns FOR EACH ROW EXECUTE FUNCTION public.fail_twice()`)
	require.NoError(t, err)
	c.work(t)
	out, err := c.chat(t, &chatCommand{JSON: true}, "hello\n", nil)
	require.NoError(t, err, out)
	require.Equal(t, "1", c.one(t, `SELECT count(*)::text FROM turns WHERE idempotency_key IS NOT NULL`))
}

func TestChatRefuses(t *testing.T) {
	t.Parallel()

	c := newChatting(t)
	c.work(t)
	out, err := c.chat(t, &chatCommand{JSON: true}, strings.Repeat("a", 33<<10)+"\nmilk\x00\n/save\n/save gen_recipe_1\n/fly\n/why\nhello", nil)
	require.ErrorIs(t, err, errUnwell)
	require.Equal(t, 2, errUnwell.Status)
	var codes []any
	for _, line := range decodeLines(t, out) {
		if line["type"] == "error" {
			codes = append(codes, line["code"])
		}
	}
	require.Equal(t, []any{"message_too_large", "invalid_request", "invalid_request", "not_found", "invalid_request", "not_found"}, codes)
	require.Equal(t, "hello", c.one(t, `SELECT string_agg(message, ',') FROM turns`))

	session := uuid.MustParse(c.one(t, `SELECT id::text FROM sessions`))
	_, err = c.chat(t, &chatCommand{Session: session, User: "eve"}, "hi", nil)
	require.ErrorIs(t, err, errNoSession, "of another user as of nobody")
	_, err = c.chat(t, &chatCommand{Continue: true, User: "eve"}, "hi", nil)
	require.ErrorIs(t, err, errNewestSession)
}

// What is refused is named, with what to do instead.
func TestChatKnowsWhereTheUserIs(t *testing.T) {
	t.Parallel()

	c := newChatting(t)
	const zone = `SELECT timezone FROM users WHERE name = 'ada'`
	for _, given := range []string{"Asia/Tokyo", ""} {
		_, err := c.chat(t, &chatCommand{Timezone: given}, "", nil)
		require.NoError(t, err)
		require.Equal(t, "Asia/Tokyo", c.one(t, zone))
	}
	_, err := c.chat(t, &chatCommand{Timezone: "Asia/Nowhere"}, "", nil)
	require.ErrorIs(t, err, jobs.ErrTimezone)
	require.Equal(t, "Asia/Tokyo", c.one(t, zone))
}

func TestChatSaysWhatItRefuses(t *testing.T) {
	t.Parallel()

	c := newChatting(t)
	c.work(t)
	out, err := c.chat(t, &chatCommand{}, "/fly\nDraft a recipe for pea soup\nDraft a recipe for onion soup\n/save\n/help", nil)
	require.ErrorIs(t, err, errUnwell)
	require.Contains(t, out, "there is no such command: /fly; /help lists them\n")
	require.Contains(t, out, "there are several drafts, say which: /save REF (gen_recipe_1, gen_recipe_2)\n")
	for line := range strings.Lines(chatHelp) {
		require.Contains(t, out, beside+strings.TrimSpace(line)+"\n")
	}

	_, err = operate(t, c.url, "chat", "--key", "monday")
	require.ErrorIs(t, err, errKeyAlone)
	_, err = operate(t, c.url, "chat", "--continue", "--history=-1")
	require.ErrorContains(t, err, "--history")
}

// Running a script again sends nothing twice.
func TestChatAgain(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	c := newChatting(t)
	c.work(t)
	_, err := c.chat(t, &chatCommand{}, "", nil)
	require.NoError(t, err)
	session := uuid.MustParse(c.one(t, `SELECT id::text FROM sessions`))
	for range 2 {
		out, err := c.chat(t, &chatCommand{Session: session, Key: "monday"}, "hello\nhello\n", nil)
		require.NoError(t, err)
		require.Equal(t, 2, strings.Count(out, "Alfred ")-strings.Count(out, "You    "), out)
	}
	require.Equal(t, "2", c.one(t, `SELECT count(*)::text FROM turns`))
}

// The first Ctrl-C cancels the turn. Without a worker, it would otherwise wait forever.
func TestChatInterrupted(t *testing.T) {
	t.Parallel()

	c := newChatting(t)
	signals := make(chan os.Signal, 2)
	go func() {
		for t.Context().Err() == nil {
			var running bool
			if c.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM turns WHERE status = 'running')`).Scan(&running) == nil && running {
				signals <- os.Interrupt

				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	out, err := c.chat(t, &chatCommand{JSON: true}, "hello\nnever sent\n", signals)
	require.ErrorIs(t, err, errInterrupted)
	require.Equal(t, 130, errInterrupted.Status)
	lines := decodeLines(t, out)
	require.Equal(t, "turn", lines[len(lines)-1]["type"])
	require.Equal(t, "hello cancelled", c.one(t, `SELECT string_agg(message || ' ' || status, ',') FROM turns`))
}

// K09: text from a model or a row can neither control the terminal nor reverse its text.
func TestChatPrintsNoControls(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer
	screen := &textScreen{out: &out}
	screen.say("a\x1b[2Jb\u009bc\rd\n\te\u202ef")
	require.Equal(t, `Alfred a\u001b[2Jb\u009bcd`+"\n\te"+`\u202ef`, out.String())
}
