package prompt_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/dbtest"
	"alfred/internal/prompt"
	"alfred/internal/testfactory"
	"alfred/internal/view"
	"alfred/nodes"
)

// running is the session's current turn with one step of this type.
func (b *testBundle) running(t *testing.T, number int, message string, kind db.StepType) *db.Turns {
	t.Helper()
	b.exec(t, `UPDATE turns SET status = 'succeeded', reply = 'ok', replied_at = started_at, summarized_at = started_at, finished_at = started_at
		WHERE session_id = $1 AND status = 'running'`, b.session)
	turn := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: number, Message: message, Status: db.TurnStatusRunning})
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Type: kind})

	return turn
}

// Tiers: linked, demoted and deleted refs are in no list but resolve; what is older than the window appears only with a
// reason.
func TestTiersInPrompts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, o := range []testfactory.RefOpts{
		{Ref: "recipe_1", Label: "Linked", Action: "linked", LastRef: 9},
		{Ref: "recipe_2", Label: "Demoted", LastRef: 9, Demoted: 9},
		{Ref: "recipe_3", Label: "Kept", LastRef: 1, Retained: "part of the plan"},
		{Ref: "recipe_4", Label: "Old", LastRef: 1},
		{Ref: "recipe_5", Label: "Rejected", LastRef: 9, Excluded: "too spicy"},
		{Ref: "recipe_6", Label: "Edge", LastRef: 8},
		{Ref: "recipe_7", Label: "By hand", LastRef: 9, Action: "created:user"},
		{Ref: "recipe_8", Label: "Deleted now", LastRef: 10, State: db.RefStateDeleted, Action: "deleted"},
		{Ref: "recipe_9", Label: "Deleted long ago", LastRef: 5, State: db.RefStateDeleted, Action: "deleted"},
	} {
		testfactory.Ref(t, b.tx, b.session, o)
	}
	b.exec(t, `UPDATE entity_refs SET deleted_at_turn = turn_last_ref WHERE session_id = $1 AND state = 'deleted'`, b.session)
	require.Len(t, b.think(t, b.running(t, 10, "hello", db.StepTypeAnalyze)).Refs, 4, "what no prompt shows cannot be named")
	b.exec(t, `DELETE FROM turns WHERE session_id = $1`, b.session)
	turn := b.running(t, 10, "hello recipe_1 recipe_2 (recipe_4), recipe_8+recipe_9 and my_recipe_10", db.StepTypeAnalyze)

	think := b.think(t, turn)
	require.Equal(t, "Not loaded: read before analyzing.\n- recipe_6: Edge (recipe) [read:summary]\n- recipe_7: By hand (recipe) [created:user]", body(think.Frame, "## Recent Context (last 2 turns)"))
	require.Equal(t, "- recipe_3: Kept (recipe, turn 1) [read:summary] — *part of the plan*", body(think.Frame, "## Long Term Memory (retained from earlier)"))
	require.Equal(t, "- recipe_5: Rejected (recipe) [read:summary] — *too spicy*", body(think.Frame, "## Excluded (user rejected)"))
	require.Equal(t, "recipe_6, recipe_7, recipe_3", body(think.Frame, "## Viable for planning"))
	for _, ref := range []string{"recipe_1", "recipe_2", "recipe_4", "recipe_8"} {
		require.NotContains(t, text(think.Frame), ref+":")
		require.Contains(t, think.Refs, ref)
	}
	require.True(t, think.Refs["recipe_8"].Deleted)
	require.NotContains(t, think.Refs, "recipe_9", "a deleted ref resolves until its turn ends")

	known := body(b.understand(t, turn).Frame, "## All Known Entities")
	require.Contains(t, known, "recipe_6: Edge (recipe) [read:summary] created turn 1, last turn 8 — not mentioned for 2 turns, at risk")
	require.Contains(t, known, "recipe_4: Old")
	named := body(b.understand(t, b.running(t, 11, "bring the linked one back, and demoted", db.StepTypeRead)).Frame, "## All Known Entities")
	require.Contains(t, named, "**Named in the message**\n- recipe_1: Linked (recipe) [linked]")
	require.Contains(t, named, "recipe_2: Demoted (recipe) [read:summary] created turn 1, last turn 9, demoted")
	for i, message := range []string{"change Linked's name", "change linked’s name"} {
		named = body(b.understand(t, b.running(t, 12+i, message, db.StepTypeRead)).Frame, "## All Known Entities")
		require.Contains(t, named, "**Named in the message**\n- recipe_1: Linked (recipe) [linked]", message)
	}
}

