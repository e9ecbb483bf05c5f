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
	"alfred/internal/vocab"
)

var (
	decisions = []string{"plan", "propose", "clarify"}
	needs     = []string{"refs", "rows"}
)

// Think makes a turn's plan, or a proposal, or asks. Code enforces the limits: a plan that remains too long is cut, and
// one that writes without consent becomes a proposal.
func Think(ctx context.Context, model llm.Model, in ThinkInput) (*ThinkOutput, error) {
	out, err := ask(ctx, model, question[ThinkOutput]{
		node: vocab.NodeThink, frame: in.permissionFrame(), input: in, schema: schemaOf[thinkAnswer](in.Prompts, in.enums("")),
		read: func(resp *llm.Response) (*ThinkOutput, error) { return readThink(resp, in) },
		doubt: func(out *ThinkOutput) error {
			if out.writes() && !in.Permission.Allowed {
				return errors.New("the user has not asked to change anything; propose it instead of planning a write step")
			}

			return nil
		},
	})
	if out != nil && (err == nil || llm.KindOf(err) == llm.KindInvalidOutput) {
		return out.enforce(in), nil
	}

	return out, err
}

// enums returns a plan's allowed values, by field path below prefix.
func (in *ThinkInput) enums(prefix string) map[string][]string {
	return map[string][]string{
		prefix + "steps.type": vocab.StepTypes, prefix + "steps.needs": needs, prefix + "steps.subdomain": in.Subdomains,
		"calls.table": in.tables(),
		"calls.tool":  append([]string{vocab.ToolRead, vocab.ToolAnalyze, vocab.ToolCreate, vocab.ToolUpdate, vocab.ToolDelete, vocab.ToolUndo}, in.Operations...),
	}
}

// Ready returns the plan that came with Understand's answer, as it is to be followed, or nil if Think has to be asked, with
// the reason as in Refused. It is checked against what is known after the message was understood: refs that were
// forgotten are gone, and only requested writes are allowed.
func (in *ThinkInput) Ready(out *ThinkOutput) (plan *ThinkOutput, refused string) {
	var f faults
	own := *out
	own.Steps = slices.Clone(out.Steps)
	own.checkValues(&f, *in)
	own.checkLimits(&f, *in)
	if err := f.err(); err != nil {
		return nil, err.Error()
	}
	if own.writes() && !in.Permission.Allowed {
		return nil, ""
	}

	return &own, ""
}

// permissionFrame is the frame with what may be written below the task, and why a plan was refused.
func (in *ThinkInput) permissionFrame() Frame {
	f, words := in.Frame, in.Permission.words()
	if in.Refused != "" {
		words += "\nA first plan was refused: " + in.Refused
	}
	f.Blocks = slices.Clone(f.Blocks)
	for i := range f.Blocks {
		f.Blocks[i].Sections = slices.Clone(f.Blocks[i].Sections)
		for j := range f.Blocks[i].Sections {
			if s := &f.Blocks[i].Sections[j]; s.Heading == headingTask {
				s.Body = strings.TrimSpace(s.Body) + "\n" + words
			}
		}
	}

	return f
}

const headingTask = "## Current Task"

// words is the permission as the planner reads it.
func (p *Permission) words() string {
	why := strings.Join(strings.Fields(p.Why), " ")
	if why != "" {
		why = ", " + why
	}
	if !p.Allowed {
		return "Write steps: not allowed" + why + "; leave them out or propose them"
	}
	lines := []string{"Write steps: allowed" + why}
	for _, w := range p.Writes {
		line := "- " + strings.Join(strings.Fields(w.Description), " ")
		if len(w.Refs) > 0 {
			line += " (" + strings.Join(w.Refs, ", ") + ")"
		}
		lines = append(lines, line)
	}

	return strings.Join(lines, "\n")
}

// readThink returns the output together with the complaint if code can enforce the limit that was broken.
func readThink(resp *llm.Response, in ThinkInput) (*ThinkOutput, error) {
	out := &ThinkOutput{}
	if err := answer.Decode([]byte(resp.Text), out); err != nil {
		return nil, err
	}
	out.placeCalls(&in)
	var f faults
	out.checkValues(&f, in)
	if err := f.err(); err != nil {
		return nil, err
	}
	out.checkLimits(&f, in)

	return out, f.err()
}

