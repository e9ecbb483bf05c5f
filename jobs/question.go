package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"alfred/internal/crud"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

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

// The options of a question that proposes something. A click on one of them is an answer, whatever a model makes of it.
const (
	optionNo  = "no"
	optionYes = "yes"
)

// yesNo are these options.
func yesNo() []view.QuestionOption {
	return []view.QuestionOption{{ID: optionYes, Label: "Yes"}, {ID: optionNo, Label: "No"}}
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

func disambiguation(d *nodes.Disambiguation, refs nodes.Refs) *question {
	q := asking(vocab.AskDisambiguate, d.Question)
	for _, ref := range d.Options {
		q.Options = append(q.Options, view.QuestionOption{ID: ref, Label: cmp.Or(refs[ref].Label, ref), Ref: ref})
	}

	return q
}

// askedBy converts Act's question. In a write step, it proposes the step itself.
func askedBy(ask *nodes.AskUser, in acted) *question {
	q := asking(vocab.AskUser, ask.Question)
	for _, label := range ask.Options {
		q.Options = append(q.Options, view.QuestionOption{ID: optionID(label, q.Options), Label: label})
	}
	if ask.WouldWrite || in.stepType == vocab.StepWrite {
		q.Writes = []nodes.Offer{{Description: in.description, Refs: append([]string{}, in.refs...)}}
	}

	return q
}

// noWords say no, in some of the languages that users speak.
const noWords = `no+|nope|nah|stopp?|hay[ıi]r|não|nee|nei|nein|nej|nie|non|нет|ні|いいえ|不|不要|아니요`

// saysNo matches an option that says no, and perhaps more.
var saysNo = regexp.MustCompile(`(?i)^\s*(?:` + noWords + `)(?:,? (?:thanks|thank you|danke|merci|gracias))?\s*(?:[,.;:!–—，、。،]|\s-|$)`)

// optionID is the number of a model's option, except that the first one that says no has the id of every No: a click on
// it is no permission.
func optionID(label string, before []view.QuestionOption) string {
	taken := slices.ContainsFunc(before, func(o view.QuestionOption) bool { return o.ID == optionNo })
	if saysNo.MatchString(label) && !taken {
		return optionNo
	}

	return strconv.Itoa(len(before) + 1)
}

// pointAt gives options that a model wrote as a ref the row that they mean.
func (q *question) pointAt(known *view.Scene) {
	for i, o := range q.Options {
		if e := known.ByRef[strings.TrimSpace(o.Label)]; e != nil && o.Ref == "" && e.Label != "" {
			q.Options[i].Ref, q.Options[i].Label = e.Ref, e.Label
		}
	}
}

// distinguishOptions calls rows of the same name in a question by what distinguishes them: which of two Bellas is the dog.
func (c *commit) distinguishOptions(ctx context.Context, asked *question) error {
	var refs []string
	for i := range asked.Options {
		if sharesLabel(asked.Options, i) && asked.Options[i].Ref != "" {
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

// forPeople is the question in words for people; models go on to read it with the refs that it names.
func (q *question) forPeople(known *view.Scene) view.QuestionPayload {
	names, plain := known.RefNames(), slices.Clone(q.Options)
	for i := range plain {
		plain[i].Label = names.Unref(plain[i].Label)
	}
	asked := view.QuestionPayload{Text: names.Unref(q.Text), Options: distinct(plain)}
	told := view.QuestionPayload{Text: q.Text, Options: distinct(q.Options)}
	if asked.Text != told.Text || !slices.Equal(asked.Options, told.Options) {
		asked.Told = &told
	}

	return asked
}

// distinct are the options as stored and sent: those that are called alike get a number.
func distinct(options []view.QuestionOption) []view.QuestionOption {
	numbered := append([]view.QuestionOption{}, options...)
	for i := range numbered {
		if sharesLabel(options, i) {
			numbered[i].Label = fmt.Sprintf("%s (%d)", options[i].Label, i+1)
		}
	}

	return numbered
}

// sharesLabel reports whether another option is called as this one is.
func sharesLabel(options []view.QuestionOption, i int) bool {
	return slices.ContainsFunc(options, func(o view.QuestionOption) bool {
		return o.ID != options[i].ID && strings.EqualFold(o.Label, options[i].Label)
	})
}

// readQuestion reads a question with the option of it that the message clicked.
func (s *state) readQuestion(id uuid.UUID, kind string, payload json.RawMessage) (*question, error) {
	q := &question{kind: kind, chosen: s.ClickedOption(id)}
	if err := json.Unmarshal(payload, q); err != nil {
		return nil, fmt.Errorf("read question: %w", err)
	}

	return q, nil
}

// clickedQuestion returns the option the user clicked and its question; nil for an answer in words, or if the question was closed
// since: before Understand, a turn's questions are those that are open.
func (s *state) clickedQuestion() (*question, error) {
	for _, q := range s.Questions {
		if s.ClickedOption(q.ID) != "" {
			return s.readQuestion(q.ID, q.Kind, q.Payload)
		}
	}

	return nil, nil
}

// textForModels is the question as models read it.
func (q *question) textForModels() string { return q.ForModels().Text }

// clickedOption is empty for an answer in words.
func (q *question) clickedOption() view.QuestionOption {
	for _, o := range q.Options {
		if o.ID == q.chosen {
			return o
		}
	}

	return view.QuestionOption{}
}

// offerToSave is the question whether to save what this turn drafted or redrafted. Code asks it once per draft and change, so that a yes
// has a defined meaning.
func (s *state) offerToSave() *question {
	var refs, labels []string
	for _, e := range s.Scene(false).DraftedNow() {
		refs = append(refs, e.Ref)
		if !e.LabelIsPlaceholder {
			labels = append(labels, e.Label)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	drafts := crud.InShort(labels, len(refs))

	return proposing("Shall I save "+drafts+"?", []nodes.Offer{{Description: "Save " + drafts, Refs: refs, Save: true}})
}

// adoptWording takes the wording in which the reply asks the question, so that the question is shown and remembered in those
// words. If they do not show what a yes does, the options say it.
func (q *question) adoptWording(asked string, shown bool) {
	if q == nil || asked == "" {
		return
	}
	q.Text = asked
	if !shown {
		q.Options = []view.QuestionOption{{ID: optionYes, Label: q.Writes[0].Description}, {ID: optionNo, Label: "No"}}
	}
}
