package offline_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/llm/offline"
	"alfred/nodes"
)

// garage is a domain without declared words: it has only types and columns. More types stand beside the tools.
func garage(more ...*domain.Entity) *domain.Domain {
	tool := listOf("tool", "{name}", column("name", domain.KindText), column("quantity", domain.KindNumber), column("unit", domain.KindText))
	order := listOf("order", "{name}", column("name", domain.KindText), column("status", domain.KindText, "open", "paid", "cancelled"))
	total := column("total_minutes", domain.KindNumber)
	total.Expr = "drive_minutes + work_minutes"
	job := listOf("job", "{name}", column("name", domain.KindText), column("drive_minutes", domain.KindNumber), column("work_minutes", domain.KindNumber), total,
		column("helpers", domain.KindNumber), column("price", domain.KindNumber), column("created_at", domain.KindTimestamp))
	tools := []string{"tools"}
	for _, e := range more {
		tools = append(tools, e.Table)
	}

	return domain.New(domain.Domain{Name: "garage", Entities: append([]*domain.Entity{tool, order, job}, more...),
		Subdomains: []*domain.Subdomain{{Name: "tools", Tables: tools}, {Name: "orders", Tables: []string{"orders"}}, {Name: "jobs", Tables: []string{"jobs"}}}})
}

// listOf is a type whose table is called as several of it.
func listOf(name, label string, columns ...*domain.Column) *domain.Entity {
	says, _ := domain.ParseTemplate(label)

	return &domain.Entity{Type: name, Table: name + "s", Name: name, Plural: name + "s", Label: says, Display: says, Columns: columns}
}

func column(name string, kind domain.Kind, values ...string) *domain.Column {
	return &domain.Column{Name: name, Kind: kind, Enum: values}
}

// shown is a row that the user has seen.
func shown(ref, label string) nodes.Entity {
	kind, _, _ := strings.Cut(ref, "_")

	return nodes.Entity{Ref: ref, Type: kind, Label: label, Tier: "recent", Action: "read", Touched: 1}
}

func facts(message string, known ...nodes.Entity) func() nodes.Facts {
	return func() nodes.Facts {
		return nodes.Facts{Message: message, Today: time.Date(2026, time.January, 13, 0, 0, 0, 0, time.UTC), Entities: known}
	}
}

func refs(known []nodes.Entity) nodes.Refs {
	out := nodes.Refs{}
	for _, e := range known {
		out[e.Ref] = nodes.Ref{Type: e.Type, Label: e.Label}
	}

	return out
}

func plan(t *testing.T, message string, known ...nodes.Entity) []string {
	t.Helper()

	return planIn(t, garage(), message, known...)
}

// planIn is what each step of the plan does: the calls that the plan contains, or that Act makes of it.
func planIn(t *testing.T, d *domain.Domain, message string, known ...nodes.Entity) []string {
	t.Helper()
	model := offline.New(d)
	out, err := nodes.Think(t.Context(), model, nodes.ThinkInput{
		Facts: facts(message, known...), Refs: refs(known), Subdomains: []string{"tools", "orders", "jobs"}, Subdomain: strings.ToLower, MaxSteps: 8, Permission: nodes.Permission{Allowed: true},
	})
	require.NoError(t, err)
	all := []string{}
	for _, e := range d.Entities {
		all = append(all, e.Table)
	}
	steps := []string{}
	for n, s := range out.Steps {
		in := nodes.ActInput{Facts: facts(message, known...), Step: nodes.PlannedStep{Number: n + 1, Step: s}}
		in.Writable = map[string][]string{"db_create": all, "db_update": all, "db_delete": all}
		resp, err := model.Generate(t.Context(), &llm.Request{Input: in})
		require.NoError(t, err)
		calls := []string{s.Type + ":"}
		for _, c := range resp.ToolCalls {
			if strings.HasPrefix(c.Name, "db_") {
				calls = append(calls, c.Name, string(c.Args))
			}
		}
		steps = append(steps, strings.Join(calls, " "))
	}

	return steps
}

