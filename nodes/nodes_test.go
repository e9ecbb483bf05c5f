package nodes_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/vocab"
	"alfred/nodes"
)

var update = flag.Bool("update", false, "rewrite golden files")

// scripted answers with the given responses, one per request, and records the requests.
type scripted struct {
	answers  []llm.Response
	requests []llm.Request
}

func (s *scripted) Generate(_ context.Context, req *llm.Request) (*llm.Response, error) {
	s.requests = append(s.requests, *req)
	if len(s.requests) > len(s.answers) {
		return nil, &llm.Error{Kind: llm.KindScriptExhausted, Provider: "test"}
	}
	answer := s.answers[len(s.requests)-1]
	if req.OnDelta != nil {
		req.OnDelta(answer.Text)
	}

	return &answer, nil
}

func says(texts ...string) *scripted {
	s := &scripted{}
	for _, t := range texts {
		s.answers = append(s.answers, llm.Response{Text: t, Provider: "test"})
	}

	return s
}

func calls(name, args string) llm.ToolCall {
	return llm.ToolCall{Name: name, Args: json.RawMessage(args)}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func frame() nodes.Frame {
	return nodes.Frame{
		Persona: "You know about vases.",
		Blocks: []nodes.Block{
			{Tag: "entity_context", Sections: []nodes.Section{
				{Heading: "## Recent Context (last 2 turns)", Body: "- vase_1: Blue Vase (vase) [read]"},
				{Heading: "## Excluded (user rejected)"},
			}},
			{Tag: "empty"},
			{Tag: "current_task", Sections: []nodes.Section{{Heading: "## Current Message", Body: "show it"}}},
		},
		At: nodes.At{Turn: 3, Call: 1},
	}
}

func refs() nodes.Refs {
	return nodes.Refs{"vase_1": {Type: "vase", Label: "Blue Vase"}, "gen_vase_1": {Type: "vase", Pending: true}}
}

func TestRenderBlocks(t *testing.T) {
	t.Parallel()
	golden(t, "blocks.txt", nodes.RenderBlocks(frame().Blocks))
}

func TestUnderstand(t *testing.T) {
	t.Parallel()
	in := nodes.UnderstandInput{Frame: frame(), Refs: refs(), EntityTypes: []string{"vase"}}

	for _, tc := range []struct {
		name    string
		answers []string
		check   func(t *testing.T, m *scripted, out *nodes.UnderstandOutput)
	}{
		{"empty object allows no write", []string{`{}`}, func(t *testing.T, _ *scripted, out *nodes.UnderstandOutput) {
			t.Helper()
			require.Equal(t, "explore", out.Intent)
		}},
		{"unknown ref is sent back once", []string{
			`{"mentions":[{"text":"it","ref":"vase_9","resolution":"exact","candidates":[],"reason":""}]}`,
			`{"mentions":[{"text":"it","ref":"vase_1","resolution":"exact","candidates":[],"reason":""}],"intent":"read"}`,
		}, func(t *testing.T, m *scripted, out *nodes.UnderstandOutput) {
			t.Helper()
			require.Equal(t, "vase_1", out.Mentions[0].Ref)
			require.Contains(t, m.requests[1].Messages[2].Content, "there is no vase_9")
			require.Len(t, m.requests[0].Messages, 1, "the record of the first round stays what was sent")
		}},
		{"an invented ref that is not taken back is removed", []string{
			`{"curation":{"retain":[{"ref":"vase_9","reason":"x"}],"demote":["vase_1","gen_vase_1"]},"intent":"write"}`,
			`{"curation":{"retain":[{"ref":"vase_9","reason":"x"}],"demote":["vase_1","gen_vase_1"]},"intent":"write"}`,
			`{"curation":{"retain":[{"ref":"vase_9","reason":"x"}],"demote":["vase_1","gen_vase_1"]},"intent":"write"}`,
		}, func(t *testing.T, _ *scripted, out *nodes.UnderstandOutput) {
			t.Helper()
			require.Empty(t, out.Curation.Retain)
			require.Equal(t, []string{"vase_1"}, out.Curation.Demote, "a draft is not demoted")
			require.NotEmpty(t, out.Degraded)
		}},
		{"not JSON three times gives the empty output", []string{"hello", "hello", "hello"}, func(t *testing.T, _ *scripted, out *nodes.UnderstandOutput) {
			t.Helper()
			require.Equal(t, "explore", out.Intent)
			require.NotEmpty(t, out.Degraded)
		}},
		{"without an open question nothing is answered", []string{`{"answers_question":true,"intent":"answer"}`}, func(t *testing.T, _ *scripted, out *nodes.UnderstandOutput) {
			t.Helper()
			require.False(t, out.AnswersQuestion)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := says(tc.answers...)
			out, err := nodes.Understand(t.Context(), m, in)
			require.NoError(t, err)
			tc.check(t, m, out)
		})
	}
}

func TestUnderstandPrompt(t *testing.T) {
	t.Parallel()
	m := says(`{}`)
	_, err := nodes.Understand(t.Context(), m, nodes.UnderstandInput{Frame: frame(), Refs: refs(), EntityTypes: []string{"vase"}})
	require.NoError(t, err)
	req := m.requests[0]
	golden(t, "understand.txt", req.System+"\n\n=====\n\n"+req.Messages[0].Content+"\n")
	golden(t, "understand.schema.json", indent(t, req.Schema))
	require.Equal(t, "understand", req.SchemaName)
	_, examples, _ := strings.Cut(strings.ToLower(req.System), "## examples")
	for _, one := range []string{"clear reference", "ambiguous", "retention", "demotion", "fresh start", "rejection"} {
		require.Contains(t, examples, one, "shortening must not leave one out")
	}
}

func indent(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(raw, &v))
	out, err := json.MarshalIndent(v, "", "  ")
	require.NoError(t, err)

	return string(out) + "\n"
}

