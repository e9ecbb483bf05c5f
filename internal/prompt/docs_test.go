package prompt_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/testfactory"
	"alfred/nodes"
)

// docs/prompts.md lists exactly the existing sections, in order.
func TestDocsListEverySection(t *testing.T) {
	t.Parallel()
	if *update {
		t.Skip("TestDocsShowTheTable is writing what this one reads")
	}
	listed := documented(t)
	var got []string
	for _, row := range everySection(t) {
		if !slices.Contains(got, row) {
			got = append(got, row)
		}
	}
	require.Equal(t, listed, got)
}

// documented reads the table of sections.
func documented(t *testing.T) (sections []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/prompts.md")
	require.NoError(t, err)
	for line := range strings.SplitSeq(string(page), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 8 || strings.HasPrefix(line, "|---") || strings.TrimSpace(cells[1]) == "Node" {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		sections = append(sections, strings.Join(cells[1:4], " | "))
	}

	return sections
}

// everySection renders every node on a conversation that has everything.
func everySection(t *testing.T) []string {
	t.Helper()
	b := setup(t)
	turn := mealPlanning(t, b)
	b.exec(t, `INSERT INTO decisions (session_id, turn_number, action, ref, reason, actor) VALUES ($1, 2, 'retain', 'recipe_3', 'the plan', 'assistant')`, b.session)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "gen_recipe_1", Label: "Draft", Created: 2})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "gen_recipe_2", Label: "Saved", State: db.RefStatePromoted, Action: "created", Created: 2, LastRef: 3, Promoted: 3})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_10", Label: "Kept", Retained: "the plan"})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_12", Label: "Old"})
	b.exec(t, `UPDATE entity_refs SET turn_created = 0, turn_last_ref = 0 WHERE session_id = $1 AND ref IN ('recipe_10', 'recipe_12')`, b.session)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_11", Label: "New", Created: 3})
	past := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 4})
	b.exec(t, `UPDATE turns SET finished_at = started_at - interval '2 minutes' WHERE id = $1`, past.ID)
	b.exec(t, `INSERT INTO questions (session_id, turn_id, kind, payload) VALUES ($1, $2, 'clarify', '{"text": "Which?"}')`, b.session, past.ID)
	understand, think := b.understand(t, turn).Frame, b.think(t, turn).Frame
	together := b.together(t, turn).Frame
	decideRejection(t, b, turn)
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 2, Type: db.StepTypeWrite})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "recipe", Rows: `[{"id": "recipe_11", "name": "New"}]`})
	act := b.act(t, turn, 2).Frame
	b.exec(t, `UPDATE questions SET turn_id = $2 WHERE session_id = $1`, b.session, turn.ID)
	summarize := b.summarize(t, turn)

	rows := sectionRows("understand", understand)
	rows = append(rows, sectionRows("think", think)...)
	rows = append(rows, sectionRows("together", together)...)
	rows = append(rows, sectionRows("act", act)...)
	rows = append(rows, sectionRows("reply", b.reply(t, turn).Frame)...)
	rows = append(rows, sectionRows("summarize", summarize.Frame)...)

	return append(rows, sectionRows("compress", b.compress(t, 2).Frame)...)
}

func sectionRows(node string, f nodes.Frame) []string {
	var rows []string
	for _, block := range f.Blocks {
		for _, section := range block.Sections {
			rows = append(rows, strings.Join([]string{node, block.Tag, strings.TrimPrefix(section.Heading, "## ")}, " | "))
		}
	}

	return rows
}