// A change that no rule understands is not taken for a look at what it names, nor what goes with a thing for its name.
func TestNoOtherWishIsDoneInstead(t *testing.T) {
	t.Parallel()
	for _, message := range []string{"move the hammer to Tuesday", "Actually, make it 4 hammers", "double the hammer", "add an order with two hammers"} {
		require.Empty(t, plan(t, message, shown("tool_1", "Hammer")), message)
	}
}

// A table's name may have spaces, its rows are called what its label says, and they are meant by "the berth" if there is one.
func TestAwkwardNames(t *testing.T) {
	t.Parallel()
	berths := listOf("berth", `{"Full Name"}`, column("Hull No", domain.KindText), column("Full Name", domain.KindText), column("paid", domain.KindBool))
	berths.Table = `big "berths"`
	d := garage(berths)
	berth := shown("berth_1", "North")
	for message, want := range map[string]string{
		"mark the berth as paid":     `write: db_update {"data":{"paid":true},"filters":[{"field":"id","op":"=","value":"berth_1"}],"table":"big \"berths\""}`,
		"mark the berth as not paid": `write: db_update {"data":{"paid":false},"filters":[{"field":"id","op":"=","value":"berth_1"}],"table":"big \"berths\""}`,
		"rename North to South":      `write: db_update {"data":{"Full Name":"South"},"filters":[{"field":"id","op":"=","value":"berth_1"}],"table":"big \"berths\""}`,
	} {
		require.Equal(t, []string{want}, planIn(t, d, message, berth), message)
	}
	in := nodes.ActInput{StepType: "write", Toolbox: nodes.Toolbox{Writable: map[string][]string{"db_update": {`big "berths"`}}}, Facts: facts("mark the berth as paid", berth)}
	in.Step = nodes.PlannedStep{Number: 1, Step: nodes.Step{Type: "write", Description: "Mark the berth as paid"}}
	resp, err := offline.New(d).Generate(t.Context(), &llm.Request{Input: in})
	require.NoError(t, err)
	require.JSONEq(t, `{"table": "big \"berths\"", "filters": [{"field": "id", "op": "=", "value": "berth_1"}], "data": {"paid": true}}`, string(resp.ToolCalls[0].Args))
}

// A part that nothing has is not taken for the thing's name, which would be empty then.
func TestUnknownPartChangesNothing(t *testing.T) {
	t.Parallel()
	known := shown("order_1", "Wheels")
	for _, message := range []string{"change the spokes of Wheels to steel", "rename the spokes of Wheels to Steel"} {
		require.Empty(t, plan(t, message, known), message)
	}
}

// Only a column that says so is what "done" sets, however many others are true or false; and "done" may be a state's value.
func TestDoneIsNoOtherFlag(t *testing.T) {
	t.Parallel()
	name, insured := column("name", domain.KindText), column("insured", domain.KindBool)
	d := garage(listOf("berth", "{name}", name, insured), listOf("chore", "{name}", name, insured, column("state", domain.KindText, "open", "done")))
	berth := shown("berth_1", "North")
	chore := shown("chore_1", "Paint")
	for message, want := range map[string][]string{
		"mark North as done":    {},
		"mark North as insured": {`write: db_update {"data":{"insured":true},"filters":[{"field":"id","op":"=","value":"berth_1"}],"table":"berths"}`},
		"mark Paint as done":    {`write: db_update {"data":{"state":"done"},"filters":[{"field":"id","op":"=","value":"chore_1"}],"table":"chores"}`},
	} {
		require.Equal(t, want, planIn(t, d, message, berth, chore), message)
	}
}

