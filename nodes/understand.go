package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"alfred/internal/answer"
	"alfred/internal/llm"
	"alfred/internal/vocab"
)

// Understand resolves what the message refers to, decides what stays in view and says what the user wants. An answer
// that remains unusable after repair becomes an empty output that allows no write, marked Degraded: a turn must not
// fail because of its memory manager.
func Understand(ctx context.Context, model llm.Model, in UnderstandInput) (*UnderstandOutput, error) {
	q := question[UnderstandOutput]{
		node: vocab.NodeUnderstand, frame: in.Frame, input: in, onDelta: in.speaking, schema: schemaOf[understandAnswer](in.Prompts, in.enums()),
		read: func(resp *llm.Response) (*UnderstandOutput, error) { return readUnderstand(resp, in) },
	}
	if in.Plan != nil {
		alone := q // an answer that was cut off is requested again without the plan
		alone.prompt = "together"
		q.prompt, q.holds, q.shorter, q.schema = "together", []string{vocab.NodeThink}, &alone, in.together()
	}
	out, err := ask(ctx, model, q)
	if llm.KindOf(err) == llm.KindInvalidOutput {
		if out == nil {
			out = &UnderstandOutput{Intent: "explore"}
		}
		out.Degraded, out.Think, out.Say = err.Error(), nil, ""

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

func (in *UnderstandInput) enums() map[string][]string {
	return map[string][]string{
		"intent":                   intents,
		"mentions.resolution":      resolutions,
		"memory.constraints.kind":  constraintKinds,
		"memory.constraints.scope": scopes,
		"quick":                    in.EntityTypes,
	}
}

// together is the schema of an answer that also contains Think's decision.
func (in *UnderstandInput) together() answerSchema {
	enums := in.Plan.enums("think.")
	maps.Copy(enums, in.enums())

	return schemaOf[togetherAnswer](in.Prompts, enums)
}

// decodeUnderstand reads an answer of Understand. A faulty plan invalidates only itself.
func decodeUnderstand(text string, in *UnderstandInput) (*UnderstandOutput, error) {
	fields := written{}
	if err := answer.Decode([]byte(text), &fields); err != nil {
		return nil, err
	}
	inParts := fields.flatten()
	out := &UnderstandOutput{}
	say, _ := fields["say"].(string)
	plan, err := json.Marshal(fields.plan(inParts))
	if err != nil {
		return nil, errors.New("the plan is not JSON")
	}
	own, err := json.Marshal(fields)
	if err != nil {
		return nil, errors.New("it is not JSON")
	}
	if err := answer.Decode(own, out); err != nil {
		return nil, err
	}
	if think := (&ThinkOutput{}); string(plan) != "null" && answer.Decode(plan, think) == nil {
		think.placeCalls(in.Plan)
		out.Think, out.Say = think, strings.TrimSpace(say)
	}

	return out, nil
}

// readUnderstand returns what is usable of an answer, together with the complaints about the rest: refs that the model
// invented, questions and constraints that say nothing.
func readUnderstand(resp *llm.Response, in UnderstandInput) (*UnderstandOutput, error) {
	out, err := decodeUnderstand(resp.Text, &in)
	if err != nil {
		return nil, err
	}
	out.replaceRefs(in.Refs.expand)
	out.replaceRefs(func(refs []string) []string {
		return slices.DeleteFunc(refs, func(ref string) bool { return slices.Contains(in.Deleted, ref) })
	})
	var f faults
	out.checkValues(&f, in)
	if !in.HasQuestion {
		out.answersTheReply(in.Offers)
	}
	out.dropQuickUnlessPlain(in.Refs)
	out.checkRefs(&f, in.Refs)
	out.keepWhatIsToBeDeleted(in.Refs)
	if out.Disambiguation.blank() {
		out.Disambiguation = nil
	}

	return out, f.err()
}

// answersTheReply reads an answer where no question is open. If the last reply made an offer in its own words, a write that
// the same answer plans is what the user accepts.
func (o *UnderstandOutput) answersTheReply(offers bool) {
	o.AnswersQuestion = false
	if offers && slices.Contains([]string{"confirm", "answer"}, o.Intent) && o.Think != nil && o.Think.writes() {
		o.Intent = "write"
	}
}

func (o *UnderstandOutput) checkValues(f *faults, in UnderstandInput) {
	f.check(oneOf("intent", &o.Intent, "explore", intents...))
	for i := range o.Mentions {
		f.check(oneOf("resolution", &o.Mentions[i].Resolution, "unknown", resolutions...))
	}
	for i := range o.Constraints {
		o.Constraints[i].check(f)
	}
	o.Constraints = slices.DeleteFunc(o.Constraints, func(c Constraint) bool { return c.blank() })
	if o.Quick != nil {
		o.Quick.EntityType = in.typeOf(o.Quick.EntityType)
		f.check(oneOf("quick", &o.Quick.EntityType, "", in.EntityTypes...))
	}
	if o.Disambiguation.blank() {
		f.addf("a disambiguation needs a question and at least two options")
	}
	if o.Clarification.blank() {
		f.addf("a clarification needs a question")
		o.Clarification = nil
	}
}

func (c *Constraint) check(f *faults) {
	c.Value = plainValue(c.Value)
	if c.blank() {
		f.addf("a constraint has no text")
	}
	if err := oneOf("kind", &c.Kind, "other", constraintKinds...); err != nil {
		f.check(err)
		c.Kind = "other"
	}
	if err := oneOf("scope", &c.Scope, "session", scopes...); err != nil {
		f.check(err)
		c.Scope = "session"
	}
}

// blank reports whether a constraint says nothing.
func (c *Constraint) blank() bool { return strings.TrimSpace(c.Text) == "" }

// blank reports whether it asks nothing, or leaves no choice.
func (d *Disambiguation) blank() bool {
	return d != nil && (strings.TrimSpace(d.Question) == "" || len(d.Options) < 2)
}

// blank reports whether it asks nothing.
func (c *Clarification) blank() bool {
	return c != nil && strings.TrimSpace(strings.Join(c.Questions, "")) == ""
}

// typeOf is the type of a table's rows, for a model that names the table instead.
func (in *UnderstandInput) typeOf(name string) string {
	if in.Plan != nil && in.Plan.Homes[name].Type != "" {
		return in.Plan.Homes[name].Type
	}

	return name
}

func (o *UnderstandOutput) checkRefs(f *faults, known Refs) {
	told := map[string]bool{}
	o.replaceRefs(func(refs []string) []string {
		return slices.DeleteFunc(refs, func(ref string) bool {
			_, ok := known[ref]
			if !ok && !told[ref] {
				told[ref] = true
				f.addf("there is no %s in this conversation; use refs exactly as listed", ref)
			}

			return !ok
		})
	})
	o.Curation.Demote = slices.DeleteFunc(o.Curation.Demote, func(ref string) bool {
		if known[ref].Pending {
			f.addf("%s is a draft and cannot be demoted; forget or exclude it", ref)
		}

		return known[ref].Pending
	})
}

// replaceRefs replaces every list of refs in the output. A mention whose ref is replaced by several becomes one of each, by
// none an unknown one.
func (o *UnderstandOutput) replaceRefs(with func([]string) []string) {
	mentions := o.Mentions[:0:0]
	for _, m := range o.Mentions {
		m.Candidates = with(m.Candidates)
		refs := []string{""}
		if m.Ref != "" {
			refs = with([]string{m.Ref})
		}
		if len(refs) == 0 {
			m.Resolution, refs = "unknown", []string{""}
		}
		for _, m.Ref = range refs {
			mentions = append(mentions, m)
		}
	}
	o.Mentions = mentions
	c := &o.Curation
	var retain []Retain
	for _, r := range c.Retain {
		for _, ref := range with([]string{r.Ref}) {
			retain = append(retain, Retain{Ref: ref, Reason: r.Reason, Confidence: r.Confidence})
		}
	}
	var exclude []Exclude
	for _, e := range c.Exclude {
		for _, ref := range with([]string{e.Ref}) {
			exclude = append(exclude, Exclude{Ref: ref, Reason: e.Reason})
		}
	}
	c.Retain, c.Exclude, c.Demote, c.Forget = retain, exclude, with(c.Demote), with(c.Forget)
	if o.Disambiguation != nil {
		o.Disambiguation.Options = with(o.Disambiguation.Options)
	}
}

// keepWhatIsToBeDeleted keeps saved rows in view if the message asks to change or delete: "drop those two" then means
// the rows, and a forgotten ref could no longer be deleted.
func (o *UnderstandOutput) keepWhatIsToBeDeleted(known Refs) {
	if o.Intent == "write" {
		o.Curation.Forget = slices.DeleteFunc(o.Curation.Forget, func(ref string) bool { return !known[ref].Pending })
	}
}

// dropQuickUnlessPlain revokes the shortcut for everything but a plain lookup in one table.
func (o *UnderstandOutput) dropQuickUnlessPlain(known Refs) {
	if o.Quick == nil {
		return
	}
	plain := o.Intent == "read" && !o.AnswersQuestion && o.Recall == nil
	for _, m := range o.Mentions {
		plain = plain && (m.Ref == "" || known[m.Ref].Type == o.Quick.EntityType && !known[m.Ref].Pending)
	}
	if !plain {
		o.Quick = nil
	}
}
