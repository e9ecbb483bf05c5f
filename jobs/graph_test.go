package jobs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
)

func TestAfterUnderstand(t *testing.T) {
	t.Parallel()

	disambiguation := &nodes.Disambiguation{Question: "Which?", Options: []string{"recipe_1", "recipe_9"}}
	tests := map[string]struct {
		out  nodes.UnderstandOutput
		in   understood
		next string
		ask  string
		plan []string
	}{
		"approval":                    {nodes.UnderstandOutput{Intent: "confirm"}, understood{approved: []nodes.Step{{Type: "write"}}}, vocab.NodeAct, "", []string{"write"}},
		"clarification":               {nodes.UnderstandOutput{Clarification: &nodes.Clarification{Questions: []string{"a?", "b?"}}}, understood{}, vocab.NodeReply, vocab.AskClarify, nil},
		"disambiguation":              {nodes.UnderstandOutput{Disambiguation: disambiguation}, understood{}, vocab.NodeReply, vocab.AskDisambiguate, nil},
		"disambiguation before quick": {nodes.UnderstandOutput{Disambiguation: disambiguation, Quick: &nodes.Quick{}}, understood{quick: &nodes.Step{Type: "read"}}, vocab.NodeReply, vocab.AskDisambiguate, nil},
		"plan":                        {nodes.UnderstandOutput{Intent: "write"}, understood{}, vocab.NodeThink, "", nil},
		"quick":                       {nodes.UnderstandOutput{Quick: &nodes.Quick{EntityType: "inv"}}, understood{quick: &nodes.Step{Type: "read"}}, vocab.NodeAct, "", []string{"read"}},
		"quick without a subdomain":   {nodes.UnderstandOutput{Quick: &nodes.Quick{EntityType: "x"}}, understood{}, vocab.NodeThink, "", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			checkMove(t, afterUnderstand(&test.out, test.in), test.next, test.ask, test.plan)
		})
	}
}

// V06: the planner has not seen what code reads before a change, so its calls are not carried out.
func TestV06ACallOnWhatIsReadFirstIsDecidedByAct(t *testing.T) {
	t.Parallel()

	call := func(ref string) nodes.Step {
		return nodes.Step{Type: "write", Subdomain: "inventory", Calls: []json.RawMessage{json.RawMessage(fmt.Sprintf(
			`{"step": 1, "tool": "db_update", "table": "inventory", "filters": [{"field": "id", "op": "=", "value": %q}], "set": [{"column": "quantity", "value": 2}]}`, ref))}}
	}
	in := thought{
		refs:   nodes.Refs{"inv_1": {Type: "inv", Label: "flour"}, "inv_2": {Type: "inv", Loaded: []string{"summary"}}},
		domain: domain.New(domain.Domain{Entities: []*domain.Entity{{Type: "inv", Table: "inventory"}}}),
	}
	unseen, seen := withReads([]nodes.Step{call("inv_1")}, in), withReads([]nodes.Step{call("inv_2")}, in)
	require.Len(t, unseen, 2)
	require.Equal(t, []string{"inv_1"}, unseen[0].Refs)
	require.Empty(t, unseen[1].Calls)
	require.Len(t, seen, 1)
	require.NotEmpty(t, seen[0].Calls)
}

// An option that says no does so in any language, and a word that begins like one does not.
func TestOptionsThatSayNo(t *testing.T) {
	t.Parallel()

	for label, no := range map[string]bool{
		"No": true, "No thanks": true, "No, thank you.": true, "no - keep it": true, "Nein, danke": true, "Non, garde-les": true, "不，谢谢": true, "Нет": true,
		"No onions": false, "No-bake cake": false, "Non-dairy": false, "None": false, "Nona's soup": false, "Cancel": false, "Yes": false,
	} {
		require.Equal(t, no, optionID(label, nil) == optionNo, label)
	}
}