// A summary that arrives late, while the next turn is running, contains nothing of that turn.
func TestLateSummaryKnowsItsTurnOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := b.running(t, 3, "what is on my list?", db.StepTypeRead)
	b.exec(t, `UPDATE turns SET status = 'succeeded', reply = 'Milk.', replied_at = started_at, finished_at = started_at WHERE id = $1`, turn.ID)
	b.running(t, 4, "draft a curry", db.StepTypeGenerate)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "gen_recipe_1", Label: "Thai Curry", Created: 4, LastRef: 4})
	testfactory.Artifact(t, b.tx, b.session, "gen_recipe_1", `{"name": "Thai Curry"}`)

	summarize := b.summarize(t, turn)
	require.NotContains(t, text(summarize.Frame), "Thai Curry")
	require.Empty(t, summarize.Fallback.NaturalNext)
}

// A draft untouched for several turns is in every node's view; the reply shows all of it when it is mentioned.
func TestDraftsNeverAgeOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "gen_recipe_1", Label: "Thai Curry", LastRef: 1, Retained: "ongoing"})
	testfactory.Artifact(t, b.tx, b.session, "gen_recipe_1", `{"name": "Thai Curry", "recipe_ingredients": [{"name": "lime", "quantity": 1}]}`)
	turn := b.running(t, 9, "show me the draft", db.StepTypeRead)

	require.Contains(t, body(b.understand(t, turn).Frame, "## All Known Entities"), `{"name":"Thai Curry","recipe_ingredients":[{"name":"lime","quantity":1}]}`)
	require.Equal(t, "- gen_recipe_1: Thai Curry (recipe) [needs save] — *ongoing*", body(b.think(t, turn).Frame, "## Generated (NOT YET SAVED)"))
	require.Contains(t, body(b.act(t, turn, 1).Frame, "## Generated (NOT YET SAVED)"), `"quantity":1`)
	reply := b.reply(t, turn).Frame
	require.Contains(t, body(reply, "## Execution Results"), "Not saved (drafts): Thai Curry (recipe)")
	require.NotContains(t, text(reply), "lime")

	for _, touched := range []int{9, 10} { // by the turn, or by it and then by the user, whose changes count for the next turn
		b.exec(t, `UPDATE entity_refs SET turn_last_ref = $2 WHERE session_id = $1`, b.session, touched)
		in := b.reply(t, turn)
		require.Contains(t, body(in.Frame, "## Execution Results"), "Draft of Thai Curry, not saved:\n"+`{"name":"Thai Curry","recipe_ingredients":[{"name":"lime","quantity":1}]}`)
		require.NotContains(t, text(in.Frame), "gen_recipe_1")
		require.Contains(t, in.Fallback, "Drafted, not saved yet: Thai Curry.")
	}
}

// Saved this turn, first seen this turn and recent are three disjoint lists.
func TestActGroupsThisTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "gen_recipe_1", Label: "Saved", State: db.RefStatePromoted, Action: "created", Created: 2, LastRef: 3, Promoted: 3})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "New", Created: 3})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_2", Label: "Before", Created: 2})
	f := b.act(t, b.running(t, 3, "save it", db.StepTypeWrite), 1).Frame

	require.Equal(t, "- gen_recipe_1: Saved (recipe) [created]", body(f, "## Just Saved This Turn"))
	require.Equal(t, "- recipe_1: New (recipe) [read:summary]", body(f, "## This Turn"))
	require.Equal(t, "Not loaded: read before analyzing.\n- recipe_2: Before (recipe) [read:summary]", body(f, "## Recent Context (last 2 turns)"))
}

