package memory_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/domain"
	"alfred/internal/dbtest"
	"alfred/internal/testfactory"
	"alfred/memory"
	"alfred/nodes"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { dbtest.Main(m) }

type testBundle struct {
	tx      pgx.Tx
	memory  *memory.Memory
	domain  *domain.Domain
	user    uuid.UUID
	session uuid.UUID
}

func setup(t *testing.T, change ...func(*memory.Config)) *testBundle {
	t.Helper()
	tx := dbtest.Tx(t)
	fsys, file := domain.Find("kitchen")
	kitchen, err := domain.Open(t.Context(), tx, fsys, file)
	require.NoError(t, err)
	cfg := memory.DefaultConfig()
	for _, c := range change {
		c(&cfg)
	}
	user := testfactory.User(t, tx, "Europe/Berlin")

	return &testBundle{tx: tx, memory: memory.New(kitchen, cfg), domain: kitchen, user: user, session: testfactory.Session(t, tx, user)}
}

func (b *testBundle) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := b.tx.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

func (b *testBundle) think(t *testing.T, turn *db.Turns) nodes.ThinkInput {
	t.Helper()
	in, err := b.memory.Think(t.Context(), b.tx, turn)
	require.NoError(t, err)

	return in
}

func (b *testBundle) understand(t *testing.T, turn *db.Turns) nodes.UnderstandInput {
	t.Helper()
	in, err := b.memory.Understand(t.Context(), b.tx, turn)
	require.NoError(t, err)

	return in
}

func (b *testBundle) act(t *testing.T, turn *db.Turns, step int) nodes.ActInput {
	t.Helper()
	in, err := b.memory.Act(t.Context(), b.tx, turn, step)
	require.NoError(t, err)

	return in
}

func (b *testBundle) reply(t *testing.T, turn *db.Turns) nodes.ReplyInput {
	t.Helper()
	in, err := b.memory.Reply(t.Context(), b.tx, turn)
	require.NoError(t, err)

	return in
}

// body is the text below a heading, "" without it.
func body(f nodes.Frame, heading string) string {
	for _, block := range f.Blocks {
		for _, section := range block.Sections {
			if section.Heading == heading {
				return section.Body
			}
		}
	}

	return ""
}

func text(f nodes.Frame) string { return nodes.RenderBlocks(f.Blocks) }

// golden compares a prompt with its file; -update rewrites that.
func golden(t *testing.T, name string, f nodes.Frame) {
	t.Helper()
	path := filepath.Join("testdata", name+".md")
	got := text(f) + "\n"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o750))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// rows is a JSON list of n rows of a type: {"id": "inv_1", "name": "Item 1", ...}.
func rows(stem string, n int, more string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"id": "%s_%d", "name": "Item %d"%s}`, stem, i+1, i+1, more)
	}

	return "[" + strings.Join(list, ",") + "]"
}
