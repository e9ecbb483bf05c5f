package say

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/domain"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// maxListed is how many rows a reply worded by code lists.
const maxListed = 60

// ReplyFromFacts is a turn's reply without a model.
func (t *Teller) ReplyFromFacts() string {
	if payload := t.QuestionToAsk(); payload != nil {
		return t.Plain(t.questionWords(payload))
	}
	effects := t.Effects()
	var parts []string
	for _, d := range savedTogether(effects) {
		if told := t.effectText(d); told != "" && !withWhole(d, effects) && !slices.Contains(parts, told) {
			parts = append(parts, told)
		}
	}
	parts = append(parts, t.stepTexts()...)
	if drafts := t.draftsText(); drafts != "" {
		parts = append(parts, drafts)
	}
	if len(parts) == 0 {
		return "I have nothing new to show for that. Could you say it in other words?"
	}

	return t.Plain(strings.Join(parts, "\n\n"))
}

// savedTogether joins what the calls of a step save of one type: each draft takes a call of its own.
func savedTogether(effects []*view.Effect) []*view.Effect {
	var joined []*view.Effect
	for _, d := range effects {
		at := slices.IndexFunc(joined, func(e *view.Effect) bool {
			return d.Result.Tool == vocab.ToolCreate && e.Result.Tool == d.Result.Tool && e.Result.Step == d.Result.Step && e.Kind == d.Kind && whole(e) && whole(d)
		})
		if at < 0 {
			joined = append(joined, d)

			continue
		}
		both := *joined[at]
		both.Refs = slices.Concat(both.Refs, d.Refs)
		joined[at] = &both
	}

	return joined
}

// withWhole reports whether rows that a call wrote are told with those that they are parts of, because the turn wrote these too.
func withWhole(d *view.Effect, effects []*view.Effect) bool {
	return d.Tool != vocab.ToolRead && slices.ContainsFunc(effects, func(of *view.Effect) bool {
		return of.Kind != d.Kind && of.Tool != vocab.ToolRead && len(of.Refs) > 0 && of.Kind.Child(d.Kind.Table) != nil
	})
}

// whole reports whether a call returned all the rows that it counts.
func whole(d *view.Effect) bool { return int(d.Result.RowCount) <= len(d.Result.Rows) }

func (t *Teller) questionWords(payload *view.QuestionPayload) string {
	lines := []string{clean.Block(t.WithLabels(payload.Text))}
	for i, option := range payload.Options {
		lines = append(lines, strconv.Itoa(i+1)+". "+t.OptionWords(option))
	}

	return strings.Join(lines, "\n")
}

// effectText words one effect: "You have 2 recipes:" and the rows.
func (t *Teller) effectText(d *view.Effect) string {
	switch {
	case d.Result.Tool == vocab.ToolUndo:
		return t.summaryOf(d.Result.Step)
	case len(d.Result.Rows) == 0 && d.Result.Tool == vocab.ToolRead:
		nothing := t.EmptyText(d)
		if !strings.HasSuffix(nothing, ".") {
			nothing = "I found " + nothing + "."
		}

		return nothing
	}
	refs := d.Refs
	if d.Tool == vocab.ToolRead {
		nested := t.NestedRefs()
		refs = slices.DeleteFunc(slices.Clone(refs), func(ref string) bool { return nested[ref] })
	}
	if len(refs) == 0 {
		return ""
	}
	verb := Verb(d.Tool)
	if d.Tool == vocab.ToolRead && d.Result.Tool == vocab.ToolUpdate {
		verb = "Nothing was changed. " + verb
	}
	lines := []string{verb + " " + t.CountText(d) + ":"}
	lines = append(lines, t.rowTexts(d, refs[:min(len(refs), maxListed)])...)
	if more := len(refs) - maxListed; more > 0 {
		lines = append(lines, "… and "+strconv.Itoa(more)+" more")
	}

	return strings.Join(lines, "\n")
}

// summaryOf says how a step ended.
func (t *Teller) summaryOf(number int32) string {
	for _, step := range t.Steps {
		if step.Step == number {
			return clean.Text(step.Summary)
		}
	}

	return ""
}

// rowTexts are the rows, one a line. Those that read alike say all that is short: nobody can choose among four that are called
// Roof leak.
func (t *Teller) rowTexts(d *view.Effect, refs []string) []string {
	lines := make([]string, len(refs))
	for i, ref := range refs {
		lines[i] = t.rowText(d, ref)
	}
	alike := map[string]int{}
	for _, line := range lines {
		alike[line]++
	}
	for i, ref := range refs {
		if r := t.Rows.ByRef[ref]; r != nil && alike[lines[i]] > 1 {
			lines[i] = "- " + t.lineOf(r.Kind, shortValues(r), forPerson)
		}
	}

	return lines
}

// rowText is a row on one line, or the whole row if the call read it for its long texts or parts.
func (t *Teller) rowText(d *view.Effect, ref string) string {
	if detail := gjson.GetBytes(d.Result.Params, "detail").Str; len(d.Refs) == 1 && detail != "" && detail != "summary" {
		return t.wholeRow(ref, forPerson)
	}

	return t.shortRowLine(ref)
}

