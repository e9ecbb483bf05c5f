package nodes

import (
	"slices"

	"alfred/llm"
)

// divide separates the calls of the step from those of the steps beside it: step_complete ends each. What follows is
// left to a decision of its own if it asks something, or does nothing for its step.
func (in *ActInput) divide(calls []llm.ToolCall) (own []llm.ToolCall, others [][]llm.ToolCall) {
	parts := [][]llm.ToolCall{nil}
	for _, call := range calls {
		last := &parts[len(parts)-1]
		if len(parts) <= len(in.Beside) && ended(*last) && (len(parts) > 1 || in.At.Call > 1 || works(*last)) {
			parts = append(parts, nil)
			last = &parts[len(parts)-1]
		}
		*last = append(*last, call)
	}
	others = parts[1:]
	if n := slices.IndexFunc(others, func(part []llm.ToolCall) bool { return !works(part) || standsAlone(part) }); n >= 0 {
		others = others[:n]
	}
	return parts[0], others
}

// ended reports whether calls end their step.
func ended(calls []llm.ToolCall) bool {
	return len(calls) > 0 && calls[len(calls)-1].Name == ToolStepComplete
}

// works reports whether one of the calls does something for its step.
func works(calls []llm.ToolCall) bool {
	return slices.ContainsFunc(calls, func(call llm.ToolCall) bool { return !slices.Contains(EveryStep, call.Name) })
}

// standsAlone reports whether one of the calls has to.
func standsAlone(calls []llm.ToolCall) bool {
	return slices.ContainsFunc(calls, func(call llm.ToolCall) bool {
		return call.Name != ToolStepComplete && slices.Contains(EveryStep, call.Name)
	})
}

// Carried is the decision of a step that consists of calls which an earlier answer wrote out for it.
func Carried(calls []Call) (*ActOutput, error) {
	out := &ActOutput{}
	for _, call := range calls {
		if err := out.add(llm.ToolCall{Name: call.Tool, Args: call.Args}); err != nil {
			return nil, err
		}
	}
	return out, nil
}