func TestPlansForADomainWithoutWords(t *testing.T) {
	t.Parallel()
	lathe := shown("tool_1", "Lathe")
	office := shown("order_1", "#W8770097")
	for message, want := range map[string][]string{
		"Show my tools":              {`read: db_read {"filters":[],"table":"tools"}`},
		"Which orders are paid?":     {`read: db_read {"filters":[{"field":"status","op":"=","value":"paid"}],"table":"orders"}`},
		"Add an order called Office": {`write: db_create {"data":[{"name":"Office"}],"table":"orders"}`},
		"add 2 kg of nails to my tools": {
			`write: db_create {"data":[{"name":"nails","quantity":2,"unit":"kg"}],"table":"tools"}`},
		"Mark the order Office as paid": {`read: db_read {"filters":[{"field":"name","op":"ilike","value":"%Office%"}],"table":"orders"}`, `write:`},
		"Delete the lathe":              {`write: db_delete {"filters":[{"field":"id","op":"=","value":"tool_1"}],"table":"tools"}`},
		"Cancel order #W8770097":        {`write: db_update {"data":{"status":"cancelled"},"filters":[{"field":"id","op":"=","value":"order_1"}],"table":"orders"}`},
		"Cancel the lathe":              {},
		"rename the lathe to Big Lathe": {`write: db_update {"data":{"name":"Big Lathe"},"filters":[{"field":"id","op":"=","value":"tool_1"}],"table":"tools"}`},
		"how many tools do I have":      {`analyze: db_analyze {"aggregates":[{"as":"count","fn":"count"}],"table":"tools"}`},
		"what is the capital of France": {},
	} {
		t.Run(message, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, plan(t, message, lathe, office))
		})
	}
}

// "it" may be a name, and nothing has parts where no type has any.
func TestAddsByNameWhereNothingIsMeant(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{`write: db_create {"data":[{"name":"it"}],"table":"tools"}`}, plan(t, "add a tool called it"))
	shared := garage()
	shared.Entities[0].Reference = true
	require.Equal(t, []string{`write: db_create {"data":[{"name":"Tools of office"}],"table":"orders"}`}, planIn(t, shared, "add the tools of office to my orders"))
}

// Comparisons are conditions on numeric columns, superlatives an order and a limit. Nothing is read if no column fits, and
// nothing is deleted.
func TestComparesByColumns(t *testing.T) {
	t.Parallel()
	first := func(column, more string) []string {
		return []string{`read: db_read {"filters":[{"field":"` + column + `","op":"is_not_null"}],"limit":1,"order_by":"` + column + `"` + more + `,"table":"jobs"}`}
	}
	where := func(column, op, value string) []string {
		return []string{`read: db_read {"filters":[{"field":"` + column + `","op":"` + op + `","value":` + value + `}],"table":"jobs"}`}
	}
	for message, want := range map[string][]string{
		"Which of my jobs is quickest?":                first("total_minutes", ""),
		"What is the longest job?":                     first("total_minutes", `,"order_dir":"desc"`),
		"Show my newest job":                           first("created_at", `,"order_dir":"desc"`),
		"Show the oldest job":                          first("created_at", ""),
		"which job is cheapest":                        first("price", ""),
		"What's the most expensive job?":               first("price", `,"order_dir":"desc"`),
		"Which job needs the most helpers?":            first("helpers", `,"order_dir":"desc"`),
		"list the job with the fewest helpers":         first("helpers", ""),
		"Show jobs under 30 minutes":                   where("total_minutes", `<`, "30"),
		"Show jobs that take at most half an hour":     where("total_minutes", `<=`, "30"),
		"jobs over 2 hours":                            where("total_minutes", `>`, "120"),
		"Show jobs with a drive under ten minutes":     where("drive_minutes", `<`, "10"),
		"Which jobs need at least two helpers?":        where("helpers", `>=`, "2"),
		"Show jobs with a price below 99.50":           where("price", `<`, "99.5"),
		"Show jobs for less than $100":                 where("price", `<`, "100"),
		"How many jobs take more than 1 hour?":         {`analyze: db_analyze {"aggregates":[{"as":"count","fn":"count"}],"filters":[{"field":"total_minutes","op":">","value":60}],"table":"jobs"}`},
		"Delete all jobs under 30 minutes":             {`write: db_delete {"filters":[{"field":"total_minutes","op":"<","value":30}],"table":"jobs"}`},
		"Do I have more than 2 kg of nails?":           {`read: db_read {"filters":[{"field":"quantity","op":">","value":2},{"field":"unit","op":"=","value":"kg"},{"field":"name","op":"ilike","value":"%nails%"}],"table":"tools"}`},
		"Which of my tools is quickest?":               {},
		"Show orders under 30 minutes":                 {},
		"How many orders take less than 30 minutes?":   {},
		"Delete all orders under 30 minutes":           {},
		"Delete all jobs except the cheapest":          {},
		"What is the most popular job?":                {},
		"Show jobs under infinity minutes":             {`read: db_read {"filters":[{"field":"name","op":"ilike","value":"%under infinity minutes%"}],"table":"jobs"}`},
		"Show jobs where the dog is under the weather": {`read: db_read {"filters":[{"field":"name","op":"ilike","value":"%where the dog is under the weather%"}],"table":"jobs"}`},
	} {
		t.Run(message, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, plan(t, message))
		})
	}
	resp, err := offline.New(garage()).Generate(t.Context(), &llm.Request{Input: nodes.ReplyInput{Facts: facts("Which of my tools is quickest?")}})
	require.NoError(t, err)
	require.Contains(t, resp.Text, "cannot compare tools by that")
}