func TestAfterThink(t *testing.T) {
	t.Parallel()

	refs := nodes.Refs{
		"gen_recipe_1": {Type: "recipe", Pending: true}, "inv_1": {Type: "inv"}, "recipe_1": {Type: "recipe", Loaded: []string{"summary", "text", "rows"}}, "recipe_2": {Type: "recipe"},
		"recipe_3": {Type: "recipe", Label: "🍲 Beef Stew", Loaded: []string{"summary"}}, "recipe_4": {Type: "recipe", Gone: true},
	}
	changing := func(field, value string) nodes.Step {
		return nodes.Step{Type: "write", Subdomain: "inventory", Description: "Change it.", Calls: []json.RawMessage{json.RawMessage(fmt.Sprintf(
			`{"step": 1, "tool": "db_update", "table": "inventory", "filters": [{"field": %q, "op": "=", "value": %q}], "set": [{"column": "quantity", "value": 2}]}`, field, value))}}
	}
	inTable := func(table string, s nodes.Step) nodes.Step {
		s.Calls[0] = bytes.Replace(s.Calls[0], []byte(`"inventory"`), []byte(strconv.Quote(table)), 1)

		return s
	}
	looking := nodes.Step{Type: "read", Subdomain: "inventory", Description: "Read it.", Calls: []json.RawMessage{json.RawMessage(`{"step": 1, "tool": "db_read", "table": "inventory"}`)}}
	step := func(kind, needs string, named ...string) nodes.Step {
		return nodes.Step{Type: kind, Subdomain: "recipes", Description: kind + " it.", Needs: needs, Refs: named}
	}
	pantry := domain.New(domain.Domain{
		Entities:   []*domain.Entity{{Type: "recipe", Table: "recipes"}, {Type: "inv", Table: "invs"}},
		Subdomains: []*domain.Subdomain{{Name: "recipes", Tables: []string{"recipes"}}, {Name: "inventory", Tables: []string{"invs"}}},
	})
	mentions := []nodes.Mention{{Text: "the stew", Ref: "recipe_3", Resolution: "inferred"}, {Text: "it", Ref: "inv_1", Resolution: "ambiguous"}}
	tests := map[string]struct {
		out  nodes.ThinkOutput
		next string
		ask  string
		plan []string
	}{
		"what a change names is what the message means": {nodes.ThinkOutput{Decision: "plan", Steps: []nodes.Step{inTable("recipes", changing("name", "beef stew"))}}, vocab.NodeAct, "", []string{"write"}},
		"unless that is open":                           {nodes.ThinkOutput{Decision: "plan", Steps: []nodes.Step{inTable("invs", changing("name", "flour"))}}, vocab.NodeAct, "", []string{"read", "write"}},
		"clarify":                                       {nodes.ThinkOutput{Decision: "clarify", Questions: []string{"How many?"}}, vocab.NodeReply, vocab.AskClarify, nil},
		"loaded and drafts":                             {nodes.ThinkOutput{Decision: "plan", Steps: []nodes.Step{step("analyze", "rows", "recipe_1", "gen_recipe_1")}}, vocab.NodeAct, "", []string{"analyze"}},
		"missing rows":                                  {nodes.ThinkOutput{Decision: "plan", Steps: []nodes.Step{step("analyze", "rows", "recipe_1", "recipe_2", "inv_1")}}, vocab.NodeAct, "", []string{"read", "read", "analyze"}},
		"V06: only the summary":                         {nodes.ThinkOutput{Decision: "plan", Steps: []nodes.Step{step("generate", "rows", "recipe_3", "recipe_4")}}, vocab.NodeAct, "", []string{"read", "generate"}},
		"V06: what a change finds by name is read":      {nodes.ThinkOutput{Decision: "plan", Steps: []nodes.Step{changing("name", "milk")}}, vocab.NodeAct, "", []string{"read", "write"}},
		"V06: and a row that is not loaded":             {nodes.ThinkOutput{Decision: "plan", Steps: []nodes.Step{changing("id", "inv_1")}}, vocab.NodeAct, "", []string{"read", "write"}},
		"V06: what is loaded is not read":               {nodes.ThinkOutput{Decision: "plan", Steps: []nodes.Step{changing("id", "recipe_3")}}, vocab.NodeAct, "", []string{"write"}},
		"V06: what an earlier step reads is not twice":  {nodes.ThinkOutput{Decision: "plan", Steps: []nodes.Step{looking, changing("name", "milk")}}, vocab.NodeAct, "", []string{"read", "write"}},
		"missing rows are read":                         {nodes.ThinkOutput{Decision: "plan", Steps: []nodes.Step{step("read", "refs", "recipe_2"), step("analyze", "rows", "recipe_2")}}, vocab.NodeAct, "", []string{"read", "analyze"}},
		"no steps":                                      {nodes.ThinkOutput{Decision: "plan"}, vocab.NodeReply, "", nil},
		"propose":                                       {nodes.ThinkOutput{Decision: "propose", Proposal: "Shall I?"}, vocab.NodeReply, vocab.AskPropose, nil},
		"write":                                         {nodes.ThinkOutput{Decision: "plan", Steps: []nodes.Step{step("write", "refs")}}, vocab.NodeAct, "", []string{"write"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := afterThink(&test.out, thought{refs: refs, mentions: mentions, domain: pantry})
			checkMove(t, got, test.next, test.ask, test.plan)
			for _, s := range got.plan[:max(len(got.plan)-len(test.out.Steps), 0)] {
				require.NotEmpty(t, s.ReadyCalls(), "what code finds missing, code reads")
			}
			require.True(t, got.skip, "a new plan drops what is left of the old one")
		})
	}
}

