package memory

import (
	"encoding/json"
	"slices"
	"strings"

	"alfred/db"
	"alfred/nodes"
)

// What code says when no model does. It claims no more than the rows do.

// maxListed is how many rows a reply worded by code lists.
const maxListed = 60

// replyFromFacts is the reply of a turn without a model.
func (t *turn) replyFromFacts() string {
	if payload := t.asked(); payload != nil {
		return t.plain(questionWords(t, payload))
	}
	var parts []string
	for _, d := range t.deeds() {
		if told := t.tell(d); told != "" {
			parts = append(parts, told)
		}
	}
	parts = append(parts, t.tellSteps()...)
	if drafts := t.tellDrafts(); drafts != "" {
		parts = append(parts, drafts)
	}
	if len(parts) == 0 {
		return "I have nothing new to show for that. Could you say it in other words?"
	}

	return t.plain(strings.Join(parts, "\n\n"))
}

func questionWords(t *turn, payload *questionPayload) string {
	lines := []string{block(t.withLabels(payload.Text))}
	for i, option := range payload.Options {
		lines = append(lines, itoa(i+1)+". "+t.optionWords(option))
	}

	return strings.Join(lines, "\n")
}

// tell words one deed: "You have 2 recipes:" and the rows.
func (t *turn) tell(d *deed) string {
	switch {
	case len(d.result.rows) == 0 && d.result.Tool == "db_read":
		return t.sentence(t.nothing(d))
	case len(d.refs) == 0 || (t.isChild(d.kind) && d.result.Tool != "db_read"):
		return ""
	}
	nested := t.nestedRefs()
	lines := []string{verb(d.result.Tool) + " " + t.howMany(d) + ":"}
	for i, ref := range d.refs {
		if nested[ref] {
			continue
		}
		if i == maxListed {
			lines = append(lines, "… and "+itoa(len(d.refs)-i)+" more")

			break
		}
		lines = append(lines, t.toldRow(d, ref))
	}
	if len(lines) == 1 {
		return ""
	}

	return strings.Join(lines, "\n")
}

// toldRow is one line, or all of the row where this one was read for its long texts or parts.
func (t *turn) toldRow(d *deed, ref string) string {
	var params struct {
		Detail string `json:"detail"`
	}
	if err := json.Unmarshal(d.result.Params, &params); err != nil {
		return t.shortRowLine(ref)
	}
	if len(d.refs) == 1 && params.Detail != "" && params.Detail != "summary" {
		return t.plainRow(ref)
	}

	return t.shortRowLine(ref)
}

func (t *turn) sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}

	return "I found " + text + "."
}

// shortRowLine is a row by its display template alone.
func (t *turn) shortRowLine(ref string) string {
	r := t.rows.byRef[ref]
	if r == nil {
		return "- " + t.byRef[ref].label
	}
	shown := map[string]any{}
	used := r.kind.Display.Columns()
	for name, value := range r.columns {
		column := strings.TrimSuffix(strings.TrimPrefix(name, "_"), "_label")
		if slices.Contains(used, name) || slices.Contains(used, column) {
			shown[name] = value
		}
	}
	line := t.plainLine(r.kind, shown)
	if line == "" {
		line = t.byRef[ref].label
	}

	return "- " + line
}

// tellSteps says what was not done, and what an analysis found.
func (t *turn) tellSteps() []string {
	var parts []string
	for _, step := range t.steps {
		if found := block(text(step.Conclusions)); found != "" {
			parts = append(parts, found)
		}
		if step.Outcome == nil {
			continue
		}
		what := inline(step.Description, shortLine)
		switch *step.Outcome {
		case db.StepOutcomeFailed:
			parts = append(parts, "This did not work: "+what+".")
		case db.StepOutcomePartial:
			parts = append(parts, "This is done only in part: "+what+".")
		case db.StepOutcomeSkipped:
			parts = append(parts, "This was not done: "+what+".")
		case db.StepOutcomeOk, db.StepOutcomeEmpty:
		}
	}

	return parts
}

func (t *turn) tellDrafts() string {
	var labels []string
	for _, e := range t.entities {
		if e.pending() && e.Tier == "generated" && e.TurnLastRef == t.row.Number {
			labels = append(labels, e.label)
		}
	}
	if len(labels) == 0 {
		return ""
	}

	return "Drafted, not saved yet: " + strings.Join(labels, ", ") + ". Say the word and I save it."
}

// quickReply words the answer to a plain look-up.
func (t *turn) quickReply() string {
	for _, r := range slices.Backward(t.ownResults()) {
		if r.failed() && r.Step > 0 {
			return "I could not look that up just now."
		}
		if !r.failed() {
			break
		}
	}

	return t.replyFromFacts()
}

// summaryFromFacts is a turn's summary without a model, in the same words as
// turn_summary_write_facts.
func (t *turn) summaryFromFacts() nodes.SummarizeOutput {
	out := nodes.SummarizeOutput{
		ResponseSummary: shorten(t.withLabels(text(t.row.Reply))), ConversationPhase: "exploring", Tone: "collaborative",
		WhatUserExpressed: inline(t.withLabels(t.row.Message), shortLine), Fallback: true,
	}
	if len(t.excludedNow()) > 0 || t.ran(db.StepTypeAnalyze) {
		out.ConversationPhase = "narrowing"
	}
	if t.ran(db.StepTypeGenerate) {
		out.ConversationPhase = "confirming"
	}
	if t.ran(db.StepTypeWrite) {
		out.ConversationPhase = "executing"
	}
	switch {
	case t.asked() != nil:
		out.Tone, out.NaturalNext = "clarifying", "The user answers the question."
	case len(t.tier("generated")) > 0:
		out.NaturalNext = "The user has the draft changed or saved."
	case t.ran(db.StepTypeRead):
		out.Tone = "informative"
	}
	out.WhatWeAcknowledged = inline(t.understood.CurationSummary, shortLine)

	return out
}

// ran says whether a step of the type came to something.
func (t *turn) ran(kind db.StepType) bool {
	return slices.ContainsFunc(t.steps, func(step *db.TurnSteps) bool {
		return step.StepType == kind && step.Outcome != nil && (*step.Outcome == db.StepOutcomeOk || *step.Outcome == db.StepOutcomePartial)
	})
}
