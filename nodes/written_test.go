package nodes_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/vocab"
	"alfred/nodes"
)

func togetherInput() nodes.UnderstandInput {
	plan := thinkInput()
	plan.Homes = map[string]nodes.Home{"vases": {Subdomain: "vases", Type: "vase", Plural: "vases"}}

	return nodes.UnderstandInput{Frame: frame(), EntityTypes: []string{"vase"}, Refs: plan.Refs, HasQuestion: true, Plan: &plan}
}

// An answer in parts is the same decision as one with all fields side by side.
func TestUnderstand_Parts(t *testing.T) {
	t.Parallel()
	for about, forms := range map[string][2]string{
		"nothing but a look-up": {
			`{"intent":"read","mentions":[],"quick":"vase","memory":null,"besides":null}`,
			`{"intent":"read","mentions":[],"quick":{"entity_type":"vase","why":""}}`,
		},
		"what stays and holds": {
			`{"intent":"explore","memory":{"retain":[],"demote":["vase_1"],"forget":[],"exclude":[],"clear_all":false,"constraints":[{"text":"no glass","kind":"exclude","value":null,"scope":"session","replaces":""}],"summary":"glass is out"},"besides":null}`,
			`{"intent":"explore","curation":{"demote":["vase_1"]},"constraints":[{"text":"no glass","kind":"exclude","scope":"session"}],"curation_summary":"glass is out"}`,
		},
		"what decides about a turn": {
			`{"intent":"write","memory":null,"besides":{"answers_question":true,"disambiguation":null,"clarification":["Which one?"],"recall":"the tall ones"}}`,
			`{"intent":"write","answers_question":true,"clarification":{"questions":["Which one?"]},"recall":{"query":"the tall ones"}}`,
		},
		"nothing of it": {
			`{"intent":"chat","quick":null,"memory":null,"besides":{"answers_question":false,"disambiguation":null,"clarification":[],"recall":""}}`,
			`{"intent":"chat"}`,
		},
		"a look-up by the table's name": {`{"intent":"read","quick":"vases"}`, `{"intent":"read","quick":{"entity_type":"vase","why":""}}`},
		"a field filled in without a meaning": {
			`{"intent":"write","memory":null,"besides":{"answers_question":false,"disambiguation":null,"clarification":[],"recall":""}}`,
			`{"intent":"write"}`,
		},
		"fields filled in with words for nothing": {
			`{"intent":"chat","mentions":[],"quick":"null","memory":null,"besides":{"answers_question":false,"disambiguation":{"question":"","options":[]},"clarification":["None"],"recall":"N/A"},"calls":[],"think":{"goal":"","steps":[],"proposal":"None.","questions":[""]},"say":"null"}`,
			`{"intent":"chat","calls":[],"think":{"goal":"","steps":[],"proposal":"","questions":[]},"say":""}`,
		},
		"an intent that answers, and a recall": {
			`{"intent":"confirm","memory":null,"besides":{"answers_question":false,"disambiguation":null,"clarification":[],"recall":"the first idea"}}`,
			`{"intent":"confirm","answers_question":true,"recall":{"query":"the first idea"}}`,
		},
		"an intent that answers": {`{"intent":"confirm","memory":null,"besides":null}`, `{"intent":"confirm","answers_question":true}`},
	} {
		var decisions [2]string
		for i, form := range forms {
			out, err := nodes.Understand(t.Context(), says(form), togetherInput())
			require.NoError(t, err)
			require.Empty(t, out.Degraded, about)
			text, err := json.Marshal(out)
			require.NoError(t, err)
			decisions[i] = strings.ReplaceAll(string(text), "null", "[]")
		}
		require.JSONEq(t, decisions[1], decisions[0], about)
	}
}

// What was deleted in an earlier turn is told with its ref. A message may mean it, but nothing can be done with it.
func TestUnderstand_DeletedRefs(t *testing.T) {
	t.Parallel()
	in := togetherInput()
	in.Deleted, in.Plan.Deleted = []string{"vase_9"}, []string{"vase_9"}
	out, err := nodes.Understand(t.Context(), says(`{"intent":"write","mentions":[{"text":"it","ref":"vase_9","resolution":"exact"}],"memory":{"demote":["vase_9","vase_1"]}}`), in)
	require.NoError(t, err)
	require.Empty(t, out.Degraded)
	require.Equal(t, []nodes.Mention{{Text: "it", Resolution: "unknown"}}, out.Mentions)
	require.Equal(t, []string{"vase_1"}, out.Curation.Demote)

	model := says(`{"goal":"g","steps":[{"type":"read","subdomain":"vases","description":"d","refs":["vase_9"]}]}`, `{"goal":"g","steps":[]}`)
	_, err = nodes.Think(t.Context(), model, *in.Plan)
	require.NoError(t, err)
	require.Contains(t, model.requests[1].Messages[len(model.requests[1].Messages)-1].Content, "vase_9 was deleted")
}

