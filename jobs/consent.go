package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// Consent works the same whoever asks: a question names what would be written, and saying yes permits a turn to do
// exactly that. Only this file interprets what a model makes of the message.

// questionPayload is what a question's row holds.
type questionPayload struct {
	view.QuestionPayload

	// Writes is what a yes permits.
	Writes []nodes.Offer `json:"writes,omitempty"`
	// Permitted: the turn that asked was allowed to write, so the one that answers is too.
	Permitted bool `json:"permitted,omitempty"`
	// Calls are run by code once approved.
	Calls []crud.ApprovedCall `json:"calls,omitempty"`
	// Rest are the steps that were to follow; they do once code has run the calls.
	Rest []nodes.Step `json:"rest,omitempty"`
}

func (q *question) payload(permitted bool, known *view.Scene) questionPayload {
	return questionPayload{QuestionPayload: q.asked(known), Writes: q.writes, Permitted: permitted, Calls: q.calls, Rest: q.rest}
}

// pointAt gives options that a model wrote as a ref the row that they mean.
func (q *question) pointAt(known *view.Scene) {
	for i, o := range q.options {
		if e := known.ByRef[strings.TrimSpace(o.Label)]; e != nil && o.Ref == "" && e.Label != "" {
			q.options[i].Ref, q.options[i].Label = e.Ref, e.Label
		}
	}
}