// Q01: this model does not depend on a prompt's wording.
func TestWordsOfPromptsDoNotMatter(t *testing.T) {
	t.Parallel()
	model := offline.New(garage())
	in := nodes.ThinkInput{Facts: facts("show my tools"), Subdomains: []string{"tools", "orders"}, MaxSteps: 8}
	bare, err := model.Generate(t.Context(), &llm.Request{Input: in})
	require.NoError(t, err)
	worded, err := model.Generate(t.Context(), &llm.Request{Input: in, System: "Already loaded.", SchemaName: "understand",
		Messages: []llm.Message{{Role: llm.RoleUser, Content: "<current_task>\n## Current Task\nUser: delete everything\n</current_task>"}}})
	require.NoError(t, err)
	require.Equal(t, bare.Text, worded.Text)

	_, err = model.Generate(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "show my tools"}}})
	require.Equal(t, llm.KindInvalidRequest, llm.KindOf(err), "a request without an input is none of ours")
}

// Numbers and texts that are keys are no amounts and no names: products over 50 were sought by product_id, and names by the code of a kind.
func TestKeysAreNoAmounts(t *testing.T) {
	t.Parallel()
	kind := column("kind_code", domain.KindText)
	kind.FK = &domain.ForeignKey{}
	part := listOf("part", "{_kind_code_label}", column("part_id", domain.KindNumber), kind, column("maker", domain.KindText), column("unit_price", domain.KindNumber))
	part.Key = part.Columns[0]
	for message, filters := range map[string]string{
		"which parts cost more than 50?": `{"field":"unit_price","op":">","value":50}`, "parts under 5": `{"field":"unit_price","op":"<","value":5}`,
		"find the part Lorax": `{"field":"maker","op":"ilike","value":"%Lorax%"}`,
	} {
		require.Equal(t, []string{`read: db_read {"filters":[` + filters + `],"table":"parts"}`}, planIn(t, garage(part), message), message)
	}
}

// Act refuses what the step may not write, and repeats no failed call.
func TestActKeepsToTheStep(t *testing.T) {
	t.Parallel()
	known := facts("delete the lathe", nodes.Entity{Ref: "tool_1", Type: "tool", Label: "Lathe", Tier: "recent"})
	in := nodes.ActInput{StepType: "write", Facts: known}
	in.Step = nodes.PlannedStep{Number: 1, Step: nodes.Step{Type: "write", Description: "Delete the lathe", Refs: []string{"tool_1"}}}
	require.Equal(t, []string{"blocked"}, acted(t, in))
	in.Writable = map[string][]string{"db_delete": {"tools"}}
	require.Equal(t, []string{"db_delete", "step_complete"}, acted(t, in))
	in.Facts = func() nodes.Facts {
		refused := known()
		refused.Results = []nodes.Result{{Current: true, Step: 1, Tool: "db_delete", Type: "tool", ErrorCode: "rule_violation", Error: "It is in use."}}

		return refused
	}
	require.Equal(t, []string{"blocked"}, acted(t, in))
}

