package prompt_test

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
	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/prompt"
	"alfred/internal/testfactory"
	"alfred/internal/view"
	"alfred/nodes"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { dbtest.Main(m) }

type testBundle struct {
	tx      pgx.Tx
	loader  *view.Loader
	prompts *prompt.Prompts
	domain  *domain.Domain
	user    uuid.UUID
	session uuid.UUID
}

func setup(t *testing.T, change ...func(*prompt.Config)) *testBundle {
	t.Helper()

	return setupIn(t, dbtest.Tx(t), change...)
}

func setupIn(t *testing.T, tx pgx.Tx, change ...func(*prompt.Config)) *testBundle {
	t.Helper()
	kitchen := testfactory.Kitchen(t)
	cfg := prompt.DefaultConfig()
	cfg.Apart = true
	for _, c := range change {
		c(&cfg)
	}
	user := testfactory.User(t, tx, "Europe/Berlin")

	return &testBundle{tx: tx, loader: view.NewLoader(kitchen, cfg.Windows), prompts: prompt.New(kitchen, cfg), domain: kitchen, user: user, session: testfactory.Session(t, tx, user)}
}

func (b *testBundle) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := b.tx.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// view is the turn's stored view; the caller's changes to the turn row take precedence.
func (b *testBundle) view(t *testing.T, tx pgx.Tx, turn *db.Turns) *view.View {
	t.Helper()
	v, err := b.loader.Open(t.Context(), tx, turn.ID, int(turn.Position)+1) // past the first decision, before which there is no step
	require.NoError(t, err)
	v.Turn = turn
	require.NoError(t, b.loader.Fill(t.Context(), tx, v, view.Need{Profile: true, Known: true, Round: true}))

	return v
}

func (b *testBundle) think(t *testing.T, turn *db.Turns) nodes.ThinkInput {
	t.Helper()

	return b.prompts.Think(b.view(t, b.tx, turn))
}

func (b *testBundle) understand(t *testing.T, turn *db.Turns) nodes.UnderstandInput {
	t.Helper()

	return b.prompts.Understand(b.view(t, b.tx, turn))
}

// together is the input for understanding and planning in one call.
func (b *testBundle) together(t *testing.T, turn *db.Turns) nodes.UnderstandInput {
	t.Helper()

	return prompt.New(b.domain, prompt.DefaultConfig()).Understand(b.view(t, b.tx, turn))
}

func (b *testBundle) act(t *testing.T, turn *db.Turns, step int) nodes.ActInput {
	t.Helper()
	v, err := view.Probe(t.Context(), b.tx, b.view(t, b.tx, turn), false)
	require.NoError(t, err)
	in, err := b.prompts.Act(v, v.Steps[step-1])
	require.NoError(t, err)

	return in
}

func (b *testBundle) reply(t *testing.T, turn *db.Turns) nodes.ReplyInput {
	t.Helper()

	return b.prompts.Reply(b.view(t, b.tx, turn))
}

func (b *testBundle) summarize(t *testing.T, turn *db.Turns) nodes.SummarizeInput {
	t.Helper()

	return b.prompts.Summarize(b.view(t, b.tx, turn))
}

func (b *testBundle) compress(t *testing.T, to int) nodes.CompressInput {
	t.Helper()
	v, err := b.loader.Range(t.Context(), b.tx, b.session, 1, to)
	require.NoError(t, err)

	return b.prompts.Compress(v)
}

func (b *testBundle) preview(t *testing.T, node string) (nodes.Frame, error) {
	t.Helper()
	v, err := b.loader.NextTurn(t.Context(), b.tx, b.session)
	require.NoError(t, err)

	return b.prompts.Preview(v, node)
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
