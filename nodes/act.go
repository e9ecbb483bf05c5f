package nodes

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"alfred/llm"
)

// maxCalls bounds one decision; a batch of rows is one call.
const maxCalls = 20

// Act makes one decision of one step: tool calls, the step's end, a question, or
// why it cannot go on. Which tools exist is decided by the step's type.
func Act(ctx context.Context, model llm.Model, in ActInput) (*ActOutput, error) {
	tools, err := in.tools()
	if err != nil {
		return nil, err
	}
	return ask(ctx, model, question[ActOutput]{
		node: "act", frame: in.Frame, input: in, tools: tools,
		read: func(resp *llm.Response) (*ActOutput, error) { return readAct(resp, in) },
	})
}

func readAct(resp *llm.Response, in ActInput) (*ActOutput, error) {
	if len(resp.ToolCalls) == 0 {
		return nil, complainf("no tool was called; call one, or step_complete when the step is done")
	}
	if len(resp.ToolCalls) > maxCalls {
		return nil, complainf("%d calls at once; at most %d are taken", len(resp.ToolCalls), maxCalls)
	}
	out := &ActOutput{}
	offered := in.offered()
	for _, call := range resp.ToolCalls {
		if !slices.Contains(offered, call.Name) {
			return nil, complainf("a %s step has no tool %q; it has %s", in.StepType, call.Name, strings.Join(offered, ", "))
		}
		if err := out.add(call); err != nil {
			return nil, err
		}
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
	case ToolStepComplete:
		o.StepComplete = &StepComplete{}
		err = decodeStrict(args, o.StepComplete)
	case ToolAskUser:
		o.AskUser = &AskUser{}
		err = decodeStrict(args, o.AskUser)
	case ToolBlocked:
		o.Blocked = &Blocked{}
		err = decodeStrict(args, o.Blocked)
	case ToolRequestSchema:
		o.RequestSchema = &RequestSchema{}
		err = decodeStrict(args, o.RequestSchema)
	default:
		if err = decodeStrict(args, &map[string]any{}); err == nil {
			o.Calls = append(o.Calls, Call{Tool: call.Name, Args: unfence(args)})
		}
	}
	if err != nil {
		return complainf("the arguments of %s are wrong: %s", call.Name, err.Error())
	}
	return nil
}

func (o *ActOutput) check() error {
	alone := 0
	for _, set := range []bool{o.AskUser != nil, o.Blocked != nil, o.RequestSchema != nil} {
		if set {
			alone++
		}
	}
	if alone > 1 || alone == 1 && (len(o.Calls) > 0 || o.StepComplete != nil) {
		return complainf("ask_user, blocked and request_schema stand alone, without other calls")
	}
	if o.AskUser != nil && strings.TrimSpace(o.AskUser.Question) == "" {
		return complainf("ask_user needs a question")
	}
	if o.RequestSchema != nil && o.RequestSchema.Table == "" {
		return complainf("request_schema needs a table")
	}
	if b := o.Blocked; b != nil {
		if err := oneOf("code", &b.Code, "insufficient_info", blockedCodes...); err != nil {
			return err
		}
		return oneOf("next", &b.Next, "fail", blockedNexts...)
	}
	return nil
}
