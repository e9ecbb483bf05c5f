package nodes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"alfred/llm"
)

// maxRepairs is how often a model may mend one answer.
const maxRepairs = 2

// maxAnswer bounds an answer in bytes: a runaway model must not fill the tables.
const maxAnswer = 1 << 20

// question is one decision put to a model: how it is asked and how its answer is
// read. read returns a complaint in words the model can act on.
type question[T any] struct {
	node   string
	frame  Frame
	input  any // the node's own input, for models in the process
	schema *schema
	tools  []llm.Tool
	read   func(*llm.Response) (*T, error)
}

// complaint is what is wrong with an answer, told to the model in a repair round.
type complaint struct{ text string }

func (c *complaint) Error() string { return c.text }

func complainf(format string, args ...any) error {
	return &complaint{text: fmt.Sprintf(format, args...)}
}

// ask puts the question and, while the answer is malformed, asks again with the
// complaint. It returns the last readable answer together with an *llm.Error of
// kind invalid_output when no round was without complaint; the answer then is
// what read could make of it, or nil.
func ask[T any](ctx context.Context, model llm.Model, q question[T]) (*T, error) {
	req, err := q.request()
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		req.Attempt = attempt
		resp, err := model.Generate(ctx, req)
		if err != nil && llm.KindOf(err) != llm.KindInvalidOutput {
			return nil, fmt.Errorf("%s: ask the model: %w", q.node, err)
		}
		var out *T
		if err == nil {
			if out, err = q.check(resp); err == nil {
				return out, nil
			}
			if req.OnRefused != nil {
				req.OnRefused()
			}
		}
		if attempt > maxRepairs {
			return out, invalidOutput(q.node, err)
		}
		req = withComplaint(req, resp, err)
	}
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
		return nil, complainf("the answer has %d bytes; answer briefly", len(resp.Text))
	}
	return q.read(cleaned(resp, q.schema != nil))
}

func (q *question[T]) request() (*llm.Request, error) {
	system, err := systemPrompt(q.node, q.frame.Persona)
	if err != nil {
		return nil, err
	}
	req := &llm.Request{
		System:   system,
		Messages: []llm.Message{{Role: llm.RoleUser, Content: RenderBlocks(q.frame.Blocks)}},
		Tools:    q.tools,
		Input:    q.input,
		Node:     q.node,
		Turn:     q.frame.At.Turn,
		Step:     q.frame.At.Step,
		Call:     q.frame.At.Call,
	}
	if q.schema != nil {
		req.SchemaName, req.Schema = q.schema.name, q.schema.json
	}
	return req, nil
}

// withComplaint copies the request, so that the record of the first round stays
// what was sent.
func withComplaint(req *llm.Request, resp *llm.Response, problem error) *llm.Request {
	next := *req
	if unusable, ok := errors.AsType[*llm.Error](problem); ok {
		problem = unusable.Err
	}
	if resp == nil {
		resp = &llm.Response{}
	}
	next.Messages = slices.Concat(req.Messages, []llm.Message{
		{Role: llm.RoleAssistant, Content: quoteAnswer(resp)},
		{Role: llm.RoleUser, Content: "That answer cannot be used: " + problem.Error() + ". Answer again, mended."},
	})
	return &next
}

func quoteAnswer(resp *llm.Response) string {
	const shown = 4000
	var b strings.Builder
	b.WriteString(resp.Text)
	for _, c := range resp.ToolCalls {
		fmt.Fprintf(&b, "\n[called %s with %s]", c.Name, c.Args)
	}
	text := strings.TrimSpace(strings.ToValidUTF8(b.String(), ""))
	if text == "" {
		return "(empty)"
	}
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + " ..."
	}
	return text
}

// decodeStrict reads one JSON object into out. Unknown fields, wrong types and
// anything after the object are complaints; missing fields keep their zero value.
func decodeStrict(data []byte, out any) error {
	data = unfence(data)
	if len(bytes.TrimSpace(data)) == 0 {
		return complainf("the answer is empty; answer with one JSON object")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(out); err != nil {
		return complainf("it is not the JSON object that was asked for (%s)", jsonProblem(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return complainf("there is text after the JSON object")
	}
	return nil
}

// unfence takes the JSON out of a Markdown code fence: models without native
// structured output like to add one.
func unfence(data []byte) []byte {
	data = bytes.TrimSpace(data)
	rest, ok := bytes.CutPrefix(data, []byte("```"))
	if !ok {
		return data
	}
	rest = bytes.TrimPrefix(rest, []byte("json"))
	return bytes.TrimSpace(bytes.TrimSuffix(rest, []byte("```")))
}

func jsonProblem(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("field %q must not be a %s", wrong.Field, wrong.Value)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "it is cut off"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// oneOf completes an empty value with fallback and complains about one that is
// not in the list.
func oneOf(field string, value *string, fallback string, allowed ...string) error {
	if *value == "" {
		*value = fallback
	}
	if slices.Contains(allowed, *value) {
		return nil
	}
	return complainf("%s is %q; it must be one of %s", field, *value, strings.Join(allowed, ", "))
}