func acted(t *testing.T, in nodes.ActInput) []string {
	t.Helper()
	resp, err := offline.New(garage()).Generate(t.Context(), &llm.Request{Input: in})
	require.NoError(t, err)
	var names []string
	for _, c := range resp.ToolCalls {
		names = append(names, c.Name)
	}

	return names
}

// A step inserted by code is read by its refs.
func TestActReadsWhatCodeInserted(t *testing.T) {
	t.Parallel()
	in := nodes.ActInput{StepType: "read", Facts: facts("compare them", nodes.Entity{Ref: "tool_1", Type: "tool", Label: "Lathe"})}
	in.Step = nodes.PlannedStep{Number: 1, Step: nodes.Step{Type: "read", Description: "Read tool_1 in full, for the next step", Refs: []string{"tool_1"}}}
	resp, err := offline.New(garage()).Generate(t.Context(), &llm.Request{Input: in})
	require.NoError(t, err)
	require.Equal(t, "db_read", resp.ToolCalls[0].Name)
	require.JSONEq(t, `{"table": "tools", "filters": [{"field": "id", "op": "=", "value": "tool_1"}], "detail": "full"}`, string(resp.ToolCalls[0].Args))
}

// An offer that is gone cannot be agreed to: its draft was discarded or saved on the page, and another one was not offered.
func TestYesToAnOfferThatIsGone(t *testing.T) {
	t.Parallel()
	known := func() nodes.Facts {
		f := facts("yes", nodes.Entity{Ref: "gen_tool_1", Type: "tool", Label: "Lathe", Pending: true})()
		f.Said = []nodes.Exchange{{Turn: 2, Message: "draft a drill"}}

		return f
	}
	resp, err := offline.New(garage()).Generate(t.Context(), &llm.Request{Input: nodes.UnderstandInput{Facts: known}})
	require.NoError(t, err)
	var out nodes.UnderstandOutput
	require.NoError(t, json.Unmarshal([]byte(resp.Text), &out))
	require.Equal(t, "confirm", out.Intent)
	require.Empty(t, out.Mentions)
}

// No input breaks the model, and no request becomes a write that was not asked for.
func FuzzMessages(f *testing.F) {
	for _, m := range []string{"", "?", "delete", "add", "cancel everything", "save it", "no, no, no", strings.Repeat("a b ", 500), "put it on Friday", "\x00", "第二个", "plan dinners for infinity days", "show jobs under nan"} {
		f.Add(m)
	}
	model := offline.New(garage())
	f.Fuzz(func(t *testing.T, message string) {
		resp, err := model.Generate(t.Context(), &llm.Request{Input: nodes.UnderstandInput{Facts: facts(message)}})
		require.NoError(t, err)
		require.True(t, json.Valid([]byte(resp.Text)))
		_, err = model.Generate(t.Context(), &llm.Request{Input: nodes.ThinkInput{Facts: facts(message), MaxSteps: 8}})
		require.NoError(t, err)
		reply, err := model.Generate(t.Context(), &llm.Request{Input: nodes.ReplyInput{Facts: facts(message)}})
		require.NoError(t, err)
		require.NotEmpty(t, reply.Text)
	})
}

// A condition that is not understood leaves everything as it is.
func TestSetsAreWhatWasSaid(t *testing.T) {
	t.Parallel()
	lathe := shown("tool_1", "Lathe")
	for message, want := range map[string][]string{
		"Delete all my tools":                {`write: db_delete {"filters":[],"table":"tools"}`},
		"Delete all paid orders":             {`write: db_delete {"filters":[{"field":"status","op":"=","value":"paid"}],"table":"orders"}`},
		"Mark all open orders as paid":       {`write: db_update {"data":{"status":"paid"},"filters":[{"field":"status","op":"=","value":"open"}],"table":"orders"}`},
		"Delete all tools except the lathe":  {},
		"Delete all tools but the lathe":     {},
		"Delete all tools without a unit":    {},
		"Delete all broken tools":            {},
		"Delete all tools named lathe":       {},
		"Delete all tools of last month":     {},
		"Delete all unpaid orders":           {},
		"Delete all orders not paid":         {},
		"Mark all orders but Office as paid": {},
		"How many orders are paid?":          {`analyze: db_analyze {"aggregates":[{"as":"count","fn":"count"}],"filters":[{"field":"status","op":"=","value":"paid"}],"table":"orders"}`},
		"How many orders are not paid?":      {},
		"How many tools per unit?":           {},
	} {
		require.Equal(t, want, plan(t, message, lathe), message)
	}
}