// A reply makes offers in its own words, which are no open question: whoever accepted one with a change of mind was asked
// whether to do what they had just said.
func TestUnderstand_AnswersTheReply(t *testing.T) {
	t.Parallel()
	const create, read = `{"step":0,"tool":"db_create","table":"vases","set":[{"column":"name","value":"Tall"}]}`, `{"step":0,"tool":"db_read","table":"vases"}`
	for _, c := range []struct{ intent, call, want string }{
		{"answer", create, "write"}, {"confirm", create, "write"}, {"answer", read, "answer"}, {"explore", create, "explore"},
	} {
		for _, offers := range []bool{false, true} {
			in := togetherInput()
			in.HasQuestion, in.Offers = false, offers
			out, err := nodes.Understand(t.Context(), says(`{"intent":"`+c.intent+`","calls":[`+c.call+`],"think":null,"say":"Done."}`), in)
			require.NoError(t, err)
			require.Empty(t, out.Degraded)
			require.Equal(t, map[bool]string{true: c.want, false: c.intent}[offers], out.Intent, "a yes to an offer that is gone permits nothing")
		}
	}
}

// A call that names no table is told so, not something about the subdomain that code makes of it.
func TestThink_UnknownTable(t *testing.T) {
	t.Parallel()
	model := says(`{"calls":[{"step":0,"tool":"db_create","table":"lamps","set":[{"column":"a","value":1}]}],"goal":"","proposal":"","questions":[],"steps":[]}`, `{"goal":"g","steps":[]}`)
	_, err := nodes.Think(t.Context(), model, *togetherInput().Plan)
	require.NoError(t, err)
	require.Contains(t, model.requests[1].Messages[len(model.requests[1].Messages)-1].Content, `a call names the table "lamps"; use one of vases.`)
}

// A plan that consists of calls is made by code: what a call does says which step it is.
func TestUnderstand_PlanOfCalls(t *testing.T) {
	t.Parallel()
	answer := func(more string) *nodes.UnderstandOutput {
		out, err := nodes.Understand(t.Context(), says(`{"intent":"write","mentions":[],"quick":null,"memory":null,"besides":null,`+more+`}`), togetherInput())
		require.NoError(t, err)
		require.Empty(t, out.Degraded)

		return out
	}
	plan := answer(`"calls":[
		{"step":0,"tool":"db_read","table":"vases","filters":[{"field":"id","op":"=","value":"vase_1"}],"detail":"full","from_ref":"","set":[]},
		{"step":0,"tool":"db_create","table":"vases","filters":[],"detail":"","from_ref":"gen_vase_1","set":[]},
		{"step":0,"tool":"db_create","table":"vases","filters":[],"detail":"","from_ref":"","set":[{"column":"name","value":"Tall"}]}],"think":null,"say":"Done."`).Think
	require.Len(t, plan.Steps, 2)
	require.Equal(t, nodes.Step{Type: "read", Subdomain: "vases", Description: "Read the vases with id = vase_1", Refs: []string{"vase_1"}, Needs: "refs", Calls: plan.Steps[0].Calls}, plan.Steps[0])
	require.Equal(t, "Save gen_vase_1 to the vases; Add to the vases: name Tall", plan.Steps[1].Description)
	require.Len(t, plan.Steps[1].ReadyCalls(), 2)

	require.Empty(t, answer(`"calls":[],"think":null,"say":""`).Think.Steps, "a reply is all there is to do")
	require.Equal(t, "propose", nodesDecision(answer(`"calls":[],"think":{"goal":"","steps":[],"proposal":"Shall I?","questions":[]},"say":""`)))
	require.Equal(t, "clarify", nodesDecision(answer(`"calls":[],"think":{"goal":"","steps":[],"proposal":"","questions":["Which?"]},"say":""`)))
	require.Nil(t, nodesReady(answer(`"calls":[{"step":0,"tool":"db_create","table":"lamps","set":[{"column":"a","value":1}]}],"think":null,"say":""`)), "a table that nobody handles is for Think")
}

func nodesReady(out *nodes.UnderstandOutput) *nodes.ThinkOutput {
	in := togetherInput().Plan
	in.Permission.Allowed = true

	plan, _ := in.Ready(out.Think)

	return plan
}

func nodesDecision(out *nodes.UnderstandOutput) string { return nodesReady(out).Decision }

// dripping streams its answer letter by letter.
type dripping struct{ text string }

func (m dripping) Generate(_ context.Context, req *llm.Request) (*llm.Response, error) {
	if req.OnDelta != nil {
		for i := range len(m.text) {
			req.OnDelta(m.text[i : i+1])
		}
	}

	return &llm.Response{Text: m.text}, nil
}