func checkMove(t *testing.T, got move, next, ask string, plan []string) {
	t.Helper()

	require.Equal(t, next, got.next)
	if ask == "" {
		require.Nil(t, got.ask)
	} else {
		require.NotNil(t, got.ask)
		require.Equal(t, ask, got.ask.kind)
		require.NotEmpty(t, got.ask.Text)
	}
	var kinds []string
	for _, step := range got.plan {
		kinds = append(kinds, step.Type)
	}
	require.Equal(t, plan, kinds)
}

func TestAfterAct(t *testing.T) {
	t.Parallel()

	call := []vocab.Call{{Tool: "db_read", Args: json.RawMessage(`{}`)}}
	complete := &nodes.StepComplete{Summary: "all saved"}
	ok := func(tool string, rows int) crud.Outcome {
		return crud.Outcome{Results: []crud.Result{{Tool: tool, RowCount: rows}}}
	}
	bad := crud.Outcome{Results: []crud.Result{{Tool: "db_create", ErrorCode: crud.CodeBadValue, ErrorMessage: "no"}}}
	missed := crud.Outcome{Results: []crud.Result{{Tool: "db_read", Notice: "ilike finds only the whole text"}}}
	tests := map[string]struct {
		out     nodes.ActOutput
		outcome crud.Outcome
		in      acted
		next    string
		ends    db.StepOutcome // "" continues
		skip    bool
	}{
		"approval":          {nodes.ActOutput{Calls: call}, crud.Outcome{Approval: &crud.Approval{Text: "Sure?"}}, acted{stepType: "write"}, vocab.NodeReply, "partial", true},
		"ask user":          {nodes.ActOutput{AskUser: &nodes.AskUser{Question: "?"}}, crud.Outcome{}, acted{later: []later{{step: 2, needs: true}}}, vocab.NodeReply, "partial", true},
		"blocked":           {nodes.ActOutput{Blocked: &nodes.Blocked{Next: "fail"}}, crud.Outcome{}, acted{later: []later{{step: 2, needs: true}}}, vocab.NodeReply, "failed", true},
		"call":              {nodes.ActOutput{Calls: call}, ok("db_read", 2), acted{stepType: "read"}, vocab.NodeAct, "", false},
		"call and complete": {nodes.ActOutput{Calls: call, StepComplete: complete}, ok("db_create", 1), acted{stepType: "write", later: []later{{step: 2, needs: true}}}, vocab.NodeAct, "ok", false},
		// A completion counts only if the calls beside it succeeded.
		"complete, call failed":         {nodes.ActOutput{Calls: call, StepComplete: complete}, bad, acted{stepType: "write"}, vocab.NodeAct, "", false},
		"complete after a failure":      {nodes.ActOutput{StepComplete: complete}, crud.Outcome{}, acted{stepType: "write", failing: true, later: []later{{step: 2, needs: true}}}, vocab.NodeReply, "failed", true},
		"complete after half a success": {nodes.ActOutput{StepComplete: complete}, crud.Outcome{}, acted{stepType: "write", failing: true, rows: 2, done: []string{"x"}, later: []later{{step: 2, needs: true}}}, vocab.NodeReply, "partial", true},
		"empty read":                    {nodes.ActOutput{StepComplete: complete}, crud.Outcome{}, acted{stepType: "read", later: []later{{step: 2, needs: true}}}, vocab.NodeAct, "empty", false},
		"empty write":                   {nodes.ActOutput{Calls: call, StepComplete: complete}, ok("db_read", 3), acted{stepType: "write"}, vocab.NodeReply, "empty", false},
		"failed too often":              {nodes.ActOutput{Calls: call}, bad, acted{stepType: "write", failures: 2}, vocab.NodeReply, "failed", true},
		"last step":                     {nodes.ActOutput{StepComplete: complete}, crud.Outcome{}, acted{stepType: "analyze"}, vocab.NodeReply, "ok", false},
		"quick":                         {nodes.ActOutput{Calls: call}, ok("db_read", 2), acted{stepType: "read", quick: true}, vocab.NodeReply, "ok", false},
		"replan":                        {nodes.ActOutput{Blocked: &nodes.Blocked{Next: "replan"}}, crud.Outcome{}, acted{replans: 1}, vocab.NodeThink, "failed", true},
		"replan too often":              {nodes.ActOutput{Blocked: &nodes.Blocked{Next: "replan"}}, crud.Outcome{}, acted{replans: 2}, vocab.NodeReply, "failed", true},
		"nothing, with a reason":        {nodes.ActOutput{Calls: call, StepComplete: complete}, missed, acted{stepType: "read", ready: true}, vocab.NodeAct, "", false},
		"nothing again":                 {nodes.ActOutput{Calls: call, StepComplete: complete}, missed, acted{stepType: "read", calls: 1}, vocab.NodeReply, "empty", false},
		"request schema":                {nodes.ActOutput{RequestSchema: &nodes.RequestSchema{Table: "t"}}, crud.Outcome{}, acted{}, vocab.NodeAct, "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			require.Nil(t, beforeAct(&test.out, test.in))
			got := afterAct(&test.out, &test.outcome, test.in)
			require.Equal(t, test.next, got.next)
			require.Equal(t, test.skip, got.skip)
			if test.ends == "" {
				require.Nil(t, got.end)
			} else {
				require.NotNil(t, got.end)
				require.Equal(t, test.ends, got.end.outcome)
			}
		})
	}
}

