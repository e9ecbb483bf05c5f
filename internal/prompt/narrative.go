package prompt

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/say"
	"alfred/internal/view"
	"alfred/nodes"
)

// narrative prints what was done and decided: this turn's curation, the last turns' steps, and earlier turns in
// brief. It is identical in Think and in every Act of a turn.
func (t *page) narrative(s *section) {
	window := t.Window(t.config.RetentionWindow)
	for i, p := range slices.Backward(window) {
		t.pastTurn(s, p, i == len(window)-1)
	}
	t.thisTurn(s)
	t.earlierText(s, "narrative", max(t.config.RetentionWindow, t.config.Full(t.Number-1)), earlierGoal) // Conversation has the later ones, and the rest of the lines
}

// pastStep is a step as stored in turn_summaries.
type pastStep struct {
	StepType         string   `json:"step_type"`
	Subdomain        string   `json:"subdomain"`
	Description      string   `json:"description"`
	Status           string   `json:"status"`
	Outcome          string   `json:"outcome"`
	Note             string   `json:"note"`
	EntitiesAffected []string `json:"entities_affected"`
}

func (t *page) pastTurn(s *section, p *db.TurnListPastRow, last bool) {
	if p.Status != db.TurnStatusSucceeded && !didAnything(p.Steps) {
		return // nothing happened; the conversation shows it
	}
	var b strings.Builder
	heading := "### Turn " + strconv.Itoa(int(p.Number))
	if last {
		heading += " (last turn)"
	}
	if p.Status != db.TurnStatusSucceeded {
		heading += " (" + string(p.Status) + ": what its steps did stays done)"
	}
	b.WriteString(heading + "\n")
	told := t.config.FullDetailTurns >= t.config.RetentionWindow // already verbatim under Conversation
	if !told {
		fact(&b, "User asked", clean.Quote(t.WithLabels(p.Message), shortMessage))
	}
	fact(&b, "Goal", clean.Inline(p.Goal, say.MaxFact))
	b.WriteString(t.pastSteps(p.Steps))
	fact(&b, "Decided", clean.Inline(p.CurationSummary, say.MaxFact))
	fact(&b, "Conclusions", clean.Inline(p.AnalysisConclusions, 2*say.MaxFact))
	if !told {
		fact(&b, "Result", t.ResponseSummary(p))
	}
	shown := strings.TrimRight(b.String(), "\n")
	if shown == heading {
		return // it only asked or talked; the conversation shows that
	}
	// A range to compress has turns without a window too.
	shown = (t.config.Budget.Narrative / Tokens(max(t.config.RetentionWindow, 1))).clip(shown)
	s.line(shown)
	s.line()
	s.addItem("window", "", int(p.Number), shown)
}

// didAnything reports whether a turn did anything.
func didAnything(data json.RawMessage) bool {
	return gjson.GetBytes(data, "#(entities_affected.0)").Exists()
}

func fact(b *strings.Builder, name, value string) {
	if value != "" {
		b.WriteString(name + ": " + value + "\n")
	}
}

func (t *page) pastSteps(data json.RawMessage) string {
	var steps []pastStep
	if err := json.Unmarshal(data, &steps); err != nil || len(steps) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Steps:\n")
	for i, step := range steps {
		line := strconv.Itoa(i+1) + ". " + clean.Inline(step.Description, say.MaxFact) + " (" + step.StepType + ", " + clean.Inline(step.Subdomain, say.ShortLine) + "): " + cmp.Or(step.Status, "open")
		if outcome := clean.Inline(step.Outcome, say.MaxFact); outcome != "" {
			line += ". " + outcome
		}
		if refs := t.RefWords(step.EntitiesAffected); refs != "" {
			line += " → " + refs
		}
		b.WriteString(line + "\n")
		if note := clean.Inline(step.Note, say.MaxFact); note != "" {
			b.WriteString("   Note: " + note + "\n")
		}
	}

	return b.String()
}

