package nodes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"alfred/internal/answer"
	"alfred/internal/llm"
)

// maxRepairs is how often a model may repair one answer.
const maxRepairs = 2

// maxAnswer bounds an answer in bytes: a runaway model must not fill the tables.
const maxAnswer = 1 << 20

// question is one decision put to a model: how it is asked and how its answer is read. read returns a complaint that
// the model can act on.
type question[T any] struct {
	node   string
	prompt string   // name of the instructions; "" for the node's own
	holds  []string // other nodes whose decisions the answer may contain
	frame  Frame
	input  any          // the node's own input, for in-process models
	schema answerSchema // nil for tools or plain text
	tools  []llm.Tool
	read   func(*llm.Response) (*T, error)
	// doubt, if set, complains about an answer that could be used as it is. The model is told so once.
	doubt func(*T) error
	// onDelta, if set, returns the function that receives the pieces of an attempt's answer, or nil.
	onDelta func(attempt int) func(piece string)
	// shorter, if set, is asked instead after an answer was cut off.
	shorter *question[T]
}

// ask puts the question and, while the answer is malformed, asks again with the complaint. If no round succeeds, it
// returns an *llm.Error of kind invalid_output together with whatever read made of the last answer, or nil.
func ask[T any](ctx context.Context, model llm.Model, q question[T]) (*T, error) {
	req, err := q.request()
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		req.Attempt, req.OnDelta = attempt, nil
		if q.onDelta != nil {
			req.OnDelta = q.onDelta(attempt)
		}
		out, resp, complaint, err := q.attempt(ctx, model, req)
		switch {
		case err != nil || complaint == nil:
			return out, err
		case attempt > maxRepairs:
			return out, invalidOutput(q.node, complaint)
		case q.shorter != nil && llm.KindOf(complaint) == llm.KindInvalidOutput:
			q = *q.shorter
			if req, err = q.request(); err != nil {
				return nil, err
			}
		default:
			req = withComplaint(req, resp, complaint)
		}
	}
}

// attempt asks once. complaint says why the answer cannot be used, err why there is none.
func (q *question[T]) attempt(ctx context.Context, model llm.Model, req *llm.Request) (out *T, resp *llm.Response, complaint, err error) {
	resp, err = model.Generate(ctx, req)
	if llm.KindOf(err) == llm.KindInvalidOutput {
		return nil, resp, err, nil
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: ask the model: %w", q.node, err)
	}
	if out, complaint = q.check(resp); complaint != nil && req.OnRefused != nil {
		req.OnRefused()
	}

	return out, resp, complaint, nil
}

// invalidOutput keeps the provider's own error, which names who answered.
func invalidOutput(node string, err error) error {
	if llm.KindOf(err) == llm.KindInvalidOutput {
		return fmt.Errorf("%s: %w", node, err)
	}

	return &llm.Error{Kind: llm.KindInvalidOutput, Provider: node, Err: err}
}

func (q *question[T]) check(resp *llm.Response) (*T, error) {
	if len(resp.Text) > maxAnswer {
		return nil, fmt.Errorf("the answer has %d bytes; answer briefly", len(resp.Text))
	}

	resp = cleaned(resp)
	if q.schema != nil {
		resp.Text = answer.Object(resp.Text, q.node)
	}
	out, err := q.read(resp)
	if err == nil && q.doubt != nil {
		if err = q.doubt(out); err != nil {
			q.doubt = nil
		}
	}

	return out, err
}

func (q *question[T]) request() (*llm.Request, error) {
	system, err := q.frame.Prompts.system(cmp.Or(q.prompt, q.node), q.frame.Persona)
	if err != nil {
		return nil, err
	}
	req := &llm.Request{
		System:   system,
		Messages: q.frame.messages(),
		Declared: q.frame.declared(),
		Tools:    q.tools,
		Input:    q.input,
		Node:     q.node,
		Holds:    q.holds,
		Turn:     q.frame.At.Turn,
		Step:     q.frame.At.Step,
		Call:     q.frame.At.Call,
	}
	if q.schema != nil {
		req.SchemaName = q.node
		req.Schema, err = q.schema()
	}

	return req, err
}

