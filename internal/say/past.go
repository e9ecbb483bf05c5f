package say

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// verbatim is the longest reply that is its own summary, in characters; cutReply is where a longer one is cut if no
// model summarizes it.
const (
	verbatim = 800
	cutReply = 300
)

// ResponseSummary is a reply in brief. A summary written after this turn began does not count yet: the turn would see
// two versions of the past.
func (t *Teller) ResponseSummary(p *db.TurnListPastRow) string {
	if p.ResponseSummary == "" || p.SummaryIsLate {
		return shorten(t.WithLabels(p.Reply))
	}

	return clean.Inline(t.WithLabels(p.ResponseSummary), verbatim)
}

// marks are those of Markdown, which on one line would be read as signs.
var marks = strings.NewReplacer("**", "", ":\n- ", ": ", ":\n\n- ", ": ", "\n- ", "; ")

// shorten summarizes a reply without a model.
func shorten(reply string) string {
	reply = clean.Inline(marks.Replace(reply), 0)
	if len([]rune(reply)) <= verbatim {
		return reply
	}

	return clean.Clip(reply, cutReply)
}

// SummaryByCode is what code words of a turn's summary. turn_summary_write_facts takes the rest from rows.
func (t *Teller) SummaryByCode() nodes.SummarizeOutput {
	out := nodes.SummarizeOutput{
		ResponseSummary: shorten(t.WithLabels(clean.Text(t.Turn.Reply))), WhatUserExpressed: clean.Inline(t.WithLabels(t.Turn.Message), ShortLine),
		WhatWeAcknowledged: clean.Inline(t.Understood().CurationSummary, ShortLine),
	}
	switch {
	case t.OwnQuestion() != nil:
		out.NaturalNext = "The user answers the question."
	case len(t.Tier("generated")) > 0:
		out.NaturalNext = "The user has the draft changed or saved."
	}

	return out
}

// IsShort reports whether the turn's reply is its own summary.
func (t *Teller) IsShort() bool {
	return len([]rune(clean.Inline(t.WithLabels(clean.Text(t.Turn.Reply)), 0))) <= verbatim
}

// EarlierLine is a turn outside the windows on one line: what was said, and its result.
func (t *Teller) EarlierLine(p *db.TurnListPastRow) string {
	line := "Turn " + strconv.Itoa(int(p.Number)) + ": \"" + clean.Inline(t.WithLabels(p.Message), ShortLine) + "\" → "
	switch p.Status {
	case db.TurnStatusFailed, db.TurnStatusCancelled:
		return strings.TrimSpace(line + "(" + string(p.Status) + ") " + clean.Clip(clean.Inline(p.Reply, 0), ShortLine))
	default:
		return line + clean.Clip(t.ResponseSummary(p), ShortLine)
	}
}

// DoneBefore says what the newest of the last turns that wrote or drafted did, "" if this turn has steps of its own: who asks what
// was done wants more than what was said of it.
func (t *Teller) DoneBefore(turns int) string {
	if len(t.Steps) > 0 {
		return ""
	}
	for _, p := range slices.Backward(t.Window(turns)) {
		var did []string
		for _, step := range gjson.ParseBytes(p.Steps).Array() {
			kind, outcome := step.Get("step_type").Str, clean.Inline(step.Get("outcome").Str, MaxFact)
			if (kind == vocab.StepWrite || kind == vocab.StepGenerate) && outcome != "" {
				did = append(did, outcome)
			}
		}
		if len(did) > 0 {
			return "for " + clean.Quote(t.WithLabels(p.Message), ShortLine) + ": " + strings.Join(did, " ")
		}
	}

	return ""
}

// ShortLine bounds each side of an older turn's line, in characters.
const ShortLine = 200

// WithLabels shows mention tokens as "Label (ref)", or only the label if the session does not know the row.
func (t *Teller) WithLabels(text string) string {
	return clean.MentionPattern.ReplaceAllStringFunc(text, func(token string) string {
		parts := clean.MentionPattern.FindStringSubmatch(token)
		for _, e := range t.Entities {
			if e.EntityType == parts[2] && hasKey(e, parts[3]) {
				return parts[1] + " (" + e.Ref + ")"
			}
		}

		return parts[1]
	})
}

// hasKey reports whether an entity has a key. Only of a UUID does the case of its letters mean nothing.
func hasKey(e *view.Entity, key string) bool {
	return e.EntityID != nil && (*e.EntityID == key || uuid.Validate(key) == nil && strings.EqualFold(*e.EntityID, key))
}

// MaxFact bounds a sentence of the narrative, in characters.
const MaxFact = 500

// RefWords names refs in registry order, consecutive ones as inv_1..inv_59.
func (t *Teller) RefWords(refs []string) string {
	wanted := map[string]bool{}
	for _, ref := range refs {
		wanted[ref] = true
	}
	named := slices.DeleteFunc(t.ByNumber(), func(e *view.Entity) bool { return !wanted[e.Ref] })
	var words []string
	for _, run := range view.ConsecutiveRuns(named, func(_, _ *view.Entity) bool { return true }) {
		if n := len(run); n > 2 {
			words = append(words, run[0].Ref+".."+run[n-1].Ref)

			continue
		}
		for _, e := range run {
			words = append(words, e.Ref)
		}
	}

	return strings.Join(words, ", ")
}

// DecisionLine names the refs as they were decided on; dropped ones are no longer in the registry.
func (t *Teller) DecisionLine(d *view.Decision) string {
	line := d.Action
	if words := t.RefWords(d.Refs); words != "" {
		line += " " + words
	} else if len(d.Refs) > 0 {
		line += " " + strings.Join(d.Refs, ", ")
	}
	if reason := clean.Inline(d.Reason, MaxReason); reason != "" {
		line += ": " + reason
	}

	return line
}

// EarlierTurn is one older turn in one line.
func (t *Teller) EarlierTurn(p *db.TurnListPastRow) string {
	line := "Turn " + strconv.Itoa(int(p.Number)) + ": "
	if p.Status != db.TurnStatusSucceeded {
		return strings.TrimSpace(line + "(" + string(p.Status) + ") " + clean.Clip(clean.Inline(p.Reply, 0), ShortLine))
	}

	return line + clean.Clip(cmp.Or(clean.Inline(p.Goal, ShortLine), clean.Quote(t.WithLabels(p.Message), ShortLine))+" → "+t.ResponseSummary(p), 2*ShortLine)
}

// CompressedByCode compresses a range of turns without a model: a line per turn, oldest words dropped first, preceded
// by the text so far if not all turns of the range are available.
func (t *Teller) CompressedByCode(kind string, most int) string {
	var lines []string
	if covered := t.Earlier[kind]; covered != nil && len(t.Past) > 0 && t.Past[0].Number > 1 {
		lines = append(lines, clean.Inline(covered.Text, 0))
	}
	for _, p := range t.Past {
		if kind == "narrative" {
			lines = append(lines, t.EarlierTurn(p))
		} else {
			lines = append(lines, t.EarlierLine(p))
		}
	}
	whole := []rune(strings.Join(lines, "\n"))
	if len(whole) > most {
		return "…" + string(whole[len(whole)-most:])
	}

	return string(whole)
}