// thisTurn prints what Understand made of the message. It is committed before Think runs and does not change during the
// turn.
func (t *page) thisTurn(s *section) {
	var b strings.Builder
	mentions := view.Filter(t.Understood().Mentions, func(m nodes.Mention) bool { return t.ByRef[m.Ref] != nil })
	for i := 0; i < len(mentions); {
		text, kind, refs := mentions[i].Text, t.ByRef[mentions[i].Ref].EntityType, []string(nil)
		for ; i < len(mentions) && mentions[i].Text == text && t.ByRef[mentions[i].Ref].EntityType == kind; i++ {
			refs = append(refs, mentions[i].Ref)
		}
		b.WriteString("- " + clean.Quote(text, say.ShortLine) + " means " + t.RefWords(refs) + " (" + kind + ")\n")
	}
	fact(&b, "Understand decided", clean.Inline(t.Understood().CurationSummary, say.MaxFact))
	for _, d := range t.Decided() {
		if d.ThisTurn {
			b.WriteString("- " + t.DecisionLine(d) + "\n")
		}
	}
	own := b.String()
	t.recalled(s, &b)
	if b.Len() == 0 {
		return
	}
	s.line("### This turn\n" + strings.TrimRight(b.String(), "\n"))
	s.line()
	if own != "" {
		s.addItem("current", "", t.Number, own)
	}
}

// recalled prints what the search of the past found for this message: a result of step 0, available before Think runs.
func (t *page) recalled(s *section, b *strings.Builder) {
	left := t.config.Budget.Earlier
	for _, r := range t.Results {
		if !r.IsRecalled(t.Turn.ID) {
			continue
		}
		if len(r.Rows) == 0 {
			b.WriteString("- Recalled: nothing fits\n")
		}
		for _, found := range r.Rows {
			line := "- Recalled: " + t.recalledLine(found)
			if !left.take(line) {
				return
			}
			b.WriteString(line + "\n")
			ref, number := t.recalledKey(found)
			s.addItem("recalled", ref, number, line)
		}
	}
}

// recalledKey returns the ref of a recalled row, or the number of a turn of this conversation.
func (t *page) recalledKey(found map[string]any) (ref string, number int) {
	if def := t.Domain.ByType(clean.Value(found[view.TypeField])); def != nil {
		ref, _ = found[def.Key.Name].(string)

		return ref, 0
	}
	number, _ = strconv.Atoi(clean.Value(found["turn"])) // not for another conversation's turn

	return "", number
}

// recalledLine prints a past turn, or a row by its ref.
func (t *page) recalledLine(found map[string]any) string {
	if def := t.Domain.ByType(clean.Value(found[view.TypeField])); def != nil {
		ref, _ := found[def.Key.Name].(string)
		if t.ByRef[ref] != nil {
			return ref + " (" + def.Type + ")"
		}
	}
	parts := []string{"turn " + clean.Value(found["turn"])}
	if clean.IsEmpty(found["turn"]) {
		parts[0] = "another conversation, " + clean.Value(found["date"])
	}
	for _, name := range []string{"message", "reply", "summary", "before", "after"} {
		said := clean.Value(found[name])
		repeats := name == "summary" && said == clean.Value(found["reply"]) // a short reply is its own summary
		if !clean.IsEmpty(found[name]) && !repeats {
			parts = append(parts, name+": "+clean.Quote(t.WithLabels(said), say.MaxFact))
		}
	}

	return strings.Join(parts, "; ")
}

// understandLog prints what Understand decided in earlier turns, and why.
func (t *page) understandLog(s *section) {
	var earlier []*view.Decision
	for _, d := range t.Decided() {
		if int(d.Turn) != t.Number {
			earlier = append(earlier, d)
		}
	}
	for _, d := range earlier[max(0, len(earlier)-view.LogShown):] {
		line := "- Turn " + strconv.Itoa(int(d.Turn)) + ": " + t.DecisionLine(d)
		if d.Actor != "assistant" {
			line += " (by the " + d.Actor + ")"
		}
		s.item("window", "", int(d.Turn), line)
	}
}