// messages are the prompt: the blocks, or the conversation that it continues.
func (f *Frame) messages() []llm.Message {
	if f.Round == nil {
		return []llm.Message{{Role: llm.RoleUser, Content: RenderBlocks(f.Blocks), Stable: len(RenderBlocks(f.shared()))}}
	}
	list := slices.Clone(f.Round.Messages)
	list[0].Stable = 0 // counted in the text as it was sent, whatever the blocks say now
	for _, block := range f.shared() {
		end := "\n</" + block.Tag + ">"
		if at := strings.Index(list[0].Content, end); at >= 0 {
			list[0].Stable = max(list[0].Stable, at+len(end))
		}
	}
	list = append(list, f.Round.Answer)
	for _, result := range f.Results {
		list = append(list, llm.Message{Role: llm.RoleTool, Content: result})
	}

	return list
}

// declared returns the sections that say nothing about this conversation.
func (f *Frame) declared() []string {
	var texts []string
	for _, block := range f.Blocks {
		for _, section := range block.Sections {
			if section.Declared {
				texts = append(texts, renderSections([]Section{section}))
			}
		}
	}

	return texts
}

// shared returns the leading blocks that other prompts of this turn and the next also begin with.
func (f *Frame) shared() []Block {
	n := 0
	for n < len(f.Blocks) && slices.Contains([]string{"session_context", "conversation_history", "turn_narrative", "prior_turn_context"}, f.Blocks[n].Tag) {
		n++
	}

	return f.Blocks[:n]
}

// withComplaint copies the request, so that the record of the first round stays what was sent.
func withComplaint(req *llm.Request, resp *llm.Response, problem error) *llm.Request {
	next := *req
	if unusable, ok := errors.AsType[*llm.Error](problem); ok {
		problem = unusable.Err
	}
	if resp == nil {
		resp = &llm.Response{}
	}
	next.Messages = slices.Clone(req.Messages)
	if text := clipAnswer(resp.Text); text != "" {
		next.Messages = append(next.Messages, llm.Message{Role: llm.RoleAssistant, Content: text})
	}
	said := calledText(resp) + "That answer cannot be used: " + clipAnswer(problem.Error()) + ". Answer again, mended."
	if last := &next.Messages[len(next.Messages)-1]; last.Role == llm.RoleTool { // some servers refuse a user message after results
		last.Content += "\n\n" + said
		return &next
	}
	next.Messages = append(next.Messages, llm.Message{Role: llm.RoleUser, Content: said})

	return &next
}

// calledText quotes calls back to the model that made them. They go into the user message, because models copy whatever
// text they find among their own.
func calledText(resp *llm.Response) string {
	if len(resp.ToolCalls) == 0 {
		if clipAnswer(resp.Text) == "" {
			return "Your answer was empty. "
		}

		return ""
	}
	var b strings.Builder
	b.WriteString("These were the tools you called, with what arguments:\n")
	for i, c := range resp.ToolCalls {
		fmt.Fprintf(&b, "%d. %s: %s\n", i+1, c.Name, clipAnswer(string(c.Args)))
	}

	return b.String()
}

func clipAnswer(text string) string {
	const shown = 4000
	text = strings.TrimSpace(strings.ToValidUTF8(text, ""))
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + " ..."
	}

	return text
}

// faults collects everything wrong with an answer, so that one repair round can fix it all.
type faults []string

func (f *faults) addf(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

func (f *faults) check(err error) {
	if err != nil {
		*f = append(*f, err.Error())
	}
}

func (f *faults) err() error {
	if len(*f) == 0 {
		return nil
	}

	return errors.New(strings.Join(*f, "; "))
}

// oneOf replaces an empty value by fallback and complains about a value that is not allowed.
func oneOf(field string, value *string, fallback string, allowed ...string) error {
	if *value == "" {
		*value = fallback
	}
	at := slices.IndexFunc(allowed, func(one string) bool { return strings.EqualFold(one, strings.TrimSpace(*value)) })
	if at >= 0 {
		*value = allowed[at]
		return nil
	}

	return fmt.Errorf("%s is %q; it must be one of %s", field, *value, strings.Join(allowed, ", "))
}
