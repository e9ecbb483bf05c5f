package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
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

// question is what the user is asked; its exported fields are what its row holds.
type question struct {
	view.QuestionPayload

	kind string
	// chosen is the id of the option that the message clicked, "" for an answer in words.
	chosen string

	// Writes is what a yes permits.
	Writes []nodes.Offer `json:"writes,omitempty"`
	// Permitted: the turn that asked was allowed to write, so the one that answers is too.
	Permitted bool `json:"permitted,omitempty"`
	// Calls are run by code once approved.
	Calls []crud.ApprovedCall `json:"calls,omitempty"`
	// Rest are the steps that were to follow; they do once code has run the calls.
	Rest []nodes.Step `json:"rest,omitempty"`
	// Seen are the versions of the rows that their calls change, by ref, when the user was asked.
	Seen map[string]string `json:"seen,omitempty"`
}

func asking(kind, text string) *question {
	return &question{kind: kind, QuestionPayload: view.QuestionPayload{Text: text}}
}

// proposing asks whether these may be written.
func proposing(text string, writes []nodes.Offer) *question {
	q := asking(vocab.AskPropose, text)
	q.Options, q.Writes = yesNo(), writes

	return q
}

// approving asks for a yes to calls.
func approving(approval *crud.Approval) *question {
	q := asking(vocab.AskApprove, approval.Text)
	q.Options, q.Calls = yesNo(), approval.Calls

	return q
}

// pointAt gives options that a model wrote as a ref the row that they mean.
func (q *question) pointAt(known *view.Scene) {
	for i, o := range q.Options {
		if e := known.ByRef[strings.TrimSpace(o.Label)]; e != nil && o.Ref == "" && e.Label != "" {
			q.Options[i].Ref, q.Options[i].Label = e.Ref, e.Label
		}
	}
}