func TestV11IndependentStepsStillRun(t *testing.T) {
	t.Parallel()

	in := acted{stepType: "write", later: []later{{step: 2, needs: true}, {step: 3}}}
	got := afterAct(&nodes.ActOutput{Blocked: &nodes.Blocked{Next: "fail"}}, &crud.Outcome{}, in)
	require.Equal(t, vocab.NodeAct, got.next)
	require.True(t, got.skip)
	require.Equal(t, []int32{3}, got.keep)
}

// Whatever ends a step with a question, what needs no answer is looked up before it is asked.
func TestQuestionsWaitForWhatNeedsNoAnswer(t *testing.T) {
	t.Parallel()

	in := acted{stepType: "write", later: []later{{step: 2, ready: true, looks: true, waits: true, needs: true}, {step: 3, ready: true, looks: true}, {step: 4, looks: true}, {step: 5, ready: true}}}
	for ends, out := range map[db.StepOutcome]nodes.ActOutput{
		db.StepOutcomePartial: {AskUser: &nodes.AskUser{Question: "Which?"}}, db.StepOutcomeFailed: {Blocked: &nodes.Blocked{Next: "ask_user", Details: "Which?"}},
	} {
		got := afterAct(&out, &crud.Outcome{}, in)
		require.Equal(t, "Which?", got.ask.Text)
		require.Equal(t, ends, got.end.outcome)
		require.Equal(t, vocab.NodeAct, got.next)
		require.Equal(t, []int32{3}, got.keep)
	}
	for _, out := range []nodes.ActOutput{{AskUser: &nodes.AskUser{Question: "?"}}, {Blocked: &nodes.Blocked{Next: "replan"}}} {
		got := afterAct(&out, &crud.Outcome{}, acted{stepType: "read", asked: true, later: in.later})
		require.Nil(t, got.ask, "one question is open")
		require.NotEqual(t, vocab.NodeThink, got.next)
	}
}

func TestV03WritesWithoutChangesDropTheModelsWords(t *testing.T) {
	t.Parallel()

	for _, results := range [][]crud.Result{nil, {{Tool: vocab.ToolCalculate, RowCount: 1}}, {{Tool: vocab.ToolRead, RowCount: 1}}} {
		got := afterAct(&nodes.ActOutput{StepComplete: &nodes.StepComplete{Summary: "Saved five dinners", Conclusions: "all saved", Note: "done"}}, &crud.Outcome{Results: results}, acted{stepType: "write"})
		require.Equal(t, ending{outcome: db.StepOutcomeEmpty, summary: "Nothing was saved, changed or deleted."}, *got.end)
	}
}

func TestV37StepsOverTheLimitAreRecordedAsNotDone(t *testing.T) {
	t.Parallel()

	left := []nodes.Step{{Type: "read", Description: "the ninth"}}
	got := afterThink(&nodes.ThinkOutput{Decision: "plan", Steps: []nodes.Step{{Type: "read"}}, Left: left}, thought{domain: domain.New(domain.Domain{})})
	require.Equal(t, left, got.left)
}