// A day that was not understood would widen what is deleted.
func TestDeletesByDay(t *testing.T) {
	t.Parallel()
	d := garage(listOf("shift", "{day:Jan 2}", column("day", domain.KindDate), column("slot", domain.KindText, "early", "late")))
	for said, days := range map[string][]string{
		"tomorrow": {"2026-01-14", "2026-01-14"}, "on Friday": {"2026-01-16", "2026-01-16"}, "next Tuesday": {"2026-01-20", "2026-01-20"}, "in 3 days": {"2026-01-16", "2026-01-16"},
		"on Jan 20": {"2026-01-20", "2026-01-20"}, "on 2026-02-01": {"2026-02-01", "2026-02-01"}, "next week": {"2026-01-19", "2026-01-25"},
		"from Friday to Sunday": {"2026-01-16", "2026-01-18"}, "on Friday and Sunday": {"2026-01-16 2026-01-18"}, "this weekend": {"2026-01-17 2026-01-18"},
	} {
		want := `write: db_delete {"filters":[{"field":"day","op":"in","value":["` + strings.ReplaceAll(days[0], " ", `","`) + `"]}],"table":"shifts"}`
		if len(days) > 1 {
			want = `write: db_delete {"filters":[{"field":"day","op":">=","value":"` + days[0] + `"},{"field":"day","op":"<=","value":"` + days[1] + `"}],"table":"shifts"}`
		}
		require.Equal(t, []string{want}, planIn(t, d, "Delete all shifts "+said), said)
	}
	require.Empty(t, planIn(t, d, "Delete all shifts of last month"))
	require.Empty(t, planIn(t, d, "Delete all shifts that begin soon"))
}

// What is counted or listed meets each condition that is understood, days and "done" among them.
func TestCountsAndListsWhatWasSaid(t *testing.T) {
	t.Parallel()
	d := garage(listOf("chore", "{name}", column("name", domain.KindText), column("due", domain.KindDate), column("is_done", domain.KindBool)))
	const friday, done = `{"field":"due","op":">=","value":"2026-01-16"},{"field":"due","op":"<=","value":"2026-01-16"}`, `{"field":"is_done","op":"=","value":true}`
	for message, want := range map[string]string{
		"How many chores are there on Friday?": `analyze: db_analyze {"aggregates":[{"as":"count","fn":"count"}],"filters":[` + friday + `],"table":"chores"}`,
		"How many chores are done?":            `analyze: db_analyze {"aggregates":[{"as":"count","fn":"count"}],"filters":[` + done + `],"table":"chores"}`,
		"Show my done chores":                  `read: db_read {"filters":[` + done + `],"table":"chores"}`,
		"Show the chores for Friday":           `read: db_read {"filters":[` + friday + `],"table":"chores"}`,
		"Show expired chores":                  `read: db_read {"filters":[{"field":"due","op":"<","value":"2026-01-13"}],"table":"chores"}`,
		"what is due on Friday?":               `read: db_read {"filters":[` + friday + `],"table":"chores"}`,
		"Which chores are due soon?":           `read: db_read {"filters":[{"field":"due","op":">=","value":"2026-01-13"},{"field":"due","op":"<=","value":"2026-01-20"}],"order_by":"due","table":"chores"}`,
		"Delete all done chores":               `write: db_delete {"filters":[` + done + `],"table":"chores"}`,
	} {
		require.Equal(t, []string{want}, planIn(t, d, message), message)
	}
}

// A part of a name shows the thing that has it, of whatever type.
func TestShowsByAPartOfTheName(t *testing.T) {
	t.Parallel()
	saw := shown("tool_1", "Band saw")
	require.Equal(t, []string{`read: db_read {"detail":"full","filters":[{"field":"id","op":"=","value":"tool_1"}],"table":"tools"}`}, plan(t, "show me the saw", saw))
	require.Equal(t, []string{}, plan(t, "what about the saw", saw))
}