func thinkInput() nodes.ThinkInput {
	return nodes.ThinkInput{
		Frame: frame(), Refs: refs(), MaxSteps: 2,
		Subdomains: []string{"vases"}, Subdomain: func(word string) string { return strings.TrimSuffix(word, "s") + "s" },
	}
}

const writePlan = `{"goal":"save it","decision":"plan","steps":[{"type":"write","subdomain":"vases","description":"Save gen_vase_1","refs":["gen_vase_1"],"needs":"refs"}],"questions":[]}`

func TestThink(t *testing.T) {
	t.Parallel()

	t.Run("a write without the user's word becomes a proposal after one repair round", func(t *testing.T) {
		t.Parallel()
		m := says(writePlan, writePlan)
		out, err := nodes.Think(t.Context(), m, thinkInput())
		require.NoError(t, err)
		require.Equal(t, "propose", out.Decision)
		require.Contains(t, out.Proposal, "Save gen_vase_1")
		require.Equal(t, "write", out.Steps[0].Type, "the steps are what a yes permits")
		require.Len(t, m.requests, 2)
	})

	t.Run("a write with the user's word stays", func(t *testing.T) {
		t.Parallel()
		in := thinkInput()
		in.Permission.Allowed = true
		out, err := nodes.Think(t.Context(), says(writePlan), in)
		require.NoError(t, err)
		require.Equal(t, "write", out.Steps[0].Type)
	})

	t.Run("a plan that stays too long is cut", func(t *testing.T) {
		t.Parallel()
		long := `{"goal":"g","decision":"plan","steps":[` +
			`{"type":"read","subdomain":"vase","description":"a"},{"type":"analyze","subdomain":"vases","description":"b"},{"type":"read","subdomain":"vases","description":"c"}]}`
		out, err := nodes.Think(t.Context(), says(long, long, long), thinkInput())
		require.NoError(t, err)
		require.Len(t, out.Steps, 2)
		require.Equal(t, "vases", out.Steps[0].Subdomain, "aliases are normalised")
		require.Equal(t, "rows", out.Steps[1].Needs, "an analysis always needs rows")
	})

	t.Run("a fault of any length is told in a few words", func(t *testing.T) {
		t.Parallel()
		m := says(`{"goal":"g","decision":"`+strings.Repeat("plan ", 50_000)+`"}`, `{"goal":"g","decision":"plan","proposal":"Shall I?"}`)
		_, err := nodes.Think(t.Context(), m, thinkInput())
		require.NoError(t, err)
		require.Less(t, len(m.requests[1].Messages[2].Content), 5000)
	})

	t.Run("a plan without steps but with a proposal is a proposal", func(t *testing.T) {
		t.Parallel()
		out, err := nodes.Think(t.Context(), says(`{"goal":"g","decision":"plan","proposal":"Shall I?"}`), thinkInput())
		require.NoError(t, err)
		require.Equal(t, "propose", out.Decision)
	})

	for name, bad := range map[string]string{
		"unknown subdomain": `{"goal":"g","steps":[{"type":"read","subdomain":"cups","description":"a"}]}`,
		"unknown field":     `{"goal":"g","wishes":[]}`,
		"wrong type":        `{"goal":["g"]}`,
		"cut off":           `{"goal":"g","steps":[{"type":`,
		"two objects":       `{"goal":"g"} {"goal":"h"}`,
		"empty":             "",
	} {
		t.Run(name+" is invalid output after the repair rounds", func(t *testing.T) {
			t.Parallel()
			_, err := nodes.Think(t.Context(), says(bad, bad, bad), thinkInput())
			require.Equal(t, llm.KindInvalidOutput, llm.KindOf(err))
		})
	}
}

