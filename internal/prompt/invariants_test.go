package prompt_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/testfactory"
	"alfred/nodes"
)

var stepTypes = []db.StepType{db.StepTypeRead, db.StepTypeAnalyze, db.StepTypeGenerate, db.StepTypeWrite}

// Think and every Act of a turn see the same past, whatever happens meanwhile: the history is compressed, a late
// summary is written, rows are read, relabelled and deleted.
func TestPastIsTheSameInThinkAndEveryAct(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := mealPlanning(t, b)
	b.exec(t, `UPDATE turns SET summarized_at = NULL WHERE session_id = $1 AND number = 2`, b.session)
	decideRejection(t, b, turn)
	for i, kind := range stepTypes[1:] {
		testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: i + 2, Type: kind})
	}
	think := b.think(t, turn).Frame

	for step := 1; step <= 4; step++ {
		later := time.Now()
		b.exec(t, `INSERT INTO history_summaries (session_id, kind, from_turn, to_turn, text, model, prompt_version, created_at)
			VALUES ($1, 'conversation', 1, $2, 'changed', 'm', $3, $4), ($1, 'narrative', 1, $2, 'changed', 'm', $3, $4)`, b.session, 1+step%2, strconv.Itoa(step), later)
		b.exec(t, `UPDATE turn_summaries SET response_summary = $2 WHERE session_id = $1 AND turn_number = 2`, b.session, fmt.Sprintf("bettered %d", step))
		b.exec(t, `UPDATE turns SET summarized_at = $2 WHERE session_id = $1 AND number = 2`, b.session, later)
		b.exec(t, `UPDATE entity_refs SET label = label || '!', turn_last_ref = 3 WHERE session_id = $1 AND ref <> 'inv_1'`, b.session)
		b.exec(t, `UPDATE entity_refs SET state = 'deleted', action = 'deleted', deleted_at_turn = 3 WHERE session_id = $1 AND ref = $2`, b.session, fmt.Sprintf("inv_%d", step))
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("recipe_%d", 20+step), Created: 3})
		testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: step, Type: "recipe", Rows: fmt.Sprintf(`[{"id": "recipe_%d", "name": "New"}]`, 20+step)})

		act := b.act(t, turn, step).Frame
		require.Equal(t, body(think, "## Conversation"), body(act, "## Conversation"))
		require.Equal(t, body(think, "## What Happened"), body(act, "## What Happened"))
	}
	require.NotContains(t, body(think, "## What Happened"), "bettered")
}

// Every Act prompt has the entity and conversation sections, whatever the step type; the others depend on it.
func TestActSectionsByStepType(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := mealPlanning(t, b)
	for i, kind := range stepTypes {
		testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: i + 1, Type: kind})
	}
	for i, kind := range stepTypes {
		f := b.act(t, turn, i+1).Frame
		for _, heading := range []string{"## Recent Context (last 2 turns)", "## Excluded (user rejected)", "## Conversation", "## What Happened", "## Current Step", "## Active Entities (Full Data)"} {
			require.NotEmpty(t, body(f, heading), "%s of a %s step", heading, kind)
		}
		require.Equal(t, kind != db.StepTypeAnalyze, strings.Contains(body(f, "## Schema"), "recipes (recipe)"), kind)
		require.Equal(t, kind != db.StepTypeRead, body(f, "## User Profile") != "", kind)
		require.Equal(t, kind != db.StepTypeRead, body(f, "## User Preferences") != "", kind)
	}
	schema := body(b.act(t, turn, 1).Frame, "## Schema")
	require.Contains(t, schema, "recipes (recipe)")
	require.Contains(t, schema, "recipe_ingredients (ri)")
	require.NotContains(t, schema, "inventory (inv)", "only the subdomain's tables and their children")
	require.NotContains(t, schema, "user_id")
}

// A first turn also has an entity section, so that nobody mistakes a count for a ref.
func TestFirstTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1, Message: "hi", Status: db.TurnStatusRunning})
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{})

	for _, f := range []nodes.Frame{b.understand(t, turn).Frame, b.think(t, turn).Frame, b.act(t, turn, 1).Frame} {
		require.Contains(t, text(f), "Nothing has a ref yet. What exists is found by name.\n</entity_context>")
	}
	reply := b.reply(t, turn)
	require.Contains(t, body(reply.Frame, "## Conversation Flow"), "first exchange")
	require.Empty(t, body(reply.Frame, "## Reply Guidance"))
}

// Each section appears at most once, each tag once and in order, none empty.
func TestSectionsStandOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := mealPlanning(t, b)
	decideRejection(t, b, turn)
	frames := map[string]nodes.Frame{
		"conversation_history entity_context current_task":                                                    b.understand(t, turn).Frame,
		"session_context conversation_history turn_narrative entity_context current_task":                     b.think(t, turn).Frame,
		"session_context conversation_history prior_turn_context entity_context step_context data_to_analyze": b.act(t, turn, 1).Frame,
		"conversation_history execution_results conversation_flow reply_guidance":                             b.reply(t, turn).Frame,
	}
	for tags, f := range frames {
		var got []string
		for _, block := range f.Blocks {
			got = append(got, block.Tag)
			require.Equal(t, 1, strings.Count(text(f), "<"+block.Tag+">"))
			require.Equal(t, 1, strings.Count(text(f), "</"+block.Tag+">"))
			for _, section := range block.Sections {
				require.NotEmpty(t, strings.TrimSpace(section.Body), section.Heading)
				if section.Heading != "" {
					require.Equal(t, 1, strings.Count(text(f), "\n"+section.Heading+"\n"), section.Heading)
				}
			}
		}
		require.Equal(t, tags, strings.Join(got, " "))
	}
}

