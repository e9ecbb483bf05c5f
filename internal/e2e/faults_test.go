package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/llm/script"
)

// wrong answers for a structured node, each three times: the answer and both repairs.
func wrongAnswers() map[string]string {
	thrice := func(raw string) string {
		quoted, _ := json.Marshal(raw)
		one := `{raw: ` + string(quoted) + `}`

		return `{raw: ` + string(quoted) + `, repairs: [` + one + `, ` + one + `]}`
	}

	return map[string]string{
		"Array":      thrice(`[1, 2, 3]`),
		"CutOff":     thrice(`{"goal": "list the rec`),
		"Deep":       thrice(strings.Repeat("[", 20000)),
		"Empty":      thrice(""),
		"NotJSON":    thrice("I would love to help you with that!"),
		"NUL":        thrice("{\"goal\": \"a\x00b\"]"),
		"Number":     thrice(`42`),
		"Unknown":    thrice(`{"goal": "x", "decision": "explode", "steps": [{"type": "teleport"}]}`),
		"WrongShape": thrice(`{"goal": {"text": "x"}, "steps": "none"}`),
	}
}

// An unreadable plan ends the turn with a typed error; the session continues.
func TestUnusablePlans(t *testing.T) {
	t.Parallel()
	answers := wrongAnswers()
	names := slices.Sorted(maps.Keys(answers))
	var yaml strings.Builder
	yaml.WriteString("turns:")
	for _, name := range names {
		yaml.WriteString(`
  - understand: {intent: write}
    think: ` + answers[name] + `
  - understand: ` + answers[name] + `
    think: {goal: talk, decision: plan, steps: []}
    reply: Sure.
    summarize: ` + answers[name])
	}
	c := converse(t, yaml.String())
	for i, name := range names {
		failed := c.fail("Add milk")
		require.Equal(t, "invalid_output", failed.Error.Code, name)
		c.fact("3", fmt.Sprintf(`SELECT count(*) FROM llm_calls l JOIN turns t ON t.id = l.turn_id WHERE l.session_id = $1 AND t.number = %d AND l.node = 'think'`, 2*i+1))
		require.Contains(t, c.prompt(2*i+1, "think", 3), "That answer cannot be used", name)
		c.fact("0 0", `SELECT concat_ws(' ', (SELECT count(*) FROM turn_steps s JOIN turns t ON t.id = s.turn_id WHERE t.session_id = $1), (SELECT count(*) FROM kitchen.shopping_list))`)
		// A turn does not depend on Understand: without it, nothing is curated and nothing may be written.
		said := c.say("hello")
		require.Equal(t, "Sure.", said.Reply, name)
		require.Contains(t, c.prompt(2*i+2, "think", 1), "Write steps: not allowed", name)
	}
}

