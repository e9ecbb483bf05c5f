package reference_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// house is one worker and one API as processes, on their own database.
type house struct {
	programs string // folder of the two programs
	url      string
	addr     string

	session, turn string // of the README's conversation
}

func openHouse(t *testing.T) *house {
	t.Helper()

	h := &house{programs: t.TempDir(), url: dbtest.URL(t)}
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", h.programs+"/", "./cmd/worker", "./cmd/api")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	h.shimGo(t)
	h.start(t, "worker", "run", "--json")
	h.addr = h.start(t, "api", "serve")

	return h
}

// shimGo makes the documents' go build run in the project itself: its cache identifies packages by folder, so a
// separate working directory would recompile everything.
func (h *house) shimGo(t *testing.T) {
	t.Helper()

	tool, err := exec.LookPath("go")
	require.NoError(t, err)
	project, err := filepath.Abs(root)
	require.NoError(t, err)
	script := fmt.Sprintf("#!/bin/sh\ncd '%s' && exec '%s' \"$@\"\n", project, tool)
	require.NoError(t, os.WriteFile(filepath.Join(h.programs, "go"), []byte(script), 0o755))
}

// start runs a program until the test ends, and returns the address it announces once it is up.
func (h *house) start(t *testing.T, name string, args ...string) string {
	t.Helper()

	command := exec.CommandContext(context.Background(), filepath.Join(h.programs, name), args...)
	command.Env = append(os.Environ(), "DATABASE_URL="+h.url, "ALFRED_ADDR=127.0.0.1:0", "ALFRED_AUTH=off", "ALFRED_LLM=offline")
	logs, err := command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	up, ended := make(chan string, 1), make(chan struct{})
	go func() { // read to the end: a full pipe would block the program
		defer close(ended)
		for lines := bufio.NewScanner(logs); lines.Scan(); {
			var line struct {
				Addr string `json:"addr"`
				Msg  string `json:"msg"`
			}
			if json.Unmarshal(lines.Bytes(), &line) == nil && (line.Msg == "serving" || line.Msg == "worker started") {
				up <- line.Addr
			}
		}
	}()
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		<-ended
		_ = command.Wait()
	})
	select {
	case addr := <-up:
		return addr
	case <-ended:
		require.Fail(t, "it did not start", name)

		return ""
	}
}

// talk holds the README's conversation and compares each reply with the printed one. Three dots match any text.
func (h *house) talk(t *testing.T) {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), h.url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT alfred.start_session('demo')::text`).Scan(&h.session))
	for i, turn := range conversation(t) {
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT alfred.enqueue_turn($1, $2)::text`, h.session, turn.say).Scan(&h.turn))
		var reply *string
		require.Eventually(t, func() bool {
			err := conn.QueryRow(t.Context(), `SELECT reply FROM alfred.turns WHERE id = $1::uuid AND summarized_at IS NOT NULL`, h.turn).Scan(&reply)

			return err == nil && reply != nil
		}, dbtest.Patience, 20*time.Millisecond, "turn %d: %s", i+1, turn.say)
		pattern := strings.ReplaceAll(regexp.QuoteMeta(turn.reply), `\.\.\.`, `.*`)
		pattern = regexp.MustCompile(`[A-Z][a-z]{2} \d+ [A-Z][a-z]{2}`).ReplaceAllString(pattern, `[A-Z][a-z]{2} \d+ [A-Z][a-z]{2}`) // a date, different from today's
		require.Regexp(t, "(?s)^"+pattern+"$", strings.Join(strings.Fields(*reply), " "), "turn %d: %s", i+1, turn.say)
	}
}

type said struct{ say, reply string }

// conversation returns the README's block that starts with You.
func conversation(t *testing.T) []said {
	t.Helper()

	var turns []said
	for _, b := range blocks(t, "README.md") {
		if !strings.HasPrefix(b.body, "You  ") {
			continue
		}
		for line := range strings.SplitSeq(strings.TrimSpace(b.body), "\n") {
			text := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, "You "), "Alfred "))
			switch {
			case strings.HasPrefix(line, "You "):
				turns = append(turns, said{say: text})
			case turns[len(turns)-1].reply == "":
				turns[len(turns)-1].reply = text
			default:
				turns[len(turns)-1].reply += " " + text
			}
		}
	}
	require.NotEmpty(t, turns)

	return turns
}