// tellApart calls rows of the same name in a question by what distinguishes them: which of two Bellas is the dog.
func (c *commit) tellApart(ctx context.Context, asked *question) error {
	var refs []string
	for i := range asked.options {
		if asked.sharesLabel(i) && asked.options[i].Ref != "" {
			refs = append(refs, asked.options[i].Ref)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	lines, err := c.s.runner.Tools.Lines(ctx, c.tx, c.s.scope(c.at), refs)
	if err != nil {
		return fmt.Errorf("tell options apart: %w", err)
	}
	for i, o := range asked.options {
		asked.options[i].Label = cmp.Or(lines[o.Ref], o.Label)
	}

	return nil
}

// asked is the question in words for people; models go on to read it with the refs that it names.
func (q *question) asked(known *view.Scene) view.QuestionPayload {
	names, plain := known.RefNames(), question{options: slices.Clone(q.options)}
	for i := range plain.options {
		plain.options[i].Label = names.Unref(plain.options[i].Label)
	}
	asked, told := view.QuestionPayload{Text: names.Unref(q.text), Options: plain.shown()}, view.QuestionPayload{Text: q.text, Options: q.shown()}
	if asked.Text != told.Text || !slices.Equal(asked.Options, told.Options) {
		asked.Told = &told
	}

	return asked
}

// shown are the options as stored and sent; options with equal labels get distinguishing text.
func (q *question) shown() []view.QuestionOption {
	options := append([]view.QuestionOption{}, q.options...)
	for i := range options {
		if q.sharesLabel(i) {
			options[i].Label = fmt.Sprintf("%s (%d)", q.options[i].Label, i+1)
		}
	}

	return options
}

// sharesLabel reports whether another option is called alike.
func (q *question) sharesLabel(i int) bool {
	return slices.ContainsFunc(q.options, func(o view.QuestionOption) bool { return o.ID != q.options[i].ID && o.Label == q.options[i].Label })
}

// answered is a question as seen by the message that answers it.
type answered struct {
	kind    string
	payload questionPayload
	// chosen is the id of the clicked option, "" for an answer in words.
	chosen string
}

// answered reads a question with the option of it that the message clicked.
func (s *state) answered(id uuid.UUID, kind string, payload json.RawMessage) (*answered, error) {
	a := &answered{kind: kind, chosen: s.Clicked(id)}
	if err := json.Unmarshal(payload, &a.payload); err != nil {
		return nil, fmt.Errorf("read question: %w", err)
	}

	return a, nil
}

// click returns the option the user clicked and its question; nil for an answer in words, or if the question was closed
// since: before Understand, a turn's questions are those that are open.
func (s *state) click() (*answered, error) {
	for _, q := range s.Questions {
		if s.Clicked(q.ID) != "" {
			return s.answered(q.ID, q.Kind, q.Payload)
		}
	}

	return nil, nil
}

// onlyAsks reports whether the reply has nothing to say but the question.
func (s *state) onlyAsks(done nodes.Done) bool {
	told := slices.ContainsFunc(s.Results, func(r *view.Result) bool { return r.TurnID == s.Turn.ID })

	return len(s.Steps) == 0 && !told && !done.Curated
}

// told is the question as models read it.
func (a *answered) told() string { return a.payload.ForModels().Text }

// label returns the clicked option's label.
func (a *answered) label() view.QuestionOption {
	for _, o := range a.payload.Options {
		if o.ID == a.chosen {
			return o
		}
	}

	return view.QuestionOption{}
}

// settle sets what a click means in Understand's output, whatever its model made of the label.
func (a *answered) settle(out *nodes.UnderstandOutput) {
	if a == nil {
		return
	}
	out.AnswersQuestion, out.Disambiguation, out.Clarification, out.Quick = true, nil, nil, nil
	out.Curation = nodes.Curation{Retain: out.Curation.Retain}
	out.Intent = "answer"
	switch a.chosen {
	case optionYes:
		out.Intent = "confirm"
	case optionNo:
		out.Undo = nil
	}
	if chosen := a.label(); chosen.Ref != "" {
		out.Mentions = []nodes.Mention{{Text: chosen.Label, Ref: chosen.Ref, Resolution: "exact", Candidates: []string{}, Reason: "the user chose it"}}
	}
}

// permit decides whether a turn may write, given the message's intent and the
// question it answers (nil for none).
//
//   - Asking for a write is permission.
//   - Yes to any question permits what the question proposes.
//   - An answer in other words ("yes, but call it X") to a question that proposes a
//     write, or that was blocking one, is permission too.
//   - A click on No is never permission, whatever a model makes of it.
func permit(intent string, a *answered) nodes.Permission {
	switch {
	case a != nil && a.chosen == optionNo:
		return nodes.Permission{Why: "the user said no to: " + a.told()}
	case intent == "write":
		return nodes.Permission{Allowed: true, Why: "the user asked for it"}
	case a == nil:
		return nodes.Permission{Why: "the user has not asked to save, change or delete anything"}
	case intent == "confirm" || a.chosen == optionYes:
		return a.permission("the user said yes to: ")
	case intent == "answer" && a.proposes():
		return a.permission("the user answered, and the answer may change what is written: ")
	default:
		return nodes.Permission{Why: "the user has not said yes to: " + a.told()}
	}
}

// proposes reports whether the question is about a write.
func (a *answered) proposes() bool {
	return a.payload.Permitted || len(a.payload.Writes) > 0 || a.kind == vocab.AskPropose || a.kind == vocab.AskApprove
}

func (a *answered) permission(why string) nodes.Permission {
	p := nodes.Permission{Allowed: true, Why: why + a.told(), Writes: a.payload.Writes}
	if chosen := a.label(); chosen.Ref != "" {
		p.Why += " (chosen: " + chosen.Label + ", " + chosen.Ref + ")"
	}

	return p
}

// agreed are the calls to fewer rows of which the message is consent: "yes, but leave Lars out". Who begins with a no is
// asked again.
func (a *answered) agreed(p nodes.Permission, message string) []crud.ApprovedCall {
	if a == nil || !p.Allowed || a.kind != vocab.AskApprove || saysNo.MatchString(message) {
		return nil
	}

	return a.payload.Calls
}

// permission reports whether this turn may write, and which of the calls that the user was asked about on fewer rows.
func (s *state) permission() (nodes.Permission, []crud.ApprovedCall, error) {
	intent, q := s.Understood().Intent, s.Answered()
	if q == nil {
		return permit(intent, nil), nil, nil
	}
	a, err := s.answered(q.ID, q.Kind, q.Payload)
	if err != nil {
		return nodes.Permission{}, nil, err
	}
	p := permit(intent, a)

	return p, a.agreed(p, s.Turn.Message), nil
}

// done is what this turn has done so far, for a reply that may claim no more.
func (s *state) done() nodes.Done {
	out := s.Understood()
	c := out.Curation
	done := nodes.Done{Curated: c.ClearAll || len(c.Retain)+len(c.Demote)+len(c.Forget)+len(c.Exclude)+len(out.Constraints) > 0}
	for _, run := range s.Runs {
		made := run.Acted
		if made == nil || made.Failed() {
			continue
		}
		if made.Undo != "" && (done.Undo == "" || done.Undo == vocab.CanBeUndone) {
			done.Undo = made.Undo
		}
		done.Company = strings.TrimSpace(done.Company + " " + made.Company)
		for _, r := range made.Results {
			changed := r.RowCount > 0
			done.Drafted = done.Drafted || changed && r.Tool == vocab.ToolGenerate
			done.Wrote = done.Wrote || s.Domain.Operation(r.Tool) != nil || changed && vocab.Writes(r.Tool)
		}
	}

	return done
}

// offer asks whether to save what this turn drafted or redrafted. Code asks it once per draft and change, so that a yes
// has a defined meaning.
func (s *state) offer() *question {
	drafted := map[string]bool{}
	for _, r := range s.Results {
		for _, ref := range r.Refs {
			drafted[ref] = drafted[ref] || r.TurnID == s.Turn.ID && r.Tool == vocab.ToolGenerate && r.ErrorCode == nil
		}
	}
	var refs, labels []string
	for _, e := range s.Registry {
		if !drafted[e.Ref] || e.State != db.RefStatePending {
			continue
		}
		refs = append(refs, e.Ref)
		if !e.LabelIsPlaceholder {
			labels = append(labels, e.Label)
		}
	}
	if len(refs) == 0 {
		return nil
	}

	return &question{
		kind: vocab.AskPropose, text: "Shall I save " + named(labels, len(refs)) + "?", options: yesNo(),
		writes: []nodes.Offer{{Description: "Save " + named(labels, len(refs)), Refs: refs, Save: true}},
	}
}

// worded adopts the wording in which the reply asks the question, so that the question is shown and remembered in those
// words. If they do not show what a yes does, the options say it.
func (q *question) worded(asked string, shown bool) {
	if q == nil || asked == "" {
		return
	}
	q.text = asked
	if !shown {
		q.options = []view.QuestionOption{{ID: optionYes, Label: q.writes[0].Description}, {ID: optionNo, Label: "No"}}
	}
}

// named names the first few labels and counts the rest.
func named(labels []string, all int) string {
	const most = 3
	shown := labels[:min(len(labels), most)]
	switch more := all - len(shown); {
	case len(shown) == 0 && all == 1:
		return "the draft"
	case len(shown) == 0:
		return fmt.Sprintf("the %d drafts", all)
	case more > 0:
		return fmt.Sprintf("%s and %d more", strings.Join(shown, ", "), more)
	case len(shown) == 1:
		return shown[0]
	default:
		return strings.Join(shown[:len(shown)-1], ", ") + " and " + shown[len(shown)-1]
	}
}
