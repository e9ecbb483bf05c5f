package nodes

import (
	"context"
	"slices"

	"alfred/llm"
)

// Understand resolves what the message refers to, decides what stays in view and
// says what the user wants. An answer that stays unusable after the repair
// rounds becomes an empty output that allows no write, marked Degraded: a turn
// does not fail because its memory manager stumbled.
func Understand(ctx context.Context, model llm.Model, in UnderstandInput) (*UnderstandOutput, error) {
	s, err := schemaOf[UnderstandOutput]("understand", map[string][]string{
		"intent":              intents,
		"mentions.resolution": resolutions,
		"constraints.kind":    constraintKinds,
		"constraints.scope":   scopes,
	})
	if err != nil {
		return nil, err
	}
	out, err := ask(ctx, model, question[UnderstandOutput]{
		node: "understand", frame: in.Frame, input: in, schema: s,
		read: func(resp *llm.Response) (*UnderstandOutput, error) { return readUnderstand(resp, in) },
	})
	if llm.KindOf(err) == llm.KindInvalidOutput {
		if out == nil {
			out = &UnderstandOutput{Intent: "explore"}
		}
		out.Degraded = err.Error()
		out.keepKnownRefs(in.Refs)
		return out, nil
	}
	return out, err
}

var (
	intents         = []string{"read", "explore", "write", "confirm", "answer", "chat"}
	resolutions     = []string{"exact", "inferred", "ambiguous", "unknown"}
	constraintKinds = []string{"count", "date_range", "exclude", "require", "budget", "other"}
	scopes          = []string{"session", "lasting"}
)

func readUnderstand(resp *llm.Response, in UnderstandInput) (*UnderstandOutput, error) {
	out := &UnderstandOutput{}
	if err := decodeStrict([]byte(resp.Text), out); err != nil {
		return nil, err
	}
	if err := out.checkValues(in); err != nil {
		return nil, err
	}
	if !in.HasQuestion {
		out.AnswersQuestion = false
	}
	return out, out.checkRefs(in.Refs)
}

func (o *UnderstandOutput) checkValues(in UnderstandInput) error {
	if err := oneOf("intent", &o.Intent, "explore", intents...); err != nil {
		return err
	}
	for i := range o.Mentions {
		if err := oneOf("resolution", &o.Mentions[i].Resolution, "unknown", resolutions...); err != nil {
			return err
		}
	}
	for i := range o.Constraints {
		c := &o.Constraints[i]
		c.Value = plainValue(c.Value)
		if c.Text == "" {
			return complainf("a constraint has no text")
		}
		if err := oneOf("kind", &c.Kind, "other", constraintKinds...); err != nil {
			return err
		}
		if err := oneOf("scope", &c.Scope, "session", scopes...); err != nil {
			return err
		}
	}
	if o.Quick != nil && !slices.Contains(in.EntityTypes, o.Quick.EntityType) {
		return complainf("quick names the type %q, which does not exist", o.Quick.EntityType)
	}
	if o.Disambiguation != nil && (o.Disambiguation.Question == "" || len(o.Disambiguation.Options) < 2) {
		return complainf("a disambiguation needs a question and at least two options")
	}
	if o.Clarification != nil && len(o.Clarification.Questions) == 0 {
		return complainf("a clarification needs a question")
	}
	return nil
}

func (o *UnderstandOutput) checkRefs(known Refs) error {
	for _, ref := range o.refs() {
		if _, ok := known[ref]; !ok {
			return complainf("there is no %s in this conversation; use refs exactly as listed", ref)
		}
	}
	for _, ref := range o.Curation.Demote {
		if known[ref].Pending {
			return complainf("%s is a draft and cannot be demoted; drop or exclude it", ref)
		}
	}
	return nil
}

// refs are all refs the output names.
func (o *UnderstandOutput) refs() []string {
	var refs []string
	for _, m := range o.Mentions {
		if m.Ref != "" {
			refs = append(refs, m.Ref)
		}
		refs = append(refs, m.Candidates...)
	}
	for _, r := range o.Curation.Retain {
		refs = append(refs, r.Ref)
	}
	for _, e := range o.Curation.Exclude {
		refs = append(refs, e.Ref)
	}
	refs = append(refs, o.Curation.Demote...)
	refs = append(refs, o.Curation.Drop...)
	if o.Disambiguation != nil {
		refs = append(refs, o.Disambiguation.Options...)
	}
	return refs
}

// keepKnownRefs removes what the model invented and would not take back.
func (o *UnderstandOutput) keepKnownRefs(known Refs) {
	unknown := func(ref string) bool { _, ok := known[ref]; return !ok }
	for i := range o.Mentions {
		m := &o.Mentions[i]
		m.Candidates = slices.DeleteFunc(m.Candidates, unknown)
		if m.Ref != "" && unknown(m.Ref) {
			m.Ref, m.Resolution = "", "unknown"
		}
	}
	c := &o.Curation
	c.Retain = slices.DeleteFunc(c.Retain, func(r Retain) bool { return unknown(r.Ref) })
	c.Exclude = slices.DeleteFunc(c.Exclude, func(e Exclude) bool { return unknown(e.Ref) })
	c.Demote = slices.DeleteFunc(c.Demote, func(ref string) bool { return unknown(ref) || known[ref].Pending })
	c.Drop = slices.DeleteFunc(c.Drop, unknown)
	if d := o.Disambiguation; d != nil {
		d.Options = slices.DeleteFunc(d.Options, unknown)
		if len(d.Options) < 2 {
			o.Disambiguation = nil
		}
	}
}