// What is to be spared is not what is meant.
func TestSparesWhatWasExcepted(t *testing.T) {
	t.Parallel()
	drafts := []nodes.Entity{{Ref: "gen_tool_1", Type: "tool", Label: "Lathe", Tier: "generated", Pending: true}, {Ref: "gen_tool_2", Type: "tool", Label: "Saw", Tier: "generated", Pending: true}}
	require.Equal(t, []string{`write: db_create {"from_ref":"gen_tool_1","table":"tools"} db_create {"from_ref":"gen_tool_2","table":"tools"}`}, plan(t, "save all drafts", drafts...))
	for _, message := range []string{"save all drafts except the lathe", "discard all drafts except the lathe", "forget everything but the lathe", "discard both apart from the saw"} {
		require.Empty(t, plan(t, message, drafts...), message)
		resp, err := offline.New(garage()).Generate(t.Context(), &llm.Request{Input: nodes.UnderstandInput{Facts: facts(message, drafts...)}})
		require.NoError(t, err)
		var out nodes.UnderstandOutput
		require.NoError(t, json.Unmarshal([]byte(resp.Text), &out))
		require.Empty(t, out.Curation.Forget, message)
		require.False(t, out.Curation.ClearAll, message)
	}
}

// What answers a question says what was missing: neither an undo, nor the words with which a draft was changed.
func TestAnswersAreNoMoreThanAnswers(t *testing.T) {
	t.Parallel()
	model := offline.New(garage())
	ask := func(before, message string, known ...nodes.Entity) (out nodes.ThinkOutput) {
		in := nodes.ThinkInput{MaxSteps: 8, Facts: func() nodes.Facts {
			f := facts(message, known...)()
			f.Said, f.Question = []nodes.Exchange{{Turn: 1, Message: before}}, &nodes.OpenQuestion{Turn: 1}

			return f
		}}
		resp, err := model.Generate(t.Context(), &llm.Request{Input: in})
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal([]byte(resp.Text), &out))

		return out
	}
	require.Equal(t, "Take back what was written", ask("add to my tools", "undo that").Steps[0].Description)
	saw := nodes.Entity{Ref: "gen_tool_1", Type: "tool", Label: "Saw", Tier: "generated", Pending: true, Draft: map[string]any{"name": "Saw"}}
	require.Len(t, ask("without a unit", "yes, save it", saw).Steps, 1)
}

// What a step has found by a name is no list that the user has seen: its second row is not "the second one".
func TestActDeletesNoneOfSeveral(t *testing.T) {
	t.Parallel()
	saws := []nodes.Entity{{Ref: "tool_1", Type: "tool", Label: "Second saw", Tier: "recent"}, {Ref: "tool_2", Type: "tool", Label: "Second hand saw", Tier: "recent"}}
	in := nodes.ActInput{StepType: "write", Facts: func() nodes.Facts {
		f := facts("delete the second tool", saws...)()
		f.Results = []nodes.Result{{Current: true, Step: 1, Tool: "db_read", Type: "tool", Refs: []string{"tool_1", "tool_2"}}}

		return f
	}}
	in.Step = nodes.PlannedStep{Number: 2, Step: nodes.Step{Type: "write", Description: "Delete the second tool"}}
	in.Writable = map[string][]string{"db_delete": {"tools"}}
	require.Equal(t, []string{"ask_user"}, acted(t, in))
}

