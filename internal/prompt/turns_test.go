package prompt_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// Understand builds on its earlier decisions: it sees the last ten with their reasons, and who made those that it did
// not.
func TestUnderstandSeesItsLastDecisions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Curry"})
	for n := 1; n <= 14; n++ {
		b.exec(t, `INSERT INTO decisions (session_id, turn_number, action, ref, reason, actor) VALUES ($1, $2, 'retain', 'recipe_1', $3, 'assistant')`, b.session, n, fmt.Sprintf("reason %d", n))
	}
	b.exec(t, `INSERT INTO decisions (session_id, turn_number, action, ref, reason, actor) VALUES ($1, 15, 'expire', 'recipe_1', 'not mentioned for long', 'system')`, b.session)
	log := strings.Split(body(b.understand(t, b.running(t, 16, "go on", db.StepTypeRead)).Frame, "## Previous Understand Decisions"), "\n")
	require.Len(t, log, 10)
	require.Equal(t, "- Turn 6: retain recipe_1: reason 6", log[0])
	require.Equal(t, "- Turn 15: expire recipe_1: not mentioned for long (by the system)", log[9])
}

// What a write step left out is known to later turns: of three people two were enrolled, and what was told of the turn said all.
func TestLaterTurnsKnowWhatWasLeftOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	past := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1, Status: db.TurnStatusSucceeded})
	testfactory.Step(t, b.tx, past, testfactory.StepOpts{Type: db.StepTypeAnalyze, Outcome: new(db.StepOutcomeOk), Summary: "Compared."})
	testfactory.Step(t, b.tx, past, testfactory.StepOpts{Step: 2, Type: db.StepTypeWrite, Outcome: new(db.StepOutcomeOk), Summary: "Added all three.", Conclusions: "There is no Lea."})
	b.exec(t, `SELECT turn_summary_write_facts($1)`, past.ID)
	require.Contains(t, body(b.together(t, b.running(t, 2, "thanks", db.StepTypeRead)).Frame, "## What Happened"), "Conclusions: Compared. There is no Lea.")
}

// Act sees the last three steps of its turn in full, the others as counts; an analysis's conclusion is never cut; the
// note comes from the last step that ran.
func TestActSeesTheStepsBefore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1, Status: db.TurnStatusRunning})
	for i := range 12 {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("inv_%d", i+1)})
	}
	found := strings.Repeat("it is low; ", 200)
	for step, o := range []testfactory.StepOpts{
		{Summary: "Read all."}, {Type: db.StepTypeAnalyze, Summary: "Compared.", Conclusions: found}, {Summary: "Read more."},
		{Summary: "Read again."}, {Summary: "And again.", Note: "take the first two"},
	} {
		o.Step, o.Outcome = step+1, new(db.StepOutcomeOk)
		testfactory.Step(t, b.tx, turn, o)
		testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: step + 1, Type: "inv", Params: fmt.Sprintf(`{"limit": %d}`, step+1), Rows: rows("inv", 12, "")})
	}
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 6, Outcome: new(db.StepOutcomeSkipped), Note: "not this one"})
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 7, Type: db.StepTypeWrite})

	f := b.act(t, turn, 7).Frame
	results := body(f, "## Step Results")
	require.Contains(t, results, "Step 1 (read, recipes): ok. Read all.\n(1 call, inv_1..inv_12)")
	require.Contains(t, results, "Conclusions: "+strings.TrimSpace(found))
	for limit := 2; limit <= 5; limit++ {
		require.Contains(t, results, fmt.Sprintf(`db_read inv {"limit":%d} → 12 rows`, limit))
	}
	require.NotContains(t, results, `{"limit":1}`)
	require.Contains(t, body(f, "## Current Step"), "Note from the step before: take the first two")

	b.exec(t, `UPDATE turn_step_results SET rows = '[]', refs = '{}' WHERE turn_id = $1 AND step = 1`, turn.ID)
	require.Contains(t, body(b.act(t, turn, 7).Frame, "## Step Results"), "Read all.\n(1 call)", "what found nothing names nothing")
	require.Contains(t, body(f, "## Current Step"), "Step 6 of 6", "a skipped step does not count")
}

// Two reads of one step, and those of the turn before, are all shown: none replaces another.
func TestEveryReadIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	past := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1})
	for _, ref := range []string{"recipe_1", "inv_1", "task_1"} {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: ref, Label: "Label of " + ref})
	}
	testfactory.StepResult(t, b.tx, past, testfactory.ResultOpts{Step: 1, Call: 1, Type: "recipe", Rows: `[{"id": "recipe_1", "name": "Soup"}]`})
	testfactory.StepResult(t, b.tx, past, testfactory.ResultOpts{Step: 1, Call: 2, Type: "inv", Rows: `[{"id": "inv_1", "name": "Leek"}]`})
	testfactory.StepResult(t, b.tx, past, testfactory.ResultOpts{Step: 0, Tool: "ui_change", Type: "task", Rows: `[{"id": "task_1", "title": "Shop"}]`})
	data := body(b.act(t, b.running(t, 2, "go", db.StepTypeAnalyze), 1).Frame, "## Active Entities (Full Data)")
	for _, name := range []string{"Soup", "Leek", "Shop"} {
		require.Contains(t, data, name)
	}
}