// A reply within an answer is shown while it is being written only if nothing else has to be done.
func TestUnderstand_Say(t *testing.T) {
	t.Parallel()
	const rest = `"mentions":[],"quick":null,"memory":null,"besides":null,`
	write := `"calls":[{"step":0,"tool":"db_delete","table":"vases","filters":[{"field":"id","op":"=","value":"vase_1"}]}],"think":null,`
	for answer, shown := range map[string]string{
		`{"intent":"chat",` + rest + `"calls":[],"think":null,"say":"You're \"very\" wel\u00e7ome.\nBye"}`:                        "You're \"very\" welçome.\nBye",
		`{"intent": "chat", ` + rest + `"calls": [], "think": null, "say": "Ok, größer."}`:                                        "Ok, größer.",
		`{"intent":"write",` + rest + write + `"say":"I have deleted it."}`:                                                       "",
		`{"intent":"read",` + rest + `"calls":[],"think":null,"say":"There are three."}`:                                          "",
		`{"intent":"chat",` + rest + `"calls":[],"think":{"goal":"","steps":[],"proposal":"","questions":["What?"]},"say":"Hm."}`: "",
	} {
		in, told := togetherInput(), ""
		in.OnDelta = func(piece string) { told += piece }
		out, err := nodes.Understand(t.Context(), dripping{answer}, in)
		require.NoError(t, err)
		require.NotEmpty(t, out.Say)
		require.Equal(t, shown, told, answer)
		require.Equal(t, shown != "", out.AnswersAlone())
	}
}

// A reply that came with the plan is checked like every reply.
func TestReplyInput_Said(t *testing.T) {
	t.Parallel()
	in := nodes.ReplyInput{Done: nodes.Done{Wrote: true, Undo: "You can take it back."}}
	refs := nodes.Refs{"vase_1": {}}
	require.Equal(t, "I have saved it.\n\nYou can take it back.", in.Prewritten("I have saved it.", refs).Text)
	require.Nil(t, in.Prewritten("I have saved vase_1.", refs), "refs are not for people")
	require.Nil(t, in.Prewritten(`{"text":"saved"}`, refs))
	require.Nil(t, (&nodes.ReplyInput{}).Prewritten("I have saved it.", refs), "nothing was")
	require.Nil(t, (&nodes.ReplyInput{Ask: "Shall I?"}).Prewritten("Well.", refs), "a question has to be asked")
}

// A range in a planned call stands for its refs: of a range of 83 issues, only the first and the last were read before the
// change.
func TestRangesInPlannedCallsAreSpread(t *testing.T) {
	t.Parallel()
	in := togetherInput()
	in.Plan.Refs = understandInput().Refs
	in.Refs = in.Plan.Refs
	out, err := nodes.Understand(t.Context(), says(`{"intent":"write","calls":[{"step":0,"tool":"db_update","table":"vases","set":[{"column":"tint","value":"blue"}],
		"filters":[{"field":"id","op":"=","value":"vase_1..vase_3"},{"field":"height","op":">","value":10}]}]}`), in)
	require.NoError(t, err)
	call := out.Think.Steps[0].ReadyCalls()[0]
	require.JSONEq(t, `{"table":"vases","set":[{"column":"tint","value":"blue"}],
		"filters":[{"field":"id","op":"in","value":["vase_1","vase_2","vase_3"]},{"field":"height","op":">","value":10}]}`, string(call.Args))
	require.Contains(t, out.Think.Steps[0].Description, "vase_1..vase_3")
}

// What a model writes in another form than was asked for is left to whoever reads the call.
func TestPlannedCallsWithoutAListOfFilters(t *testing.T) {
	t.Parallel()
	for _, filters := range []string{`{"field":"id","op":"=","value":"vase_1..vase_3"}`, `"id = vase_1"`} {
		in := togetherInput()
		in.Plan.Refs = understandInput().Refs
		out, err := nodes.Understand(t.Context(), says(`{"intent":"read","calls":[{"step":0,"tool":"db_read","table":"vases","filters":`+filters+`}]}`), in)
		require.NoError(t, err)
		require.JSONEq(t, `{"table":"vases","filters":`+filters+`}`, string(out.Think.Steps[0].ReadyCalls()[0].Args))
	}
}

// An operation's arguments are told with their names: of two days, nobody knows which is the last.
func TestInWordsNamesArguments(t *testing.T) {
	t.Parallel()
	call := vocab.Call{Tool: "bill_time", Args: []byte(`{"until":"2026-11-30","since":"2026-11-01","invoice":"invoice_1"}`)}
	require.Equal(t, "Carry out bill time: until 2026-11-30, since 2026-11-01, invoice invoice_1", nodes.InWords(call, "invoices"))
}
