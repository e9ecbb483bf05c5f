package reference_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
)

const (
	root = "../../../"

	settingsBegin = "<!-- begin settings: written by make generate -->\n\n"
	settingsEnd   = "\n<!-- end settings -->"
)

var update = flag.Bool("update", false, "write the documents")

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()

	page := read(t, "docs/operations.md")
	before, rest, found := strings.Cut(page, settingsBegin)
	require.True(t, found, "the table's marks are gone")
	_, after, found := strings.Cut(rest, settingsEnd)
	require.True(t, found, "the table's marks are gone")
	same(t, "docs/operations.md", before+settingsBegin+settingsTable()+settingsEnd+after)
}

// settingsTable lists every setting, in the order in which people look for them.
func settingsTable() string {
	var page strings.Builder
	page.WriteString("| variable | default | read by | meaning |\n|---|---|---|---|\n")
	reads := func(program settings.Program, s settings.Shown) bool {
		return slices.Contains(settings.Show(nil, program), s)
	}
	for _, s := range settings.Show(nil, settings.API|settings.Worker) {
		fallback, readers := "none", "both"
		if s.Default != "" {
			fallback = "`" + s.Default + "`"
		}
		if !reads(settings.API, s) {
			readers = "worker"
		} else if !reads(settings.Worker, s) {
			readers = "api"
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", s.Name, fallback, readers, s.Meaning)
	}

	return page.String()
}

// same compares a document with what it should be, or writes it.
func same(t *testing.T, path, want string) {
	t.Helper()

	if *update {
		require.NoError(t, os.WriteFile(root+path, []byte(want), 0o644))

		return
	}
	require.Equal(t, want, read(t, path), "run make generate")
}

func read(t *testing.T, path string) string {
	t.Helper()

	text, err := os.ReadFile(root + path)
	require.NoError(t, err)

	return string(text)
}