// A read that stopped half way is something to go on with; a write is not.
func TestHalfAReadIsEnoughForTheNextStep(t *testing.T) {
	t.Parallel()

	for stepType, next := range map[string]string{vocab.StepRead: vocab.NodeAct, vocab.StepWrite: vocab.NodeReply} {
		in := acted{stepType: stepType, calls: vocab.MaxStepCalls, done: []string{"found 2 recipes"}, later: []later{{step: 2, needs: true}}}
		require.Equal(t, next, beforeAct(&nodes.ActOutput{Calls: []vocab.Call{{Tool: "db_read"}}}, in).next, stepType)
	}
}

// A yes to a question that would write permits that, in whatever step it was asked.
func TestQuestionThatWouldWriteOffersIt(t *testing.T) {
	t.Parallel()

	in := acted{stepType: vocab.StepRead, description: "Find the old ones", refs: []string{"recipe_1"}}
	require.Empty(t, askedBy(&nodes.AskUser{Question: "These?"}, in).Writes)
	require.Equal(t, []nodes.Offer{{Description: "Find the old ones", Refs: []string{"recipe_1"}}}, askedBy(&nodes.AskUser{Question: "Delete these?", WouldWrite: true}, in).Writes)
}

// A limit is never a success.
func TestBeforeAct(t *testing.T) {
	t.Parallel()

	call := nodes.ActOutput{Calls: []vocab.Call{{Tool: "db_update"}}}
	schema := nodes.ActOutput{RequestSchema: &nodes.RequestSchema{Table: "t"}}
	tests := map[string]struct {
		out  nodes.ActOutput
		in   acted
		want db.StepOutcome
	}{
		"calls":               {call, acted{stepType: "write", calls: 6, done: []string{"changed 3 recipes"}}, "partial"},
		"calls, nothing done": {call, acted{stepType: "write", calls: 6}, "failed"},
		"repeated read":       {call, acted{stepType: "read", repeats: true, done: []string{"x"}}, "partial"},
		"schema requests":     {schema, acted{stepType: "read", requests: 2}, "failed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := beforeAct(&test.out, test.in)
			require.NotNil(t, got)
			require.Equal(t, test.want, got.end.outcome)
			require.Regexp(t, `Done: .*\. The rest is left\.$|Nothing of it is done\.$`, got.end.summary, "what it was to do stands beside it")
		})
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()

	zone, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	tuesday := time.Date(2026, time.January, 13, 22, 0, 0, 0, zone)
	tests := map[string]struct {
		constraint nodes.Constraint
		want       string
	}{
		"always":     {nodes.Constraint{Text: "8 meals", Value: json.RawMessage(`8`)}, ""},
		"date range": {nodes.Constraint{Text: "Jan 15-20", Value: json.RawMessage(`{"from": "2026-01-15", "to": "2026-01-20"}`)}, "2026-01-21"},
		"this week":  {nodes.Constraint{Text: "No cod this week"}, "2026-01-19"},
		"weekend":    {nodes.Constraint{Text: "no guests next weekend"}, "2026-01-26"},
		"today":      {nodes.Constraint{Text: "nothing fried today"}, "2026-01-14"},
		"from today": {nodes.Constraint{Text: "No sugar from today on"}, ""},
		"next week":  {nodes.Constraint{Text: "Starting next week, no meat"}, ""},
		"open end":   {nodes.Constraint{Text: "vegan from tomorrow", Value: json.RawMessage(`{"from": "2026-01-14"}`)}, ""},
		"no end":     {nodes.Constraint{Text: "no fish today", Value: json.RawMessage(`{"from": "2026-01-13", "to": ""}`)}, "2026-01-14"},
		"one day":    {nodes.Constraint{Text: "no fish", Value: json.RawMessage(`"2026-01-14"`)}, "2026-01-15"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := expiry(test.constraint, tuesday)
			if test.want == "" {
				require.Nil(t, got)

				return
			}
			require.Equal(t, test.want+"T00:00:00-05:00", got.Format(time.RFC3339))
		})
	}
	sunday := expiry(nodes.Constraint{Text: "No cod this week"}, tuesday.AddDate(0, 0, 5))
	require.Equal(t, "2026-01-19", sunday.Format(time.DateOnly), "the week ends with the Sunday on which it is said")
}