// shortRowLine is a row rendered by its template alone.
func (t *Teller) shortRowLine(ref string) string {
	r := t.Rows.ByRef[ref]
	if r == nil {
		return "- " + t.ByRef[ref].Label
	}
	line := t.lineOf(r.Kind, spokenValues(r), forPerson)
	if line == "" {
		line = t.ByRef[ref].Label
	}

	return "- " + line
}

// spokenValues are the values that a row's template for people shows.
func spokenValues(r *view.Row) map[string]any {
	shown := map[string]any{}
	used := r.Kind.Spoken.Columns()
	for name, value := range r.Columns {
		if slices.Contains(used, name) || slices.Contains(used, domain.Labelled(name)) {
			shown[name] = value
		}
	}

	return shown
}

// notDone says how a step that is not done ended.
var notDone = map[db.StepOutcome]string{
	db.StepOutcomeFailed: "This did not work: ", db.StepOutcomePartial: "This is done only in part: ", db.StepOutcomeSkipped: "This was not done: ",
}

// stepTexts says what was not done, and what an analysis found.
func (t *Teller) stepTexts() []string {
	var parts []string
	for _, step := range t.Steps {
		if found := clean.Block(clean.Text(step.Conclusions)); found != "" {
			parts = append(parts, found)
		}
		if step.Outcome != nil && notDone[*step.Outcome] != "" && !t.IsMadeUpFor(step) {
			parts = append(parts, notDone[*step.Outcome]+closed(clean.Inline(step.Description, ShortLine)))
		}
	}

	return parts
}

// closed ends a sentence that has no end yet.
func closed(text string) string {
	if last, _ := utf8.DecodeLastRuneInString(text); strings.ContainsRune(".!?…", last) {
		return text
	}

	return text + "."
}

// NotWritten says what of a turn that wrote was not written, "" for nothing or if the user is asked about it: write steps that ended
// short, and rows to be changed that were not there.
func (t *Teller) NotWritten() string {
	if len(t.WroteNothing()) > 0 || t.QuestionToAsk() != nil {
		return ""
	}
	var parts []string
	for _, step := range t.Steps {
		if step.Outcome != nil && notDone[*step.Outcome] != "" && step.StepType == db.StepTypeWrite && !t.IsMadeUpFor(step) {
			what := step.Description
			if *step.Outcome == db.StepOutcomePartial {
				what = clean.Text(step.Summary)
			}
			parts = append(parts, notDone[*step.Outcome]+closed(clean.Inline(what, MaxFact)))
		}
	}

	for _, r := range t.OwnResults() {
		if t.foundNothingToChange(r) {
			what := nodes.InWords(vocab.Call{Tool: r.Tool, Args: r.Params}, t.Domain.Entity(clean.Text(r.EntityType)).Plural)
			parts = append(parts, "Not found, and so not changed: "+strings.TrimPrefix(what, "Read the ")+".")
		}
	}

	return t.Plain(strings.Join(parts, "\n\n"))
}

// foundNothingToChange reports whether code looked for rows that a plan was to change and found none, and nobody has looked further,
// created what was missing or changed another row instead.
func (t *Teller) foundNothingToChange(r *view.Result) bool {
	made, meant := false, []string{} // the rows that were meant to be changed besides
	for _, step := range t.Steps {
		made = made || step.Step == r.Step && step.Description == vocab.ReadsWhatChanges
		meant = append(meant, step.Refs...)
	}
	for _, beside := range t.OwnResults() {
		if beside.Step == r.Step {
			meant = append(meant, beside.Refs...)
		}
	}
	isOther := func(ref string) bool { return !slices.Contains(meant, ref) }

	return made && !r.Failed() && r.RowCount == 0 && t.Domain.Entity(clean.Text(r.EntityType)) != nil && !slices.ContainsFunc(t.OwnResults(), func(later *view.Result) bool {
		makesUp := later.Tool == vocab.ToolRead || later.Tool == vocab.ToolCreate || later.Tool == vocab.ToolUpdate && slices.ContainsFunc(later.Refs, isOther)

		return later.Step > r.Step && makesUp && !later.Failed() && later.RowCount > 0 && clean.Text(later.EntityType) == clean.Text(r.EntityType)
	})
}

func (t *Teller) draftsText() string {
	drafts := t.EntitiesWhere(t.IsDraftOfNow)
	if len(drafts) == 0 {
		return ""
	}

	return "Drafted, not saved yet: " + strings.Join(view.Labels(drafts), ", ") + ". Say the word and I save it."
}

// QuickReply words the answer to a plain lookup.
func (t *Teller) QuickReply() string {
	for _, r := range slices.Backward(t.OwnResults()) {
		if r.Failed() && r.Step > 0 {
			return "I could not look that up just now."
		}
		if !r.Failed() {
			break
		}
	}

	return t.ReplyFromFacts()
}