func TestAct(t *testing.T) {
	t.Parallel()
	in := func(stepType string) nodes.ActInput {
		return nodes.ActInput{Frame: frame(), StepType: stepType, Toolbox: nodes.Toolbox{Tables: []string{"vases", "rooms"}, Writable: map[string][]string{vocab.ToolCreate: {"vases"}, vocab.ToolUpdate: {"vases"}, vocab.ToolDelete: {"vases"}}, EntityTypes: []string{"vase"}}, SchemaRequestsLeft: 1}
	}
	answer := func(calls ...llm.ToolCall) llm.Response { return llm.Response{ToolCalls: calls, Provider: "test"} }

	t.Run("calls and the step's end in one answer", func(t *testing.T) {
		t.Parallel()
		m := &scripted{answers: []llm.Response{answer(calls("db_read", `{"table":"vases"}`), calls("step_complete", `{"summary":"1 row"}`))}}
		out, err := nodes.Act(t.Context(), m, in("read"))
		require.NoError(t, err)
		require.Len(t, out.Calls, 1)
		require.Equal(t, "1 row", out.StepComplete.Summary)
		golden(t, "act_read.tools.json", indent(t, must(json.Marshal(m.requests[0].Tools))))
	})

	for name, stepType := range map[string]string{"read": "read", "analyze": "analyze", "generate": "generate"} {
		t.Run("V31: a "+name+" step is not offered db_delete, and a call of it is passed on to fail as one", func(t *testing.T) {
			t.Parallel()
			m := &scripted{answers: []llm.Response{answer(calls("db_delete", `{"table":"vases","filters":[]}`))}}
			out, err := nodes.Act(t.Context(), m, in(stepType))
			require.NoError(t, err)
			require.Equal(t, "db_delete", out.Calls[0].Tool)
			for _, tool := range m.requests[0].Tools {
				require.NotEqual(t, "db_delete", tool.Name)
			}
		})
	}

	read, add := calls("db_read", `{"table":"vases"}`), calls("db_create", `{"table":"tasks","rows":[]}`)
	draft, change := calls("generate", `{"creates":[{"type":"vase"}],"updates":[]}`), calls("generate", `{"creates":[],"updates":[{"ref":"gen_vase_1"}]}`)
	look, done, ask := calls("db_read", `{"table":"tasks"}`), calls("step_complete", `{"summary":"done"}`), calls("ask_user", `{"question":"Which?"}`)
	for name, tc := range map[string]struct {
		answer []llm.ToolCall
		call   int
		own    int
		beside []int
	}{
		"two steps":                          {[]llm.ToolCall{read, done, add, done}, 1, 1, []int{2}},
		"three":                              {[]llm.ToolCall{read, done, add, done, draft, done}, 1, 1, []int{2, 3}},
		"one is left out":                    {[]llm.ToolCall{read, done, draft, done}, 1, 1, []int{3}},
		"they stand in another order":        {[]llm.ToolCall{read, done, draft, done, add, done}, 1, 1, []int{3}},
		"the last is not ended":              {[]llm.ToolCall{read, done, add, done, draft}, 1, 1, []int{2}},
		"a write looks first":                {[]llm.ToolCall{read, done, look, done}, 1, 1, nil},
		"a draft is changed":                 {[]llm.ToolCall{read, done, change, done}, 1, 1, nil},
		"more steps than there are":          {[]llm.ToolCall{read, done, add, done, add, done}, 1, 1, []int{2}},
		"the step's end in front":            {[]llm.ToolCall{done, read}, 1, 1, nil},
		"the end of a step that has decided": {[]llm.ToolCall{done, add, done}, 2, 0, []int{2}},
		"a question beside":                  {[]llm.ToolCall{read, done, ask}, 1, 1, nil},
		"nothing but an end beside":          {[]llm.ToolCall{read, done, done, add, done}, 1, 1, nil},
	} {
		t.Run("steps beside each other: "+name, func(t *testing.T) {
			t.Parallel()
			one := in("read")
			one.Beside = []nodes.BesideStep{{Number: 2, Type: "write", Tables: []string{"tasks"}}, {Number: 3, Type: "generate", Tables: []string{"vases"}, EntityTypes: []string{"vase"}}}
			one.At.Call = tc.call
			out, err := nodes.Act(t.Context(), &scripted{answers: []llm.Response{answer(tc.answer...)}}, one)
			require.NoError(t, err)
			require.Len(t, out.Calls, tc.own)
			var beside []int
			for _, part := range out.Beside {
				beside = append(beside, part.Step)
				require.Equal(t, vocab.ToolStepComplete, part.Calls[len(part.Calls)-1].Tool)
			}
			require.Equal(t, tc.beside, beside)
		})
	}

	for name, bad := range map[string][]llm.ToolCall{
		"a table asked for without its name": {calls("request_schema", `{}`)},
		"a question without words":           {calls("ask_user", `{"question":" "}`)},
		"blocked without a known way on":     {calls("blocked", `{"code":"tool_failure","details":"d","next":"dance"}`)},
		"a call beside a question":           {calls("db_read", `{"table":"vases"}`), calls("ask_user", `{"question":"Which?"}`)},
		"arguments that are a list":          {calls("db_read", `[]`)},
	} {
		t.Run("malformed: "+name, func(t *testing.T) {
			t.Parallel()
			m := &scripted{answers: []llm.Response{answer(bad...), answer(calls("step_complete", `{"summary":"ok"}`))}}
			out, err := nodes.Act(t.Context(), m, in("read"))
			require.NoError(t, err)
			require.Len(t, m.requests, 2, "it is asked again")
			require.Equal(t, "ok", out.StepComplete.Summary)
		})
	}

	t.Run("V31: answers that stay unusable end the step, not the turn", func(t *testing.T) {
		t.Parallel()
		bad := llm.Response{Text: "done"}
		out, err := nodes.Act(t.Context(), &scripted{answers: []llm.Response{bad, bad, bad}}, in("read"))
		require.NoError(t, err)
		require.Equal(t, "fail", out.Blocked.Next)
	})

	t.Run("V03: a write step that changed nothing is sent back once", func(t *testing.T) {
		t.Parallel()
		end := answer(calls("step_complete", `{"summary":"Saved five dinners"}`))
		m := &scripted{answers: []llm.Response{end, end}}
		out, err := nodes.Act(t.Context(), m, in("write"))
		require.NoError(t, err)
		require.NotNil(t, out.StepComplete)
		require.Contains(t, m.requests[1].Messages[1].Content, "nothing was saved")
	})

	t.Run("V21: a correction quotes calls in the user's words, not as the model's text", func(t *testing.T) {
		t.Parallel()
		bad := answer(calls("ask_user", `{}`))
		m := &scripted{answers: []llm.Response{bad, answer(calls("step_complete", `{"summary":"ok"}`))}}
		_, err := nodes.Act(t.Context(), m, in("read"))
		require.NoError(t, err)
		for _, message := range m.requests[1].Messages {
			require.Equal(t, llm.RoleUser, message.Role)
		}
	})

	t.Run("words beside a draft are passed on while they are written, those of a repair are not", func(t *testing.T) {
		t.Parallel()
		generate := calls("generate", `{"creates":[]}`)
		m := &scripted{answers: []llm.Response{{Text: " A vase. Shall I save it?", ToolCalls: []llm.ToolCall{generate}}}}
		told, draft := "", in("generate")
		draft.Introduces, draft.OnDelta = true, func(text string) { told += text }
		out, err := nodes.Act(t.Context(), m, draft)
		require.NoError(t, err)
		require.Equal(t, " A vase. Shall I save it?", told)
		require.Equal(t, "A vase. Shall I save it?", out.Words)

		told = ""
		m = &scripted{answers: []llm.Response{{Text: "A vase."}, {Text: "Two.", ToolCalls: []llm.ToolCall{generate}}}}
		out, err = nodes.Act(t.Context(), m, draft)
		require.NoError(t, err)
		require.Equal(t, "A vase.", told)
		require.Equal(t, "Two.", out.Words)

		draft.Introduces = false
		m = &scripted{answers: []llm.Response{{Text: "A vase.", ToolCalls: []llm.ToolCall{generate}}}}
		out, err = nodes.Act(t.Context(), m, draft)
		require.NoError(t, err)
		require.Empty(t, out.Words)
	})

	for name, bad := range map[string]llm.Response{
		"text only":            {Text: "done"},
		"broken arguments":     answer(calls("db_read", `{"table":`)),
		"arguments as a list":  answer(calls("db_read", `[]`)),
		"question with a call": answer(calls("db_read", `{"table":"vases"}`), calls("ask_user", `{"question":"?"}`)),
		"empty question":       answer(calls("ask_user", `{}`)),
	} {
		t.Run(name+" is mended in a repair round", func(t *testing.T) {
			t.Parallel()
			m := &scripted{answers: []llm.Response{bad, answer(calls("step_complete", `{"summary":"ok"}`))}}
			out, err := nodes.Act(t.Context(), m, in("read"))
			require.NoError(t, err)
			require.NotNil(t, out.StepComplete)
			require.Len(t, m.requests, 2)
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}

	return v
}

// cutOff first answers like a provider that hit the token limit, then properly.
type cutOff struct{ scripted }

func (c *cutOff) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	resp, err := c.scripted.Generate(ctx, req)
	if len(c.requests) == 1 {
		return resp, &llm.Error{Kind: llm.KindInvalidOutput, Provider: "test", Err: errors.New("the answer was cut off")}
	}

	return resp, err
}

func TestAskMendsWhatTheProviderCallsUnusable(t *testing.T) {
	t.Parallel()
	m := &cutOff{*says(`{"goal":`, `{"goal":"g"}`)}
	out, err := nodes.Think(t.Context(), m, thinkInput())
	require.NoError(t, err)
	require.Equal(t, "g", out.Goal)
	require.Contains(t, m.requests[1].Messages[2].Content, "cut off")
}

func TestReply(t *testing.T) {
	t.Parallel()
	in := nodes.ReplyInput{Frame: frame(), Fallback: "1 vase."}

	t.Run("streams", func(t *testing.T) {
		t.Parallel()
		var seen string
		streaming := in
		streaming.OnDelta = func(s string) { seen += s }
		out, err := nodes.Reply(t.Context(), says("Here it is."), streaming)
		require.NoError(t, err)
		require.Equal(t, "Here it is.", out.Text)
		require.Equal(t, out.Text, seen)
	})
	t.Run("an empty answer gives the facts", func(t *testing.T) {
		t.Parallel()
		out, err := nodes.Reply(t.Context(), says("", " ", "\x00"), in)
		require.NoError(t, err)
		require.Equal(t, "1 vase.", out.Text)
		require.True(t, out.Fallback)
	})
	t.Run("a script's end is an error", func(t *testing.T) {
		t.Parallel()
		_, err := nodes.Reply(t.Context(), says(), in)
		require.Equal(t, llm.KindScriptExhausted, llm.KindOf(err))
	})
}

func TestSummarizeFillsInFromFacts(t *testing.T) {
	t.Parallel()
	in := nodes.SummarizeInput{Frame: frame(), Fallback: nodes.SummarizeOutput{ResponseSummary: "facts"}}
	out, err := nodes.Summarize(t.Context(), says(`{}`), in)
	require.NoError(t, err)
	require.Equal(t, "facts", out.ResponseSummary)
	require.Equal(t, "exploring", out.ConversationPhase)
}

func TestCompress(t *testing.T) {
	t.Parallel()
	in := nodes.CompressInput{Frame: frame(), Fallback: nodes.CompressOutput{Conversation: "older turns"}}
	out, err := nodes.Compress(t.Context(), says(`{"text":"They talked."}`), in)
	require.NoError(t, err)
	require.Equal(t, "They talked.", out.Narrative, "one text may stand for both")

	out, err = nodes.Compress(t.Context(), says(`{"conversation":"They talked.","narrative":"Nothing was done."}`), in)
	require.NoError(t, err)
	require.Equal(t, nodes.CompressOutput{Conversation: "They talked.", Narrative: "Nothing was done."}, *out)

	_, err = nodes.Compress(t.Context(), says(`{"text":""}`, `{}`, `x`), in)
	require.Equal(t, llm.KindInvalidOutput, llm.KindOf(err))
}

// Q01: a node's input accompanies the request only for in-process models.
func TestInputTravelsInTheProcessAlone(t *testing.T) {
	t.Parallel()

	model := says("Hello.")
	in := nodes.ReplyInput{Frame: frame(), Facts: func() nodes.Facts { return nodes.Facts{Message: "a secret of the facts"} }}
	_, err := nodes.Reply(t.Context(), model, in)
	require.NoError(t, err)
	sent, ok := model.requests[0].Input.(nodes.ReplyInput)
	require.True(t, ok)
	require.Equal(t, in.Facts(), sent.Facts())
	recorded, err := json.Marshal(model.requests[0])
	require.NoError(t, err)
	require.NotContains(t, string(recorded), "secret")
}

// Nobody is asked a question without words, or offered an answer without any.
func TestEmptyQuestionsAreNotAsked(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]llm.ToolCall{
		"ask_user": calls("ask_user", `{"question":"null","options":["Yes"],"would_write":false}`),
		"blocked":  calls("blocked", `{"code":"insufficient_info","details":"","next":"ask_user"}`),
	} {
		model := &scripted{answers: []llm.Response{
			{ToolCalls: []llm.ToolCall{empty}},
			{ToolCalls: []llm.ToolCall{calls("ask_user", `{"question":"Which?","options":["None"," "],"would_write":false}`)}},
		}}
		out, err := nodes.Act(t.Context(), model, nodes.ActInput{Frame: frame(), StepType: "read", Toolbox: nodes.Toolbox{Tables: []string{"vases"}}})
		require.NoError(t, err, name)
		require.Equal(t, &nodes.AskUser{Question: "Which?", Options: []string{"None"}}, out.AskUser, name)
	}
	out, err := nodes.Think(t.Context(), says(`{"goal":"","steps":[{"type":"read","subdomain":"vases","description":"Read them","refs":[],"needs":"refs"}],"proposal":"none","questions":["n/a"],"calls":[]}`), thinkInput())
	require.NoError(t, err)
	require.Equal(t, "plan", out.Decision)
}