// Failed and cancelled turns are part of the conversation, have no summary, and
// count for windows.
func TestTurnsWithoutReply(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1, Reply: "first"})
	testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 2, Status: db.TurnStatusFailed, Error: "The model was not available."})
	testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 3, Status: db.TurnStatusCancelled})
	testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 4, Reply: "fourth"})
	f := b.think(t, b.running(t, 5, "go on", db.StepTypeRead)).Frame

	require.Equal(t, "[Turn 1] User: message 1\nAlfred: first\n\n[Turn 2] User: message 2\nAlfred (failed): The model was not available.\n\n"+
		"[Turn 3] User: message 3\nAlfred (cancelled):\n\n[Turn 4] User: message 4\nAlfred: fourth", body(f, "## Conversation"))
	require.NotContains(t, body(f, "## What Happened"), "### Turn 3")
}

// From turn to turn the conversation only grows at its end; every few turns, when older ones are compressed, it begins
// anew.
func TestConversationGrowsAtItsEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before, kept := "", 0
	for n := 1; n <= 16; n++ {
		turn := b.running(t, n, fmt.Sprintf("message %d", n), db.StepTypeRead)
		now := body(b.think(t, turn).Frame, "## Conversation")
		if strings.HasPrefix(now, before) {
			kept++
		}
		before = now
		b.exec(t, `UPDATE turns SET status = 'succeeded', reply = 'reply ' || number, replied_at = started_at, summarized_at = started_at, finished_at = started_at + interval '30 s' WHERE id = $1`, turn.ID)
		if (n-3)%4 == 0 && n > 3 {
			b.exec(t, `INSERT INTO history_summaries (session_id, kind, from_turn, to_turn, text, model, prompt_version, created_at) VALUES ($1, 'conversation', 1, $2, 'In short.', 'm', '1', $3)`,
				b.session, n-3, testfactory.Epoch())
		}
	}
	require.Equal(t, 13, kept, "all but those after turns 7, 11 and 15")
}

// The newest covering text replaces what it covers; a turn outside the window that nothing covers yet is one line.
func TestEarlierTurns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for n := 1; n <= 11; n++ {
		testfactory.Summary(t, b.tx, testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: n}))
	}
	for _, to := range []int{2, 4} {
		b.exec(t, `INSERT INTO history_summaries (session_id, kind, from_turn, to_turn, text, model, prompt_version, created_at) VALUES ($1, 'conversation', 1, $2, $3, 'm', '1', $4)`,
			b.session, to, fmt.Sprintf("Turns up to %d in short.", to), testfactory.Epoch())
	}
	f := b.think(t, b.running(t, 12, "go on", db.StepTypeRead)).Frame
	_, earlier, _ := strings.Cut(body(f, "## Conversation"), "### Earlier\n")
	earlier, full, _ := strings.Cut(earlier, "\n\n### Since then\n")

	require.Equal(t, "Turns up to 4 in short.\nTurn 5: \"message 5\" → reply 5\nTurn 6: \"message 6\" → reply 6\nTurn 7: \"message 7\" → reply 7\nTurn 8: \"message 8\" → reply 8", earlier)
	require.True(t, strings.HasPrefix(full, "[Turn 9] User: message 9"), "three turns stay in full")
	require.NotContains(t, body(f, "## What Happened"), "message 5", "what was said is told once")

	cfg := prompt.DefaultConfig()
	cfg.CompressOlder = false
	b.loader, b.prompts = view.NewLoader(b.domain, cfg.Windows), prompt.New(b.domain, cfg)
	f = b.think(t, b.running(t, 13, "go on", db.StepTypeRead)).Frame
	_, earlier, _ = strings.Cut(body(f, "## Conversation"), "### Earlier\n")
	require.True(t, strings.HasPrefix(earlier, "Turn 1: \"message 1\" → reply 1\nTurn 2:"), "a line for each turn where none are compressed")
}

