package nodes

import (
	"slices"

	"github.com/tidwall/gjson"

	"alfred/internal/llm"
	"alfred/internal/vocab"
)

// BesideStep is a later step that needs nothing from the one being decided, so the same answer may contain its calls.
// They are of its type and on tables that no other such step has, so calls show which step they are for.
type BesideStep struct {
	Number      int
	Type        string   // read, generate, write
	Tables      []string // its own
	EntityTypes []string // that it may draft
}

// BesideCalls are the calls that an answer contains for a BesideStep, its step_complete last.
type BesideCalls struct {
	Step  int          `json:"step"`
	Calls []vocab.Call `json:"calls"`
}

// divide separates the step's own calls from those of the steps beside it: step_complete ends each step's calls. Calls
// that are not the whole work of a step are left out, with everything that follows: those steps get decisions of their
// own.
func (in *ActInput) divide(calls []llm.ToolCall) (own []llm.ToolCall, others []BesideCalls) {
	parts := [][]llm.ToolCall{nil}
	for _, call := range calls {
		last := &parts[len(parts)-1]
		if len(in.Beside) > 0 && endStep(*last) && (len(parts) > 1 || in.At.Call > 1 || len(*last) > 1) {
			parts = append(parts, nil)
			last = &parts[len(parts)-1]
		}
		*last = append(*last, call)
	}
	left := in.Beside
	for _, part := range parts[1:] {
		at := slices.IndexFunc(left, func(step BesideStep) bool { return step.isDoneBy(part) })
		if at < 0 {
			break
		}
		one := BesideCalls{Step: left[at].Number}
		for _, call := range part {
			one.Calls = append(one.Calls, vocab.Call{Tool: call.Name, Args: call.Args})
		}
		others, left = append(others, one), left[at+1:]
	}

	return parts[0], others
}

// endStep reports whether calls end their step.
func endStep(calls []llm.ToolCall) bool {
	return len(calls) > 0 && calls[len(calls)-1].Name == vocab.ToolStepComplete
}

// isDoneBy reports whether calls are the step's whole work, ended by step_complete.
func (b *BesideStep) isDoneBy(calls []llm.ToolCall) bool {
	work := calls[:len(calls)-1]
	return endStep(calls) && len(work) > 0 && !slices.ContainsFunc(work, func(call llm.ToolCall) bool { return !b.isFor(call) })
}

// isFor reports whether the step is for a call. Changes of drafts are not: what they lead to depends on
// what the draft is by then.
func (b *BesideStep) isFor(call llm.ToolCall) bool {
	if !gjson.ValidBytes(call.Args) {
		return false
	}
	args := gjson.ParseBytes(call.Args)
	own := slices.Contains(b.Tables, args.Get("table").Str)
	some := func(name string) bool { return len(args.Get(name).Array()) > 0 }
	switch call.Name {
	case vocab.ToolRead:
		return b.Type == vocab.StepRead && own
	case vocab.ToolCreate:
		return b.Type == vocab.StepWrite && own && (args.Get("from_ref").Str == "" || !some("set") && !some("clear") && !some("children"))
	case vocab.ToolUpdate, vocab.ToolDelete:
		return b.Type == vocab.StepWrite && own
	case vocab.ToolGenerate:
		for _, create := range args.Get("creates").Array() {
			if !slices.Contains(b.EntityTypes, create.Get("type").Str) {
				return false
			}
		}

		return b.Type == vocab.StepGenerate && !some("updates")
	default:
		return false
	}
}

// FromCalls is the decision of a step that consists of calls which an earlier answer wrote out for it.
func FromCalls(calls []vocab.Call) (*ActOutput, error) {
	out := &ActOutput{}
	for _, call := range calls {
		if err := out.add(llm.ToolCall{Name: call.Tool, Args: call.Args}); err != nil {
			return nil, err
		}
	}

	return out, nil
}
