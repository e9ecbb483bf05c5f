package offline

import (
	"slices"

	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// act makes the calls of a step: those that the plan would contain by now.
func (s *scene) act(in *nodes.ActInput) (words string, calls []llm.ToolCall) {
	done := filtered(s.Results, func(r nodes.Result) bool { return r.Current && r.Step == in.Step.Number })
	st := s.stepNow(&in.Step)
	if n := len(done); n > 0 {
		last := done[n-1]
		if last.Error != "" {
			return "", (&step{}).giveUp("tool_failure", last.Error).calls
		}
		// A row that had not been shown is read first; then the call is made again.
		st.calls = filtered(st.calls, func(c llm.ToolCall) bool { return c.Name != last.Tool })
	}
	for _, c := range st.calls {
		if vocab.Writes(c.Name) && !slices.Contains(in.Writable[c.Name], st.about.Table) {
			return "", (&step{}).giveUp("plan_invalid", "That may not be done with the "+st.about.Plural+" here; nothing was changed.").calls
		}
		if slices.Contains(vocab.EveryStep, c.Name) { // it ends the step itself
			return "", st.calls
		}
	}
	if in.Introduces {
		words = st.words
	}

	return words, st.call(vocab.ToolStepComplete, args{"summary": "Done: " + st.does + "."}).calls
}

// stepNow is a step of the plan as it would be made now. A step that code added to the plan reads what the next step needs.
func (s *scene) stepNow(planned *nodes.PlannedStep) *step {
	p := s.plan()
	same := filtered(p.steps, func(st *step) bool { return st.kind == planned.Type })
	named := filtered(same, func(st *step) bool { return st.does == planned.Description })
	if len(named) > 0 || len(planned.Refs) == 0 && len(same) > 0 {
		return first(append(named, same...))
	}
	p.steps = nil
	if planned.Type == vocab.StepRead {
		p.readThese(s.things(planned.Refs, s.lex.domain.Entities...))
	}
	all := &step{kind: planned.Type, does: planned.Description, about: &domain.Entity{}}
	for _, st := range p.steps {
		all.calls = append(all.calls, st.calls...)
	}
	if len(all.calls) == 0 {
		all.giveUp("plan_invalid", "There is nothing like that to look up.")
	}

	return all
}