// Date, weekday and time are those of the user's time zone.
func TestTodayIsTheUsersDay(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string]string{
		"UTC":              "Today: 2026-01-13 (Tuesday), 11:01 UTC\nNext days: ",
		"Pacific/Auckland": "Today: 2026-01-14 (Wednesday), 00:01 in Pacific/Auckland (+13:00). Rows show local times; write local times, without an offset.\nNext days: ",
	} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.exec(t, `UPDATE users SET timezone = $2 WHERE id = $1`, b.user, zone)
			turn := b.running(t, 1, "hi", db.StepTypeRead)
			require.Contains(t, body(b.think(t, turn).Frame, "## Current Task"), want)
			require.Contains(t, body(b.understand(t, turn).Frame, "## Current Message"), want)
			require.Contains(t, body(b.act(t, turn, 1).Frame, "## Current Step"), want)
			var after string
			require.NoError(t, b.tx.QueryRow(t.Context(), `SELECT current_setting('TimeZone') || current_user`).Scan(&after))
			require.NotContains(t, after, "Auckland", "the zone and the tenant's role end with the queries that need them")
			require.NotContains(t, after, "alfred_tenant")
		})
	}
}

// Whoever asked, Understand and Think see the question; Think sees it answered.
func TestOpenQuestion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Butter Chicken"})
	past := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1})
	b.exec(t, `INSERT INTO questions (session_id, turn_id, kind, payload) VALUES ($1, $2, 'disambiguate',
		'{"text": "Which one?", "options": [{"label": "Butter Chicken", "ref": "recipe_1"}, {"label": "another"}]}')`, b.session, past.ID)

	reply := b.reply(t, past).Frame
	require.Equal(t, "Kind: disambiguate. Ask exactly this:\nWhich one?\n- Butter Chicken\n- another", body(reply, "## Open Question"))
	require.Equal(t, "Which one?\n1. Butter Chicken\n2. another", b.reply(t, past).Fallback)

	turn := b.running(t, 2, "the first", db.StepTypeRead)
	understand := b.understand(t, turn)
	require.True(t, understand.HasQuestion)
	want := "asked in turn 1\nWhich one?\n- Butter Chicken (recipe_1)\n- another"
	require.Equal(t, "Kind: disambiguate, "+want, body(understand.Frame, "## Open Question"))

	b.exec(t, `UPDATE questions SET status = 'answered', answered_by_turn = 2 WHERE session_id = $1`, b.session)
	require.False(t, b.understand(t, turn).HasQuestion)
	require.Equal(t, "Kind: disambiguate, "+strings.Replace(want, "1\n", "1, answered by the current message\n", 1), body(b.think(t, turn).Frame, "## Open Question"))
	require.Empty(t, body(b.think(t, b.running(t, 3, "more", db.StepTypeRead)).Frame, "## Open Question"))

	b.exec(t, `UPDATE questions SET status = 'open', answered_by_turn = NULL, kind = 'approve' WHERE session_id = $1`, b.session)
	require.Contains(t, body(b.understand(t, turn).Frame, "## Open Question"), "code does this: `confirm` needs no plan", "code does what was agreed to")
	b.exec(t, `UPDATE questions SET payload = payload || '{"rest": [{"description": "Send it to the office"}]}' WHERE session_id = $1`, b.session)
	require.Contains(t, body(b.understand(t, turn).Frame, "## Open Question"), "then what waits for it (Send it to the office): `confirm` needs no plan. After a no, what waits is planned, if it is still wanted.")
}