// Invalid decisions of Act: each is repaired or ends the step, and leaves nothing half-written.
func TestUnusableDecisions(t *testing.T) {
	t.Parallel()
	blocked := `{calls: [{tool: blocked, args: {code: tool_failure, details: That did not work., next: fail}}]}`
	cases := []struct {
		name, step, act string
		outcomes        string // "" if the turn fails
	}{
		{"ArgsAreAList", "write", `[{calls: [{tool: db_create, args: {table: shopping_list, data: [[1]]}}]}, ` + blocked + `]`, "write failed"},
		{"InventedColumn", "write", `[{calls: [{tool: db_create, args: {table: shopping_list, data: {name: milk, colour: white}}}]}, ` + blocked + `]`, "write failed"},
		{"InventedFilter", "write", `[{calls: [{tool: db_update, args: {table: shopping_list, filters: [{field: limit, op: "=", value: 1}], data: {name: x}}}]}, ` + blocked + `]`, "write failed"},
		{"InventedOp", "write", `[{calls: [{tool: db_delete, args: {table: shopping_list, filters: [{field: name, op: not_ilike, value: x}]}}]}, ` + blocked + `]`, "write failed"},
		{"InventedRef", "write", `[{calls: [{tool: db_update, args: {table: inventory, filters: [{field: id, op: "=", value: inv_77}], data: {name: x}}}]}, ` + blocked + `]`, "write failed"},
		{"InventedTable", "write", `[{calls: [{tool: db_create, args: {table: users, data: {name: x}}}]}, ` + blocked + `]`, "write failed"},
		{"InventedUUID", "write", `[{calls: [{tool: db_update, args: {table: inventory, filters: [{field: id, op: "=", value: 01900000-0000-7000-8000-000000000101}], data: {name: x}}}]}, ` + blocked + `]`, "write failed"},
		{"ForeignTool", "read", `[{calls: [{tool: db_delete, args: {table: inventory, filters: []}}]}, {calls: [{tool: db_create, args: {table: inventory, data: {name: x}}}]}, {calls: [{tool: rm, args: {}}]}]`, "read failed"}, // V31
		{"HalfOfTwo", "write", `[{calls: [{tool: db_create, args: {table: shopping_list, data: {name: milk}}}, {tool: db_create, args: {table: shopping_list, data: {name: 7, quantity: many}}}, {tool: step_complete, args: {summary: both}}]}, ` + blocked + `]`, "write failed"},
		{"MendedArguments", "write", `{calls: [{tool: db_create, raw: "{\"table\": "}], repairs: [{calls: [{tool: step_complete, args: {summary: nothing to do}}]}]}`, "write empty"},
		{"NoCall", "read", `{text: "I looked.", repairs: [{text: "Really."}, {text: "Believe me."}]}`, "read failed"},
		{"QuestionInWrite", "write", `{calls: [{tool: db_create, args: {table: shopping_list, data: {name: milk}}}, {tool: ask_user, args: {question: "Sure?"}}], repairs: [{calls: [{tool: ask_user, args: {question: "Sure?"}}]}]}`, "write partial"},
		{"SameCallAgain", "read", `[` + many(8, `{calls: [{tool: db_read, args: {table: inventory}}]}`) + `]`, "read partial"},
		{"TooManyCalls", "read", `[` + reads(8) + `]`, "read partial"},
		{"TooManyFailures", "write", `[` + many(8, `{calls: [{tool: db_create, args: {table: shopping_list, data: {colour: white}}}]}`) + `]`, "write failed"},
		{"TooManySchemas", "write", `[` + many(2, `{calls: [{tool: request_schema, args: {table: recipes}}]}`) + `, {calls: [{tool: request_schema, args: {table: tasks}}], repairs: [` + blocked + `]}]`, "write failed"},
		{"WriteAll", "write", `[{calls: [{tool: db_delete, args: {table: inventory, filters: []}}, {tool: step_complete, args: {summary: all gone}}]}]`, "write partial"},
	}
	var yaml strings.Builder
	yaml.WriteString("turns:")
	for _, tt := range cases {
		yaml.WriteString(`
  - understand: {intent: write}
    think: {goal: Do it, decision: plan, steps: [{type: ` + tt.step + `, subdomain: inventory, description: Do it}]}
    act: ` + tt.act + `
    reply: It did not work.`)
	}
	c := converse(t, yaml.String()+chat)
	c.exec(`INSERT INTO kitchen.tasks (user_id, title) VALUES ($1, 'untouched')`)
	const rows = `SELECT md5(string_agg(x, '|' ORDER BY x)) FROM (SELECT i.*::text AS x FROM kitchen.inventory i UNION ALL SELECT s.*::text FROM kitchen.shopping_list s
		UNION ALL SELECT t.*::text FROM kitchen.tasks t UNION ALL SELECT r.*::text FROM kitchen.recipes r) AS all_rows`
	before := c.one(rows)
	for _, tt := range cases {
		got := c.end(c.enqueue(message{"message": "do it"}))
		if tt.outcomes == "" {
			require.Equal(t, "failed", got.Status, tt.name)
			require.Equal(t, "invalid_output", got.Error.Code, tt.name)
		} else {
			require.Equal(t, "succeeded", got.Status, "%s: %+v", tt.name, got.Error)
			require.Equal(t, tt.outcomes, got.outcomes(), tt.name)
		}
		c.fact(before, rows)
	}
	c.fact("0", `SELECT count(*) FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND r.error_message ~* '(SELECT|INSERT|constraint|SQLSTATE|relation) '`)
	c.say("and now?")
}