// The user's preferences reach Think for every subdomain and Act only for its own, each up to 800 characters.
func TestPreferencesBySubdomain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, `INSERT INTO kitchen.preferences (user_id, subdomain_guidance) VALUES ($1, jsonb_build_object('recipes', repeat('Brief. ', 200), 'tasks', 'In the evening.'))`, b.user)
	turn := b.running(t, 1, "go", db.StepTypeGenerate)

	all := body(b.think(t, turn).Frame, "## User Preferences")
	require.Contains(t, all, "**tasks:** In the evening.")
	recipes := regexp.MustCompile(`\*\*recipes:\*\* (.*)`).FindStringSubmatch(all)[1]
	require.LessOrEqual(t, len([]rune(recipes)), 801)
	require.True(t, strings.HasSuffix(recipes, "…"), "what was cut shows")

	own := body(b.act(t, turn, 1).Frame, "## User Preferences")
	require.Contains(t, own, "Brief.")
	require.NotContains(t, own, "evening")
}

// Constraints are in every planning prompt with their exact value for as long as they hold, however long ago they were
// stated.
func TestConstraintsStayExact(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for n := 1; n <= 30; n++ {
		testfactory.Summary(t, b.tx, testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: n}))
	}
	now := testfactory.Epoch().Add(31 * time.Minute)
	for _, c := range []struct {
		text, kind, value, scope string
		expires                  *time.Time
		ended                    *int
	}{
		{"8 meals", "count", `8`, "session", nil, nil},
		{"January 5 to 10", "date_range", `{"from": "2026-01-05", "to": "2026-01-10"}`, "session", nil, nil},
		{"no nuts, ever", "exclude", `"nuts"`, "lasting", nil, nil},
		{"no cod until then", "exclude", `"cod"`, "session", new(now.Add(time.Minute)), nil},
		{"only fish before", "require", `"fish"`, "session", new(now.Add(-time.Minute)), nil},
		{"7 meals", "count", `7`, "session", nil, new(3)},
	} {
		b.exec(t, `INSERT INTO constraints (user_id, session_id, text, kind, value, scope, source_turn, expires_at, ended_turn) VALUES ($1, $2, $3, $4, $5, $6, 2, $7, $8)`,
			b.user, b.session, c.text, c.kind, []byte(c.value), c.scope, c.expires, c.ended)
	}
	turn := b.running(t, 31, "draft it", db.StepTypeGenerate)
	for _, f := range []nodes.Frame{b.understand(t, turn).Frame, b.think(t, turn).Frame, b.act(t, turn, 1).Frame} {
		held := body(f, "## Constraints")
		require.Contains(t, held, "- 8 meals [count: 8] (since turn 2)")
		require.Contains(t, held, `- January 5 to 10 [date_range: {"from":"2026-01-05 (Mon)","to":"2026-01-10 (Sat)"}] (since turn 2)`)
		require.Contains(t, held, `- no nuts, ever [exclude: "nuts"] (lasting)`)
		require.Contains(t, held, "no cod until then")
		require.NotContains(t, held, "fish", "it has expired")
		require.NotContains(t, held, "7 meals", "it was replaced")
	}
}

// What the instructions name exists: columns, tools and fields in backticks, and the headings they mention.
func TestInstructionsNameRealThings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	known := []string{"item_3", "item_id.state", "gen_item_1", "gen_...", "at risk", "id", "="}
	for _, step := range stepTypes {
		known = append(append(known, string(step)), vocab.StepTools(string(step))...)
	}
	fields := regexp.MustCompile("json:\"([a-z_]+)[,\"]|\"([a-z_]+)\"")
	for _, file := range []string{"../../nodes/output.go", "../../nodes/written.go", "../../nodes/tools.go", "../vocab/vocab.go", "../../nodes/understand.go", "../../nodes/think.go", "../../nodes/summarize.go", "../../nodes/compress.go"} {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, match := range fields.FindAllStringSubmatch(string(source), -1) {
			known = append(known, match[1]+match[2])
		}
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	headed := regexp.MustCompile(`(?:in|under|and) "([A-Z][^"]+)"`)
	page, err := os.ReadFile("../../docs/prompts.md")
	require.NoError(t, err)
	files, err := filepath.Glob("../../nodes/prompts/*.md")
	require.NoError(t, err)
	require.Len(t, files, 7)
	for _, file := range files {
		instructions, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, match := range quoted.FindAllStringSubmatch(string(instructions), -1) {
			word, _, _ := strings.Cut(match[1], ":")
			if strings.HasPrefix(word, "{") {
				continue // an example of the answer
			}
			require.True(t, slices.Contains(known, word), "%s speaks of %q", file, word)
		}
		for _, match := range headed.FindAllStringSubmatch(string(instructions), -1) {
			said := match[1] == "Already loaded" || match[1] == "Not loaded" // lines of Recent Context
			require.True(t, said || strings.Contains(string(page), match[1]), "%s speaks of %q", file, match[1])
		}
	}
	columns := []string{"from_ref"}
	for _, e := range b.domain.Entities {
		columns = append(columns, e.Table)
		for _, c := range e.Columns {
			columns = append(columns, c.Name)
		}
	}
	named := regexp.MustCompile(`\b[a-z]+(?:_[a-z]+)+\b`)
	for _, sub := range b.domain.Subdomains {
		for _, name := range named.FindAllString(sub.Guidance+sub.Examples, -1) {
			require.Contains(t, columns, name, "the guidance of %s speaks of it", sub.Name)
		}
	}
	for _, e := range b.domain.Entities {
		for _, column := range append(e.Display.Columns(), e.Label.Columns()...) {
			exists := e.Column(column) != nil || e.Column(strings.TrimSuffix(strings.TrimPrefix(column, "_"), "_label")) != nil
			require.True(t, exists, "%s displays %s", e.Table, column)
		}
	}
}