// A replan says what is done and what prevented the rest.
func TestReplan(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := b.running(t, 1, "plan", db.StepTypeRead)
	b.exec(t, `UPDATE turn_steps SET outcome = 'failed', summary = 'nothing fits' WHERE turn_id = $1`, turn.ID)
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 2, Outcome: new(db.StepOutcomeSkipped)})
	testfactory.Run(t, b.tx, turn, 1, "think", 0, `{}`)
	testfactory.Run(t, b.tx, turn, 2, "act", 1, `{"blocked": {"code": "plan_invalid", "details": "there are no rows", "next": "replan"}}`)
	in := b.think(t, turn)
	require.Contains(t, body(in.Frame, "## Current Task"), "- Step 1 (read, recipes) step 1: failed. nothing fits\n- Step 2 (read, recipes) step 2: skipped\nBlocked: plan_invalid: there are no rows")

	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 3})
	require.Contains(t, body(b.act(t, turn, 3).Frame, "## Current Step"), "Step 2 of 2")

	results := func() string { return body(b.reply(t, turn).Frame, "## Execution Results") }
	testfactory.Run(t, b.tx, turn, 3, "think", 0, `{}`)
	testfactory.Run(t, b.tx, turn, 4, "act", 3, `{"step_complete": {"summary": "read"}}`)
	require.Contains(t, results(), "Outcome: not done\n")
	b.exec(t, `UPDATE turn_steps SET outcome = 'ok', summary = 'read' WHERE turn_id = $1 AND step = 3`, turn.ID)
	require.Contains(t, results(), "Outcome: done\n", "the second plan did what the first could not")
	require.NotContains(t, results(), "Blocked:")
	b.exec(t, `UPDATE turn_steps SET step_type = 'write' WHERE turn_id = $1 AND step = 2`, turn.ID)
	require.Contains(t, results(), "Outcome: done in part\n", "nothing was written")
	b.exec(t, `UPDATE turn_steps SET step_type = 'write' WHERE turn_id = $1`, turn.ID)
	require.Contains(t, results(), "Outcome: done in part\n", "one of two was written")
	b.exec(t, `UPDATE turn_steps SET outcome = 'ok' WHERE turn_id = $1 AND step = 2`, turn.ID)
	require.Contains(t, results(), "Outcome: done\n- step 2 (write): ok", "what was done before the new plan is told, such as an undo, of which only its step tells")
}

// A step that wrote something and then asks or fails has done a part.
func TestOutcomeOfAStepThatWroteAndStopped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := b.running(t, 1, "two things", db.StepTypeWrite)
	b.exec(t, `UPDATE turn_steps SET outcome = 'partial' WHERE turn_id = $1`, turn.ID)
	results := func() string { return body(b.reply(t, turn).Frame, "## Execution Results") }
	require.Contains(t, results(), "Outcome: not done\n")
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "inv_1"})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Tool: "db_update", Type: "inv", Rows: `[{"id": "inv_1", "name": "Milk"}]`})
	require.Contains(t, results(), "Outcome: done in part\n")
}

// Act is told that a row was changed or deleted by somebody else.
func TestStaleRows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var kept, changed, gone, version string
	for name, id := range map[string]*string{"Kept": &kept, "Changed": &changed, "Gone": &gone} {
		require.NoError(t, b.tx.QueryRow(t.Context(), `INSERT INTO kitchen.tasks (user_id, title) VALUES ($1, $2) RETURNING id::text, xmin::text`, b.user, name).Scan(id, &version))
	}
	past := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1})
	for i, id := range []string{kept, changed, gone} {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("task_%d", i+1), ID: id, Label: "Task"})
	}
	testfactory.StepResult(t, b.tx, past, testfactory.ResultOpts{Step: 1, Type: "task", Rows: `[{"id": "task_1", "title": "a"}, {"id": "task_2", "title": "b"}, {"id": "task_3", "title": "c"}]`})
	b.exec(t, `UPDATE entity_refs SET row_version = CASE ref WHEN 'task_2' THEN '1' ELSE $2 END WHERE session_id = $1`, b.session, version)
	b.exec(t, `DELETE FROM kitchen.tasks WHERE id::text = $1`, gone)

	f := b.act(t, b.running(t, 2, "go", db.StepTypeAnalyze), 1).Frame
	require.Contains(t, text(f), "Not loaded: read before analyzing.\n- task_2: Task (task) [read] [changed]\n"+
		"Deleted since they were read:\n- task_3: Task (task) [read] [gone]")
	require.Contains(t, text(f), "| task_3 | Task | task [gone] |")
}