// Two wishes in one message: the first is done, and the reply names the other. What one wish says with "and" is left whole.
func TestTwoWishes(t *testing.T) {
	t.Parallel()
	oil := shown("tool_1", "Oil")
	const add, rest = `write: db_create {"data":[{"name":"saw","quantity":1}],"table":"tools"}`, "For the rest, say: "
	for message, want := range map[string][2]string{
		"Add a saw to the tools then delete the oil":         {add, rest + "delete the oil"},
		"Add a saw to the tools. Delete the oil.":            {add, rest + "Delete the oil"},
		"add a saw to my tools and show me my orders":        {add, rest + "show me my orders"},
		"delete the lathe and add oil to the tools":          {`read: db_read {"filters":[{"field":"name","op":"ilike","value":"%lathe%"}],"table":"tools"}`, rest + "add oil to the tools"},
		"delete all tools, and how many orders do I have?":   {`write: db_delete {"filters":[],"table":"tools"}`, rest + "how many orders do I have"},
		"add an order called Wash up and set the table":      {`write: db_create {"data":[{"name":"Wash up and set the table"}],"table":"orders"}`, ""},
		"add a saw to the tools, Boston to my orders":        {add, rest + "add Boston to my orders"},
		"save it and show my tools":                          {"", rest + "show my tools"},
		"add a saw and delete the oil":                       {"", rest + "delete the oil"},
		"add to my orders: show the boss and change clothes": {"", ""},
	} {
		steps := append(plan(t, message, oil), "")
		require.Equal(t, want[0], steps[0], message)
		require.Equal(t, want[1], restOf(reply(t, garage(), message, nil, oil)), message)
	}
}

func restOf(reply string) string {
	if at := strings.Index(reply, "For the rest"); at >= 0 {
		return reply[at:]
	}

	return ""
}

// reply is what the model says after a turn whose only step had a result, or none.
func reply(t *testing.T, d *domain.Domain, message string, done *nodes.Result, known ...nodes.Entity) string {
	t.Helper()
	in := nodes.ReplyInput{Fallback: "Found nothing that fits.", Facts: func() nodes.Facts {
		f := facts(message, known...)()
		f.InFull = func(ref string) string { return ref }
		f.Plan = []nodes.PlannedStep{{Number: 1, Outcome: "ok"}}
		if done != nil {
			f.Results = []nodes.Result{*done}
		}

		return f
	}}
	resp, err := offline.New(d).Generate(t.Context(), &llm.Request{Input: in})
	require.NoError(t, err)

	return resp.Text
}

// What was looked for in vain is named, so that a misunderstanding is no false claim.
func TestSaysWhatWasSought(t *testing.T) {
	t.Parallel()
	none := &nodes.Result{Current: true, Step: 1, Tool: "db_read", Type: "tool"}
	for message, want := range map[string]string{
		"show my tools":         "Found nothing that fits.",
		"show the toools tools": `I found no tools called "toools".`,
		"sort my tools by age":  `I found no tools called "sort my by age".`,
		"don't list my tools":   `I found no tools called "don't".`,
	} {
		require.Equal(t, want, reply(t, garage(), message, none), message)
	}
}

// What no column is called is not changed in another one.
func TestChangesTheColumnThatWasSaid(t *testing.T) {
	t.Parallel()
	saw := shown("tool_1", "Saw")
	const six, drawer = `write: db_update {"data":{"quantity":6},"filters":[{"field":"id","op":"=","value":"tool_1"}],"table":"tools"}`, `write: db_update {"data":{"place":"tools"},"filters":[{"field":"id","op":"=","value":"tool_1"}],"table":"tools"}`
	d := garage()
	d.Entities[0].Columns = append(d.Entities[0].Columns, column("place", domain.KindText, "tools", "van"))
	for message, want := range map[string][]string{
		"set its quantity to 6":             {six},
		"change the amount of the saw to 6": {six},
		"remove the handle from the saw":    {},
		"delete my tools":                   {},
		"remove the saw from the tools":     {`write: db_delete {"filters":[{"field":"id","op":"=","value":"tool_1"}],"table":"tools"}`},
		"change its servings to 6":          {},
		"set the servings of the saw to 6":  {},
		"move the saw to the tools":         {drawer},
	} {
		require.Equal(t, want, planIn(t, d, message, saw), message)
	}
}

// How much there is of several things is asked of each.
func TestLooksForEach(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{`read: db_read {"filters":[{"field":"name","op":"ilike","value":"%saw%"}],"table":"tools"} ` +
		`db_read {"filters":[{"field":"name","op":"ilike","value":"%lathe%"}],"table":"tools"}`}, plan(t, "do I have a saw and a lathe in my tools?"))
}