// tellApart calls rows of the same name in a question by what distinguishes them: which of two Bellas is the dog.
func (c *commit) tellApart(ctx context.Context, asked *question) error {
	var refs []string
	for i := range asked.Options {
		if asked.sharesLabel(i) && asked.Options[i].Ref != "" {
			refs = append(refs, asked.Options[i].Ref)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	lines, err := c.s.runner.Tools.Lines(ctx, c.tx, c.s.scope(c.at), refs)
	if err != nil {
		return fmt.Errorf("tell options apart: %w", err)
	}
	for i, o := range asked.Options {
		asked.Options[i].Label = cmp.Or(lines[o.Ref], o.Label)
	}

	return nil
}

// asked is the question in words for people; models go on to read it with the refs that it names.
func (q *question) asked(known *view.Scene) view.QuestionPayload {
	names, plain := known.RefNames(), question{QuestionPayload: view.QuestionPayload{Options: slices.Clone(q.Options)}}
	for i := range plain.Options {
		plain.Options[i].Label = names.Unref(plain.Options[i].Label)
	}
	asked, told := view.QuestionPayload{Text: names.Unref(q.Text), Options: plain.shown()}, view.QuestionPayload{Text: q.Text, Options: q.shown()}
	if asked.Text != told.Text || !slices.Equal(asked.Options, told.Options) {
		asked.Told = &told
	}

	return asked
}

// shown are the options as stored and sent; options with equal labels get distinguishing text.
func (q *question) shown() []view.QuestionOption {
	options := append([]view.QuestionOption{}, q.Options...)
	for i := range options {
		if q.sharesLabel(i) {
			options[i].Label = fmt.Sprintf("%s (%d)", q.Options[i].Label, i+1)
		}
	}

	return options
}

// sharesLabel reports whether another option is called alike.
func (q *question) sharesLabel(i int) bool {
	return slices.ContainsFunc(q.Options, func(o view.QuestionOption) bool { return o.ID != q.Options[i].ID && o.Label == q.Options[i].Label })
}

// answered reads a question with the option of it that the message clicked.
func (s *state) answered(id uuid.UUID, kind string, payload json.RawMessage) (*question, error) {
	q := &question{kind: kind, chosen: s.Clicked(id)}
	if err := json.Unmarshal(payload, q); err != nil {
		return nil, fmt.Errorf("read question: %w", err)
	}

	return q, nil
}

// click returns the option the user clicked and its question; nil for an answer in words, or if the question was closed
// since: before Understand, a turn's questions are those that are open.
func (s *state) click() (*question, error) {
	for _, q := range s.Questions {
		if s.Clicked(q.ID) != "" {
			return s.answered(q.ID, q.Kind, q.Payload)
		}
	}

	return nil, nil
}

// onlyAsks reports whether the reply has nothing to say but the question, which a model worded for its user. What the only
// step of a turn looked up in order to ask need not be told.
func (s *state) onlyAsks(done nodes.Done) bool {
	if done.Curated || done.Wrote || done.Drafted || len(s.Steps) > 1 {
		return false
	}
	run := s.LastRun()
	asks := run != nil && run.Acted != nil && run.Acted.AskUser != nil
	told := slices.ContainsFunc(s.Results, func(r *view.Result) bool { return r.TurnID == s.Turn.ID && (!asks || r.Step == 0) })

	return !told && (asks || len(s.Steps) == 0)
}

// told is the question as models read it.
func (q *question) told() string { return q.ForModels().Text }

// clickedOption is empty for an answer in words.
func (q *question) clickedOption() view.QuestionOption {
	for _, o := range q.Options {
		if o.ID == q.chosen {
			return o
		}
	}

	return view.QuestionOption{}
}

// applyTo sets what a click means in Understand's output, whatever its model made of the label.
func (q *question) applyTo(out *nodes.UnderstandOutput) {
	if q == nil {
		return
	}
	out.AnswersQuestion, out.Disambiguation, out.Clarification, out.Quick = true, nil, nil, nil
	out.Curation = nodes.Curation{Retain: out.Curation.Retain}
	out.Intent = "answer"
	if q.chosen == optionYes {
		out.Intent = "confirm"
	}
	if chosen := q.clickedOption(); chosen.Ref != "" {
		out.Mentions = []nodes.Mention{{Text: chosen.Label, Ref: chosen.Ref, Resolution: "exact", Candidates: []string{}, Reason: "the user chose it"}}
	}
}

// approves reports whether a click lets code carry out what was asked about, so that nothing is left to understand or plan.
func (q *question) approves() bool {
	return q != nil && q.kind == vocab.AskApprove && q.chosen == optionYes
}

// permit decides whether a turn may write, given the message's intent and the
// question it answers (nil for none).
//
//   - Asking for a write is permission.
//   - Yes to any question permits what the question proposes.
//   - An answer in other words ("yes, but call it X") to a question that proposes a
//     write, or that was blocking one, is permission too.
//   - A click on No is never permission, whatever a model makes of it.
func permit(intent string, q *question) nodes.Permission {
	switch {
	case q != nil && q.chosen == optionNo:
		return nodes.Permission{Why: "the user said no to: " + q.told()}
	case intent == "write":
		return nodes.Permission{Allowed: true, Why: "the user asked for it"}
	case q == nil:
		return nodes.Permission{Why: "the user has not asked to save, change or delete anything"}
	case intent == "confirm" || q.chosen == optionYes:
		return q.permission("the user said yes to: ")
	case intent == "answer" && q.proposes():
		return q.permission("the user answered, and the answer may change what is written: ")
	default:
		return nodes.Permission{Why: "the user has not said yes to: " + q.told()}
	}
}

// proposes reports whether the question is about a write.
func (q *question) proposes() bool {
	return q.Permitted || len(q.Writes) > 0 || q.kind == vocab.AskPropose || q.kind == vocab.AskApprove
}

func (q *question) permission(why string) nodes.Permission {
	p := nodes.Permission{Allowed: true, Why: why + q.told(), Writes: q.Writes}
	if chosen := q.clickedOption(); chosen.Ref != "" {
		p.Why += " (chosen: " + chosen.Label + ", " + chosen.Ref + ")"
	}

	return p
}

// agreed are the calls to fewer rows of which the message is consent: "yes, but leave Lars out". Who begins with a no is
// asked again.
func (q *question) agreed(p nodes.Permission, message string) []crud.ApprovedCall {
	if q == nil || !p.Allowed || q.kind != vocab.AskApprove || saysNo.MatchString(message) {
		return nil
	}

	return q.Calls
}

// saysYes matches a message that says yes and nothing more, in some of the languages that users speak.
var saysYes = regexp.MustCompile(`(?i)^\s*(?:(?:yes|yep|yeah|yup|sure|ok|okay|please|do it|do that|go ahead|thanks|thank you|evet|sim|sí|si|oui|ja|bitte|danke|merci|gracias|tak|да|так|はい|是|是的|好|好的|네|예)[\s,.;:!–—，。！]*)+$`)

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
	done := nodes.Done{
		Curated: c.ClearAll || len(c.Retain)+len(c.Demote)+len(c.Forget)+len(c.Exclude)+len(out.Constraints) > 0, States: s.Domain.States(),
	}
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
			done.Wrote = done.Wrote || s.Domain.Operation(r.Tool) != nil || changed && (vocab.Writes(r.Tool) || r.Tool == vocab.ToolUndo)
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

	drafts := named(labels, len(refs))

	return proposing("Shall I save "+drafts+"?", []nodes.Offer{{Description: "Save " + drafts, Refs: refs, Save: true}})
}

// worded adopts the wording in which the reply asks the question, so that the question is shown and remembered in those
// words. If they do not show what a yes does, the options say it.
func (q *question) worded(asked string, shown bool) {
	if q == nil || asked == "" {
		return
	}
	q.Text = asked
	if !shown {
		q.Options = []view.QuestionOption{{ID: optionYes, Label: q.Writes[0].Description}, {ID: optionNo, Label: "No"}}
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