// What the user rejected and the turn has read anew is marked where it stands among the rows to choose from.
func TestRejectedRowsAreMarkedWhereTheyAreRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := b.running(t, 1, "draft a meal", db.StepTypeRead)
	for i, reason := range []string{"", "too spicy"} {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("recipe_%d", i+1), Label: "Soup"})
		b.exec(t, `UPDATE entity_refs SET excluded_reason = nullif($3, '') WHERE session_id = $1 AND ref = $2`, b.session, fmt.Sprintf("recipe_%d", i+1), reason)
	}
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "recipe", Rows: `[{"id": "recipe_1", "name": "Soup"}, {"id": "recipe_2", "name": "Soup"}]`})
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 2, Type: db.StepTypeGenerate, Subdomain: "meal_plans", Description: "Draft it"})
	shown := text(b.act(t, turn, 2).Frame)
	require.Contains(t, shown, "| recipe_1 | Soup | recipe |")
	require.Contains(t, shown, "| recipe_2 | Soup | recipe [excluded] |")
}

// The preview of the coming turn equals its actual prompt, except for the message.
func TestPreview(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mealPlanning(t, b)
	b.exec(t, `UPDATE turns SET status = 'succeeded', reply = 'ok', replied_at = started_at, summarized_at = started_at, finished_at = started_at WHERE session_id = $1 AND number = 3`, b.session)
	for _, node := range []string{"understand", "think", "act", "reply", "summarize"} {
		f, err := b.preview(t, node)
		require.NoError(t, err)
		require.NotEmpty(t, f.Blocks, node)
	}
	f, err := b.preview(t, "think")
	require.NoError(t, err)
	require.Contains(t, body(f, "## Conversation"), "[Turn 3, 2026-01-13 (Tuesday)] User: lets not do")
	_, err = b.preview(t, "dream")
	require.Error(t, err)
}

// Every item of a prompt has one of the reasons that the table allows, and a section that is in the prompt.
func TestItemsSayWhy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := mealPlanning(t, b)
	decideRejection(t, b, turn)
	reasons := map[string]bool{}
	for _, f := range []nodes.Frame{b.understand(t, turn).Frame, b.think(t, turn).Frame, b.act(t, turn, 1).Frame, b.reply(t, turn).Frame} {
		require.NotEmpty(t, f.Items)
		for _, item := range f.Items {
			reasons[item.Reason] = true
			require.Contains(t, text(f), item.Section)
		}
	}
	var items [][]any
	for reason := range reasons {
		items = append(items, []any{"s", reason, ":1"})
	}
	call := insertCall(t, b, turn)
	b.exec(t, `UPDATE llm_calls SET context = $2 WHERE id = $1`, call, items)
	var kept int
	require.NoError(t, b.tx.QueryRow(t.Context(), `SELECT count(DISTINCT reason) FROM context_items WHERE llm_call_id = $1`, call).Scan(&kept))
	require.Equal(t, len(reasons), kept)
	require.Subset(t, keys(reasons), []string{"recent", "excluded", "current", "window", "constraint", "profile", "snapshot"})
	_, err := b.tx.Exec(t.Context(), `UPDATE llm_calls SET context = '[["s", "whim", ":1"]]' WHERE id = $1`, call)
	require.ErrorContains(t, err, "llm_calls_reasons_known")
}

