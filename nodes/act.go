package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"alfred/internal/answer"
	"alfred/internal/llm"
	"alfred/internal/vocab"
)

// maxCalls bounds one decision; a batch of rows is one call.
const maxCalls = 20

// Act makes one decision of one step: tool calls, the step's end, a question, or why it cannot go on. The step's type
// determines which tools exist; a call of any other is passed on and fails when it is executed. Answers that remain
// unusable end the step, not the turn.
func Act(ctx context.Context, model llm.Model, in ActInput) (*ActOutput, error) {
	tools, err := in.tools()
	if err != nil {
		return nil, err
	}
	out, err := ask(ctx, model, question[ActOutput]{
		node: vocab.NodeAct, frame: in.Frame, input: in, tools: tools, onDelta: in.introducing,
		read: func(resp *llm.Response) (*ActOutput, error) {
			out, err := in.readAct(resp)
			if err == nil && in.Introduces && out.drafts() {
				out.Words = strings.TrimSpace(resp.Text)
			}

			return out, err
		},
		doubt: in.endsUnwritten,
	})
	if llm.KindOf(err) == llm.KindInvalidOutput {
		return &ActOutput{Blocked: &Blocked{Code: "tool_failure", Details: NoDecision, Next: "fail"}}, nil
	}

	return out, err
}

// NoDecision is what code says of a step to which no answer of the model was one.
const NoDecision = "No usable decision was made for this step."

// drafts reports whether the decision makes or changes drafts.
func (o *ActOutput) drafts() bool {
	return slices.ContainsFunc(o.Calls, func(call vocab.Call) bool { return call.Tool == vocab.ToolGenerate })
}

// endsUnwritten complains if a write step is about to end although none of its calls changed anything.
func (in *ActInput) endsUnwritten(o *ActOutput) error {
	if in.StepType != vocab.StepWrite || in.Changed || o.StepComplete == nil || len(o.Calls) > 0 {
		return nil
	}

	return errors.New("step_complete ends a write step in which nothing was saved, changed or deleted; call the tool that does it, or say with blocked what is in the way")
}

func (in *ActInput) readAct(resp *llm.Response) (*ActOutput, error) {
	if len(resp.ToolCalls) == 0 {
		return nil, errors.New("no tool was called; call one, or step_complete when the step is done")
	}
	if len(resp.ToolCalls) > maxCalls {
		return nil, fmt.Errorf("%d calls at once; at most %d are taken", len(resp.ToolCalls), maxCalls)
	}
	out, f := &ActOutput{}, faults{}
	own, others := in.divide(resp.ToolCalls)
	for _, call := range own {
		f.check(out.add(call))
	}
	for _, one := range others {
		_, err := FromCalls(one.Calls)
		f.check(err)
	}
	out.Beside = others
	if err := f.err(); err != nil {
		return nil, err
	}

	return out, out.check()
}

func (o *ActOutput) add(call llm.ToolCall) error {
	args := call.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	var err error
	switch call.Name {
	case vocab.ToolStepComplete:
		o.StepComplete, err = argsOf[StepComplete](args)
	case vocab.ToolAskUser:
		o.AskUser, err = argsOf[AskUser](args)
	case vocab.ToolBlocked:
		o.Blocked, err = argsOf[Blocked](args)
	case vocab.ToolRequestSchema:
		o.RequestSchema, err = argsOf[RequestSchema](args)
	default:
		var object *map[string]any
		if object, err = argsOf[map[string]any](args); err == nil {
			args, err = json.Marshal(object)
			o.Calls = append(o.Calls, vocab.Call{Tool: call.Name, Args: args})
		}
	}
	if err != nil {
		return fmt.Errorf("the arguments of %s are wrong: %w", call.Name, err)
	}

	return nil
}

func argsOf[T any](args json.RawMessage) (*T, error) {
	out := new(T)

	return out, answer.Decode(args, out)
}

func (o *ActOutput) check() error {
	alone := 0
	for _, set := range []bool{o.AskUser != nil, o.Blocked != nil, o.RequestSchema != nil} {
		if set {
			alone++
		}
	}
	if alone > 1 || alone == 1 && (len(o.Calls) > 0 || o.StepComplete != nil) {
		return errors.New("ask_user, blocked and request_schema stand alone, without other calls")
	}
	if a := o.AskUser; a != nil {
		if isNothing(a.Question) {
			return errors.New("ask_user needs a question")
		}
		a.Options = slices.DeleteFunc(a.Options, func(label string) bool { return strings.TrimSpace(label) == "" })
	}
	if o.RequestSchema != nil && o.RequestSchema.Table == "" {
		return errors.New("request_schema needs a table")
	}
	if b := o.Blocked; b != nil {
		return b.check()
	}

	return nil
}

func (b *Blocked) check() error {
	var f faults
	f.check(oneOf("code", &b.Code, "insufficient_info", blockedCodes...))
	f.check(oneOf("next", &b.Next, "fail", blockedNexts...))
	if b.Next == "ask_user" && isNothing(b.Details) {
		f.addf("details are what the user is asked; blocked has none")
	}

	return f.err()
}