// reads is n decisions that each read something different.
func reads(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{calls: [{tool: db_read, args: {table: inventory, limit: %d}}]}`, i+1)
	}

	return strings.Join(list, ", ")
}

// An answer of ten megabytes fills no table and blocks no turn.
func TestRunawayAnswer(t *testing.T) {
	t.Parallel()
	const size = 10 << 20
	played, err := script.Parse([]byte(`
turns:
  - understand: {intent: chat}
    think: {goal: talk, decision: plan, steps: []}
    reply: Sure.
  - understand: {intent: chat}
    think: {goal: talk, decision: plan, steps: []}
    reply: Sure.`))
	require.NoError(t, err)
	model := &replaced{Model: played, answer: func(req *llm.Request) *llm.Response {
		if req.Turn != 1 || req.Node == "summarize" {
			return nil
		}
		resp := &llm.Response{Provider: "runaway", Model: "m", Text: strings.Repeat("blah ", size/5)}
		if req.Node == "think" && req.Attempt == 3 {
			resp.Text = `{"goal": "talk", "decision": "plan", "steps": []}`
		}
		if req.OnDelta != nil {
			req.OnDelta(resp.Text)
		}

		return resp
	}}
	c := openHouse(t, fixtures{model: func(*domain.Domain) llm.Model { return model }}).resident("ada").talk()
	got := c.end(c.enqueue(message{"message": "hello"}))
	require.Equal(t, "succeeded", got.Status, "%+v", got.Error)
	require.Less(t, len(got.Reply), 1<<20)
	c.fact("true", `SELECT sum(pg_column_size(response) + pg_column_size(request)) < 20000000 FROM v_llm_calls WHERE session_id = $1`)
	c.fact("true", `SELECT coalesce(sum(length(data::text)), 0) < 3000000 FROM turn_events e JOIN turns t ON t.id = e.turn_id WHERE t.session_id = $1`)
	c.say("hello again")
	require.Less(t, len(c.prompt(2, "think", 1)), 100_000)
}

// replaced substitutes some answers.
type replaced struct {
	llm.Model

	answer func(*llm.Request) *llm.Response
}

func (m *replaced) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if resp := m.answer(req); resp != nil {
		return resp, nil
	}

	return m.Model.Generate(ctx, req)
}

// A blocked step is replanned, at most twice.
func TestReplan(t *testing.T) {
	t.Parallel()
	plan := `{goal: Try, decision: plan, steps: [{type: read, subdomain: inventory, description: Try}, {type: analyze, subdomain: inventory, description: Then}]}`
	stuck := `{calls: [{tool: blocked, args: {code: plan_invalid, details: That plan does not work., next: replan}}]}`
	c := converse(t, `
turns:
  - understand: {intent: read}
    think: [`+plan+`, {goal: Try, decision: plan, steps: [{type: read, subdomain: inventory, description: Another way}]}]
    act: [`+stuck+`, {calls: [{tool: db_read, args: {table: inventory}}, {tool: step_complete, args: {summary: found}}]}]
    reply: Found.
  - understand: {intent: read}
    think: [`+plan+`, `+plan+`, `+plan+`]
    act: [`+stuck+`, `+stuck+`, `+stuck+`]
    reply: I could not.
`)
	said := c.say("look")
	require.Equal(t, "read failed, analyze skipped, read ok", said.outcomes())
	require.Contains(t, c.prompt(1, "think", 2), "That plan does not work.")
	require.NotContains(t, c.prompt(1, "reply", 1), "Try (read): failed", "who words the reply is not told of what was mended")
	require.Contains(t, c.prompt(1, "reply", 1), "Another way (read): ok")
	said = c.say("look again")
	require.Equal(t, many(3, "read failed, analyze skipped"), said.outcomes())
	c.fact("3", `SELECT count(*) FROM node_runs n JOIN turns t ON t.id = n.turn_id WHERE t.session_id = $1 AND t.number = 2 AND n.node = 'think'`)
}