func (o *ThinkOutput) checkValues(f *faults, in ThinkInput) {
	f.check(oneOf("decision", &o.Decision, o.implied(), decisions...))
	if o.Decision == "plan" && len(o.Steps) == 0 && o.Proposal != "" {
		o.Decision = "propose"
	}
	if o.Decision == "propose" && o.Proposal == "" {
		f.addf("decision propose needs a proposal")
	}
	if o.Decision == "clarify" && len(o.Questions) == 0 {
		f.addf("decision clarify needs questions")
	}
	for i := range o.Steps {
		if u := o.Steps[i].undo(); u != nil {
			u.check(f, &in, o.Decision)

			continue
		}
		o.Steps[i].Refs = in.Refs.expand(o.Steps[i].Refs)
		o.Steps[i].check(f, i+1, in)
	}
}

// implied is the decision of an answer that does not name it.
func (o *ThinkOutput) implied() string {
	switch {
	case o.Proposal != "":
		return "propose"
	case len(o.Questions) > 0:
		return "clarify"
	default:
		return "plan"
	}
}

func (s *Step) check(f *faults, number int, in ThinkInput) {
	f.check(oneOf("type", &s.Type, "", vocab.StepTypes...))
	f.check(oneOf("needs", &s.Needs, "refs", needs...))
	if s.Type == vocab.StepAnalyze && len(s.ReadyCalls()) == 0 {
		s.Needs = "rows"
	}
	s.Subdomain = in.Subdomain(s.Subdomain)
	if !slices.Contains(in.Subdomains, s.Subdomain) {
		f.addf("%s", in.noSubdomain(s, number))
	}
	if strings.TrimSpace(s.Description) == "" {
		s.Description = in.described(s.Calls)
	}
	if s.Description == "" {
		f.addf("step %d has no description", number)
	}
}

// noSubdomain says why a step has none: because of a call's table, if that is unknown.
func (in *ThinkInput) noSubdomain(s *Step, number int) string {
	if table := in.unknownTable(s.Calls); table != "" {
		return fmt.Sprintf("a call names the table %q; use one of %s", table, strings.Join(in.tables(), ", "))
	}

	return fmt.Sprintf("step %d: there is no subdomain %q; use one of %s", number, s.Subdomain, strings.Join(in.Subdomains, ", "))
}

func (o *ThinkOutput) checkLimits(f *faults, in ThinkInput) {
	for _, s := range o.Steps {
		for _, ref := range s.Refs {
			switch _, known := in.Refs[ref]; {
			case known:
			case slices.Contains(in.Deleted, ref):
				f.addf("%s was deleted; it is no row any more", ref)
			default:
				f.addf("there is no %s in this conversation; find what has no ref by name", ref)
			}
		}
	}
	if len(o.Steps) > in.MaxSteps {
		f.addf("the plan has %d steps, at most %d are allowed; combine them or propose a first part", len(o.Steps), in.MaxSteps)
	}
}

func (o *ThinkOutput) writes() bool {
	return cmp.Or(o.Decision, o.implied()) == "plan" && slices.ContainsFunc(o.Steps, func(s Step) bool { return s.Type == vocab.StepWrite })
}

// enforce makes a plan obey the limits its model ignored.
func (o *ThinkOutput) enforce(in ThinkInput) *ThinkOutput {
	for i := range o.Steps {
		o.Steps[i].Refs = slices.DeleteFunc(o.Steps[i].Refs, func(ref string) bool { _, ok := in.Refs[ref]; return !ok })
	}
	if o.writes() && !in.Permission.Allowed {
		return &ThinkOutput{Goal: o.Goal, Decision: "propose", Proposal: proposal(o.Steps), Steps: o.Steps} // the steps are what is proposed
	}
	if len(o.Steps) > in.MaxSteps {
		o.Left = o.Steps[in.MaxSteps:]
		o.Steps = o.Steps[:in.MaxSteps]
	}

	return o
}

// proposal words a plan that waits for consent.
func proposal(steps []Step) string {
	parts := make([]string, 0, len(steps))
	for _, s := range steps {
		parts = append(parts, strings.TrimRight(s.Description, "."))
	}

	return "I would do this: " + strings.Join(parts, "; ") + ". Shall I?"
}