// Items are stored in groups; programs of the previous version stored them one by one.
func TestItemsOfBothForms(t *testing.T) {
	t.Parallel()
	b := setup(t)
	call := insertCall(t, b, mealPlanning(t, b))
	for _, stored := range []string{
		`[["Snapshot", "snapshot", ":5"], ["Recent", "recent", "2:7:recipe_1, 3:8:recipe_2"]]`,
		`[["Snapshot", null, null, "snapshot", 5], ["Recent", "recipe_1", 2, "recent", 7], ["Recent", "recipe_2", 3, "recent", 8]]`,
	} {
		b.exec(t, `UPDATE llm_calls SET context = $2::jsonb WHERE id = $1`, call, stored)
		rows, err := b.tx.Query(t.Context(), `SELECT concat_ws(' ', position, section, ref, turn_number, reason, tokens) FROM context_items WHERE llm_call_id = $1 ORDER BY position`, call)
		require.NoError(t, err)
		items, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.Equal(t, []string{"1 Snapshot snapshot 5", "2 Recent recipe_1 2 recent 7", "3 Recent recipe_2 3 recent 8"}, items)
	}
}

func keys(set map[string]bool) []string {
	var list []string
	for key := range set {
		list = append(list, key)
	}

	return list
}

// The reply's facts distinguish saved from failed, without refs.
func TestReplyTellsFacts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "shop_1", Label: "Milk", Action: "created"})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "meal_1", Label: "Jan 12 [lunch]"})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Butter Chicken", Action: "linked"})
	turn := b.running(t, 1, "add milk", db.StepTypeWrite)
	b.exec(t, `UPDATE turn_steps SET outcome = 'partial', summary = 'Added shop_1, not the rest.' WHERE turn_id = $1`, turn.ID)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Tool: "db_create", Type: "shop", Rows: `[{"id": "shop_1", "name": "Milk", "quantity": 2, "unit": "l"}]`})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 2, Tool: "db_create", Type: "shop", Error: "SQLSTATE 23505 on shop_1"})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 3, Type: "meal", Rows: `[{"id": "meal_1", "date": "2026-01-12", "meal_type": "lunch", "recipe_id": "recipe_1", "_recipe_id_label": "Butter Chicken", "servings": 2}]`})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 4, Type: "inv"})

	in := b.reply(t, turn)
	facts := body(in.Frame, "## Execution Results")
	require.Contains(t, facts, "Outcome: done in part")
	require.Contains(t, facts, "partial. Added Milk, not the rest.")
	require.Contains(t, facts, "Saved in this turn: Milk")
	require.Contains(t, facts, "- 2026-01-12 (Mon) [lunch] → Butter Chicken servings:2")
	require.Contains(t, facts, "Found: There is nothing in your pantry yet.")
	require.Contains(t, facts, "(1 attempt failed on the way)")
	require.NotContains(t, text(in.Frame), "SQLSTATE")
	require.Equal(t, "Saved 1 shopping item:\n- Milk (2 l)\n\nFound 1 planned meal:\n- Mon 12 Jan, lunch: Butter Chicken for 2\n\nThere is nothing in your pantry yet.\n\nThis is done only in part: step 1.", in.Fallback)
}

// A step saves each draft with a call of its own, and what it saved is told in one line.
func TestWhatAStepSavesIsToldInOneLine(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := b.running(t, 1, "save both", db.StepTypeWrite)
	b.exec(t, `UPDATE turn_steps SET outcome = 'ok', summary = 'Saved.' WHERE turn_id = $1`, turn.ID)
	for i, name := range []string{"Milk", "Eggs"} {
		ref := "shop_" + strconv.Itoa(i+1)
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: ref, Label: name, Action: "created"})
		testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: i + 1, Tool: "db_create", Type: "shop", Rows: `[{"id": "` + ref + `", "name": "` + name + `"}]`})
	}
	require.Equal(t, "Saved 2 shopping items:\n- Milk\n- Eggs", b.reply(t, turn).Fallback)
}