// An entity's data appears once, merged by column, newest value first: a later list read hides nothing, an update of a
// child shows below its parent, a deleted child is gone.
func TestRowsAreMergedByColumn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Curry", LastRef: 2})
	for i := range 3 {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("ri_%d", i+1), LastRef: 2})
	}
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "ri_4", LastRef: 2, State: db.RefStateDeleted, Action: "deleted"})
	testfactory.StepResult(t, b.tx, first, testfactory.ResultOpts{Step: 1, Type: "recipe", Rows: `[{"id": "recipe_1", "name": "Curry", "servings": 2,
		"instructions": ["Fry.", "Simmer for a good while."], "recipe_ingredients": [
			{"id": "ri_1", "recipe_id": "recipe_1", "name": "rice", "quantity": 200, "unit": "g"},
			{"id": "ri_2", "recipe_id": "recipe_1", "name": "cod", "quantity": 1},
			{"id": "ri_4", "recipe_id": "recipe_1", "name": "salt"}]}]`})
	turn := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 2, Status: db.TurnStatusRunning})
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Type: db.StepTypeWrite})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 1, Type: "recipe", Rows: `[{"id": "recipe_1", "name": "Curry", "servings": 4}]`})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 2, Tool: "db_update", Type: "ri", Rows: `[{"id": "ri_2", "recipe_id": "recipe_1", "name": "tofu", "quantity": 1}]`})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 3, Tool: "db_create", Type: "ri", Rows: `[{"id": "ri_3", "recipe_id": "recipe_1", "name": "lime"}]`})

	in := b.act(t, turn, 1)
	data := body(in.Frame, "## Active Entities (Full Data)")
	require.Equal(t, 1, strings.Count(data, "| recipe_1 |"))
	require.Contains(t, data, "servings:4 |")
	require.Contains(t, data, "instructions:\n1. Fry.\n2. Simmer for a good while.")
	require.Contains(t, data, "- rice 200 g id:ri_1\n- tofu 1 id:ri_2\n- lime id:ri_3")
	require.NotContains(t, data, "cod")
	require.NotContains(t, data, "salt")
	require.NotContains(t, data, "| ri_", "children stand below their parent")
	require.Contains(t, text(in.Frame), "- recipe_1: Curry (recipe) [read:full]")
	require.NotContains(t, body(in.Frame, "## Step Results"), "tofu", "the table has the rows")
}

// Hidden columns, keys of any kind and identifiers never get through: a key column shows only registered refs.
func TestNoIdentifierReachesAPrompt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, foreign := uuid.NewString(), uuid.NewString()
	past := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{
		Number: 1, Message: fmt.Sprintf("see @[Curry](recipe:%s) and @[Theirs](recipe:%s) and %s", id, foreign, strings.ToUpper(foreign)), Reply: "It is " + id,
		Goal: "Look at " + id,
	})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Curry " + id, ID: id, LastRef: 2})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "meal_1", Label: "Jan 12 [lunch]", LastRef: 2})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "gen_recipe_1", Label: "Draft", LastRef: 2})
	testfactory.Artifact(t, b.tx, b.session, "gen_recipe_1", `{"name": "Draft `+id+`"}`)
	testfactory.Step(t, b.tx, past, testfactory.StepOpts{Outcome: new(db.StepOutcomeOk), Summary: "Read " + id, Description: id})
	testfactory.Summary(t, b.tx, past)
	turn := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 2, Message: "again @[Curry](recipe:" + id + ") " + id, Status: db.TurnStatusRunning, Goal: id})
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Type: db.StepTypeWrite, Description: "do " + id})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "meal", Rows: `[{"id": "meal_1", "date": "2026-01-12", "meal_type": "lunch", "recipe_id": "4711", "notes": "` + id + `", "user_id": "` + id + `"}]`})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 2, Tool: "db_analyze", Type: "meal", Params: `{"x": "` + id + `"}`, Rows: `[{"recipe_id": "4711", "count": 3}]`})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 3, Tool: "db_read", Type: "meal", Error: "no row " + id})
	b.exec(t, `INSERT INTO questions (session_id, turn_id, kind, payload) VALUES ($1, $2, 'clarify', jsonb_build_object('text', 'Which of ' || $3::text || '?'))`, b.session, past.ID, id)
	b.exec(t, `INSERT INTO constraints (user_id, session_id, text, kind, value, source_turn) VALUES ($1, $2, $3, 'other', to_jsonb($3::text), 1)`, b.user, b.session, "not "+id)

	frames := []nodes.Frame{b.understand(t, turn).Frame, b.think(t, turn).Frame, b.act(t, turn, 1).Frame, b.reply(t, turn).Frame}
	for _, f := range frames {
		require.NotContains(t, strings.ToLower(text(f)+f.Persona), id)
		require.NotContains(t, strings.ToLower(text(f)), foreign)
		require.NotContains(t, text(f), "4711")
		require.NotContains(t, text(f), "](recipe:")
	}
	require.Contains(t, body(frames[1], "## Conversation"), "see Curry (recipe_1) and Theirs and [id]")
	require.Contains(t, body(frames[3], "## Conversation"), "see Curry and Theirs and [id]", "no refs for the one who writes to the user")
	require.Contains(t, body(frames[2], "## Step Results"), `"recipe_id":"[id]"`)
	require.NotContains(t, b.reply(t, turn).Fallback, id)
}
