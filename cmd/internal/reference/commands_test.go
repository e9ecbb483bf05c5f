package reference_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// Every command in the documents runs, and prints the output below it. Commands are fenced blocks of sh and sql. They run
// in order, on a database with the README's conversation, against one worker and one API; in sql, :session and :turn are
// that conversation and its last turn. A block without a language right after one of sql is its output. Lines that call
// make are not run, but their targets must exist. A block that cannot run on every machine follows a comment with the
// reason, and one about migrating gets its own database after the second comment:
//
//	<!-- not run: needs a key -->
//	<!-- run on an empty database -->
func TestCommandsRun(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	for _, tool := range []string{"bash", "curl", "jq", "psql"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the documents' commands need %s", tool)
		}
	}
	h := openHouse(t)
	h.talk(t)
	makefile := read(t, "Makefile")
	for _, file := range documents(t) {
		dir := h.workingDir(t)
		for _, b := range blocks(t, file) {
			switch b.lang {
			case "sh":
				targets, rest := b.withoutMake()
				for _, target := range targets {
					require.Contains(t, makefile, "\n"+target+":", "%s:%d: make has no such target", b.file, b.line)
				}
				if rest != "" {
					h.run(t, b, dir, "", "bash", "-euo", "pipefail", "-c", h.here(rest)) // not by stdin, which a command may read
				}
			case "sql":
				out := h.run(t, b, dir, b.body, "psql", h.url, "-X", "-v", "ON_ERROR_STOP=1", "-v", "session="+h.session, "-v", "turn="+h.turn)
				if b.output != "" {
					require.Equal(t, tidy(b.output), tidy(out), "%s:%d: the output", b.file, b.line)
				}
			case "bash", "console", "shell", "SQL":
				require.Fail(t, "write sh or sql, so that it is run", "%s:%d", b.file, b.line)
			}
		}
	}
}

// Go code in the documents is also in a program that is compiled and tested.
func TestGoIsCompiled(t *testing.T) {
	t.Parallel()

	squeeze := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	programs := squeeze(read(t, "examples/embed/main.go"))
	for _, file := range documents(t) {
		for _, b := range blocks(t, file) {
			if b.lang == "go" {
				require.Contains(t, programs, squeeze(b.body), "%s:%d", b.file, b.line)
			}
		}
	}
}

// run passes a block to a command and returns its output.
func (h *house) run(t *testing.T, b *block, dir, stdin, name string, args ...string) string {
	t.Helper()

	if reason, ok := strings.CutPrefix(b.mark, markNotRun); ok {
		require.NotEmpty(t, reason, "%s:%d: say why", b.file, b.line)

		return ""
	}
	ctx, cancel := context.WithTimeout(t.Context(), dbtest.Patience)
	defer cancel()
	url := h.url
	if b.mark == markEmpty {
		url = dbtest.EmptyURL(t)
	}
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "DATABASE_URL="+url, "PATH="+h.programs+":"+os.Getenv("PATH"),
		"PGOPTIONS=-c search_path=alfred,public,kitchen", "PAGER=")
	command.Stdin = strings.NewReader(stdin)
	var errs strings.Builder
	command.Stderr = &errs
	out, err := command.Output()
	require.NoError(t, err, "%s:%d:\n%s\nprinted:\n%s%s", b.file, b.line, b.body, out, &errs)

	return string(out)
}

// here replaces the documents' API address by the actual one.
func (h *house) here(text string) string { return strings.ReplaceAll(text, "localhost:8080", h.addr) }

// workingDir looks like the project's root after make build, and receives files that commands write.
func (h *house) workingDir(t *testing.T) string {
	t.Helper()

	dir := t.TempDir()
	absolute, err := filepath.Abs(root)
	require.NoError(t, err)
	entries, err := os.ReadDir(absolute)
	require.NoError(t, err)
	for _, entry := range entries {
		if name := entry.Name(); !strings.HasPrefix(name, ".") && name != "bin" {
			require.NoError(t, os.Symlink(filepath.Join(absolute, name), filepath.Join(dir, name)))
		}
	}
	require.NoError(t, os.Symlink(h.programs, filepath.Join(dir, "bin")))

	return dir
}

// tidy removes trailing spaces, which no editor keeps, and psql's row count.
func tidy(text string) string {
	text = regexp.MustCompile(`(?m)[ \t]+$`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(?m)^\(\d+ rows?\)$`).ReplaceAllString(text, "")

	return strings.TrimSpace(text)
}
