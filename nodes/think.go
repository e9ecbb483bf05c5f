package nodes

import (
	"context"
	"slices"
	"strings"

	"alfred/llm"
)

var (
	decisions = []string{"plan", "propose", "clarify"}
	stepTypes = []string{"read", "analyze", "generate", "write"}
	needs     = []string{"refs", "rows"}
)

// Think makes the plan of a turn, or a proposal, or asks. Limits hold in code: a
// plan that stays too long is cut, and one that writes without the user's word
// becomes a proposal.
func Think(ctx context.Context, model llm.Model, in ThinkInput) (*ThinkOutput, error) {
	s, err := schemaOf[ThinkOutput]("think", map[string][]string{
		"decision": decisions, "steps.type": stepTypes, "steps.needs": needs, "steps.subdomain": in.Subdomains,
	})
	if err != nil {
		return nil, err
	}
	told := false
	out, err := ask(ctx, model, question[ThinkOutput]{
		node: "think", frame: in.Frame, input: in, schema: s,
		read: func(resp *llm.Response) (*ThinkOutput, error) {
			out, err := readThink(resp, in)
			if err == nil && out.writes() && !in.WriteAllowed {
				if told {
					return out.asProposal(), nil
				}
				told = true
				return out, complainf("the user has not asked to change anything; propose it instead of planning a write step")
			}
			return out, err
		},
	})
	if out != nil && llm.KindOf(err) == llm.KindInvalidOutput {
		return out.enforce(in), nil
	}
	return out, err
}

// readThink returns the output beside the complaint when only a limit is broken
// that code can enforce.
func readThink(resp *llm.Response, in ThinkInput) (*ThinkOutput, error) {
	out := &ThinkOutput{}
	if err := decodeStrict([]byte(resp.Text), out); err != nil {
		return nil, err
	}
	if err := out.checkValues(in); err != nil {
		return nil, err
	}
	return out, out.checkLimits(in)
}

func (o *ThinkOutput) checkValues(in ThinkInput) error {
	if err := oneOf("decision", &o.Decision, "plan", decisions...); err != nil {
		return err
	}
	if o.Decision == "plan" && len(o.Steps) == 0 && o.Proposal != "" {
		o.Decision = "propose"
	}
	if o.Decision == "propose" && o.Proposal == "" {
		return complainf("decision propose needs a proposal")
	}
	if o.Decision == "clarify" && len(o.Questions) == 0 {
		return complainf("decision clarify needs questions")
	}
	for i := range o.Steps {
		if err := o.Steps[i].check(in); err != nil {
			return err
		}
	}
	return nil
}

func (s *Step) check(in ThinkInput) error {
	if err := oneOf("type", &s.Type, "", stepTypes...); err != nil {
		return err
	}
	if err := oneOf("needs", &s.Needs, "refs", needs...); err != nil {
		return err
	}
	if s.Type == "analyze" {
		s.Needs = "rows"
	}
	s.Subdomain = in.subdomain(s.Subdomain)
	if !slices.Contains(in.Subdomains, s.Subdomain) {
		return complainf("there is no subdomain %q; use one of %s", s.Subdomain, strings.Join(in.Subdomains, ", "))
	}
	if strings.TrimSpace(s.Description) == "" {
		return complainf("a step has no description")
	}
	return nil
}

// subdomain normalises a name as people write it: case, blanks and the domain's
// other words for it.
func (in *ThinkInput) subdomain(name string) string {
	name = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "_")
	if known, ok := in.SubdomainAliases[name]; ok {
		return known
	}
	return name
}

func (o *ThinkOutput) checkLimits(in ThinkInput) error {
	for _, s := range o.Steps {
		for _, ref := range s.Refs {
			if _, ok := in.Refs[ref]; !ok {
				return complainf("there is no %s in this conversation; find what has no ref by name", ref)
			}
		}
	}
	if len(o.Steps) > in.MaxSteps {
		return complainf("the plan has %d steps, at most %d are allowed; combine them or propose a first part", len(o.Steps), in.MaxSteps)
	}
	return nil
}

func (o *ThinkOutput) writes() bool {
	return o.Decision == "plan" && slices.ContainsFunc(o.Steps, func(s Step) bool { return s.Type == "write" })
}

// enforce makes a plan obey the limits its model would not keep.
func (o *ThinkOutput) enforce(in ThinkInput) *ThinkOutput {
	for i := range o.Steps {
		o.Steps[i].Refs = slices.DeleteFunc(o.Steps[i].Refs, func(ref string) bool { _, ok := in.Refs[ref]; return !ok })
	}
	if o.writes() && !in.WriteAllowed {
		return o.asProposal()
	}
	if len(o.Steps) > in.MaxSteps {
		o.Steps = o.Steps[:in.MaxSteps]
	}
	return o
}

func (o *ThinkOutput) asProposal() *ThinkOutput {
	parts := make([]string, 0, len(o.Steps))
	for _, s := range o.Steps {
		parts = append(parts, strings.TrimRight(s.Description, "."))
	}
	return &ThinkOutput{Goal: o.Goal, Decision: "propose", Proposal: "I would do this: " + strings.Join(parts, "; ") + ". Shall I?"}
}