// A quick lookup is answered from its rows.
func TestQuickReply(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "inv_1", Label: "Eggs"})
	turn := b.running(t, 1, "what is in the fridge", db.StepTypeRead)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "inv", Rows: `[{"id": "inv_1", "name": "Eggs", "quantity": 12, "unit": "count", "location": "fridge"}]`})
	said := b.prompts.QuickReply(b.view(t, b.tx, turn))
	require.Equal(t, "Found 1 pantry item:\n- Eggs (12), fridge", said)
}

// insertCall records a model call, so that items have something to belong to.
func insertCall(t *testing.T, b *testBundle, turn *db.Turns) (id [16]byte) {
	t.Helper()
	require.NoError(t, b.tx.QueryRow(t.Context(), `INSERT INTO llm_calls (session_id, turn_id, node, provider, model, request, response) VALUES ($1, $2, 'think', 'p', 'm', '{}', $3) RETURNING id`,
		b.session, turn.ID, json.RawMessage(`{}`)).Scan(&id))

	return id
}

// What Understand looked up is in both Think and Act, with its rows loaded.
func TestRecalled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Butter Chicken", LastRef: 9})
	turn := b.running(t, 9, "what was the budget?", db.StepTypeAnalyze)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 0, Tool: "recall", Params: `{"query": "budget"}`, Rows: `[
		{"type": "turn", "turn": 2, "message": "at most 30 euros", "reply": "Noted.", "summary": "Noted.", "_notice": "by words alone"}, {"type": "recipe", "id": "recipe_1", "name": "Butter Chicken"}]`})

	think, act := b.think(t, turn), b.act(t, turn, 1).Frame
	want := "### This turn\n- Recalled: turn 2; message: \"at most 30 euros\"; reply: \"Noted.\"\n- Recalled: recipe_1 (recipe)"
	require.Equal(t, want, body(think.Frame, "## What Happened"))
	require.Equal(t, want, body(act, "## What Happened"))
	require.NotContains(t, think.Refs["recipe_1"].Loaded, "summary", "V06: a name is not the row")
	require.Contains(t, body(act, "## Active Entities (Full Data)"), "| recipe_1 | Butter Chicken | recipe |")
	require.Empty(t, body(act, "## Step Results"))
}

// The snapshot counts what exists now; if a query fails, its section says so and the turn continues.
func TestSnapshotIsFreshAndMayFail(t *testing.T) {
	t.Parallel()
	b := setupIn(t, dbtest.OwnTx(t))
	turn := b.running(t, 1, "hi", db.StepTypeWrite)
	b.exec(t, `INSERT INTO kitchen.tasks (user_id, title) VALUES ($1, 'Buy groceries')`, b.user)
	require.Contains(t, body(b.think(t, turn).Frame, "## Snapshot"), "- **Tasks:** 1 pending")

	other := testfactory.User(t, b.tx, "")
	b.exec(t, `INSERT INTO kitchen.tasks (user_id, title) VALUES ($1, 'Theirs')`, other)
	require.Contains(t, body(b.think(t, turn).Frame, "## Snapshot"), "- **Tasks:** 1 pending", "another user's rows are not counted")

	b.exec(t, `ALTER TABLE kitchen.tasks RENAME completed TO done`)
	f := b.think(t, turn).Frame
	require.Equal(t, "(could not be read just now)", body(f, "## Snapshot"))
	require.NotEmpty(t, body(f, "## Current Task"))
}

// Rows without long texts have parts all the same, which a summary does not show: a planner is told which rows lack them.
func TestSummariesWithoutTextsLackParts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.domain = testfactory.OwnKitchen(t)
	delete(b.domain.ByType("recipe").Sets, "text")
	b.prompts, b.loader = prompt.New(b.domain, prompt.DefaultConfig()), view.NewLoader(b.domain, prompt.DefaultConfig().Windows)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Curry", Created: 1})
	f := b.think(t, b.running(t, 2, "what is in it?", db.StepTypeRead)).Frame
	require.Contains(t, body(f, "## Recent Context (last 2 turns)"), "- recipe_1: Curry (recipe) [read:summary]")
}
