package memory

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"alfred/db"
)

// whatHappened is what was done and decided: this turn's curation, the last
// turns' steps, those before them in few words. Think and every Act of a turn
// print exactly this.
func (t *turn) whatHappened() *section {
	s := newSection("## What Happened")
	window := t.window(t.memory.config.RetentionWindow)
	for i, p := range slices.Backward(window) {
		t.pastTurn(s, p, i == len(window)-1)
	}
	t.thisTurn(s)
	older := t.older("narrative", t.memory.config.RetentionWindow)
	lines := make([]string, 0, len(older))
	for _, p := range older {
		lines = append(lines, t.earlierDeed(p))
	}
	t.earlierText(s, "narrative", older, lines)

	return s
}

// pastStep is a step as turn_summaries keeps it.
type pastStep struct {
	Step             int      `json:"step"`
	StepType         string   `json:"step_type"`
	Subdomain        string   `json:"subdomain"`
	Description      string   `json:"description"`
	Status           string   `json:"status"`
	Outcome          string   `json:"outcome"`
	Note             string   `json:"note"`
	EntitiesAffected []string `json:"entities_affected"`
}

// maxFact bounds a sentence of the narrative, in characters.
const maxFact = 500

func (t *turn) pastTurn(s *section, p *db.TurnListPastRow, last bool) {
	if p.Status != db.TurnStatusSucceeded {
		return // nothing came of it, the conversation tells
	}
	var b strings.Builder
	heading := "### Turn " + itoa(int(p.Number))
	if last {
		heading += " (last turn)"
	}
	b.WriteString(heading + "\n")
	fact(&b, "User asked", quote(t.withLabels(p.Message), shortMessage))
	fact(&b, "Goal", inline(p.Goal, maxFact))
	b.WriteString(t.pastSteps(p.Steps))
	fact(&b, "Decided", inline(p.CurationSummary, maxFact))
	fact(&b, "Conclusions", inline(p.AnalysisConclusions, 2*maxFact))
	fact(&b, "Result", t.responseSummary(p))
	shown := strings.TrimRight(b.String(), "\n")
	if tokens(shown) > t.memory.config.Budget.Narrative/t.memory.config.RetentionWindow {
		shown = clip(shown, t.memory.config.Budget.Narrative/t.memory.config.RetentionWindow*runesPerToken)
	}
	s.line(shown)
	s.line()
	s.because("window", "", int(p.Number), shown)
}

func fact(b *strings.Builder, name, value string) {
	if value != "" {
		b.WriteString(name + ": " + value + "\n")
	}
}

func quote(text string, most int) string { return `"` + inline(text, most) + `"` }

func (t *turn) pastSteps(data json.RawMessage) string {
	var steps []pastStep
	if err := json.Unmarshal(data, &steps); err != nil || len(steps) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Steps:\n")
	for i, step := range steps {
		line := itoa(i+1) + ". " + inline(step.Description, maxFact) + " (" + step.StepType + ", " + inline(step.Subdomain, shortLine) + "): " + orWord(step.Status, "open")
		if outcome := inline(step.Outcome, maxFact); outcome != "" {
			line += ". " + outcome
		}
		if refs := t.refWords(step.EntitiesAffected); refs != "" {
			line += " → " + refs
		}
		b.WriteString(line + "\n")
		if note := inline(step.Note, maxFact); note != "" {
			b.WriteString("   Note: " + note + "\n")
		}
	}

	return b.String()
}

func orWord(text, word string) string {
	if text == "" {
		return word
	}

	return text
}

// refWords names refs in the registry's order, those in a row as inv_1..inv_59.
func (t *turn) refWords(refs []string) string {
	wanted := map[string]bool{}
	for _, ref := range refs {
		wanted[ref] = true
	}
	var words []string
	var run []*entity
	flush := func() {
		switch n := len(run); {
		case n > 2:
			words = append(words, run[0].Ref+".."+run[n-1].Ref)
		default:
			for _, e := range run {
				words = append(words, e.Ref)
			}
		}
		run = nil
	}
	for _, e := range t.byNumber() {
		if !wanted[e.Ref] {
			continue
		}
		if len(run) > 0 && (run[len(run)-1].stem() != e.stem() || run[len(run)-1].number()+1 != e.number()) {
			flush()
		}
		run = append(run, e)
	}
	flush()

	return strings.Join(words, ", ")
}

// thisTurn is what Understand made of the message. It is committed before Think
// runs and does not change while the turn does.
func (t *turn) thisTurn(s *section) {
	var b strings.Builder
	for _, mention := range t.understood.Mentions {
		if e := t.byRef[mention.Ref]; e != nil {
			b.WriteString("- " + quote(mention.Text, shortLine) + " means " + e.Ref + " (" + e.EntityType + ")\n")
		}
	}
	fact(&b, "Understand decided", inline(t.understood.CurationSummary, maxFact))
	for _, d := range t.decided() {
		if d.thisTurn {
			b.WriteString("- " + t.decisionLine(d) + "\n")
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
		s.because("current", "", t.number, own)
	}
}

// decision is what was decided about some refs at once, for one reason.
type decision struct {
	turn          int32
	thisTurn      bool
	action, actor string
	reason        string
	refs          []string
}

// decided groups the decision log, oldest first.
func (t *turn) decided() []*decision {
	var groups []*decision
	for _, d := range slices.Backward(t.decisions) {
		next := &decision{turn: d.TurnNumber, thisTurn: d.TurnID != nil && *d.TurnID == t.row.ID, action: d.Action, actor: d.Actor, reason: d.Reason}
		if n := len(groups); n > 0 && groups[n-1].same(next) {
			next = groups[n-1]
		} else {
			groups = append(groups, next)
		}
		if d.Ref != nil {
			next.refs = append(next.refs, *d.Ref)
		}
	}

	return groups
}

func (d *decision) same(other *decision) bool {
	return d.turn == other.turn && d.thisTurn == other.thisTurn && d.action == other.action && d.actor == other.actor && d.reason == other.reason
}

// decisionLine names the refs as they were decided on; dropped ones are not in
// the registry any more.
func (t *turn) decisionLine(d *decision) string {
	line := d.action
	if words := t.refWords(d.refs); words != "" {
		line += " " + words
	} else if len(d.refs) > 0 {
		line += " " + strings.Join(d.refs, ", ")
	}
	if reason := inline(d.reason, maxReason); reason != "" {
		line += ": " + reason
	}

	return line
}

// recalled is what the search of the past found for this message: a result of
// step 0, there before Think runs.
func (t *turn) recalled(s *section, b *strings.Builder) {
	budget := t.memory.config.Budget.Earlier
	for _, r := range t.results {
		if !r.isRecalled(t.row.ID) {
			continue
		}
		if len(r.rows) == 0 {
			b.WriteString("- Recalled: nothing fits\n")
		}
		for _, found := range r.rows {
			line := "- Recalled: " + t.recalledLine(found)
			if tokens(line) > budget {
				return
			}
			budget -= tokens(line)
			b.WriteString(line + "\n")
			ref, number := t.recalledWhat(found)
			s.because("recalled", ref, number, line)
		}
	}
}

// recalledWhat is the ref of a recalled row, or the number of a turn of this conversation.
func (t *turn) recalledWhat(found map[string]any) (ref string, number int) {
	if def := t.memory.domain.ByType(plainValue(found[typeField])); def != nil {
		ref, _ = found[def.Key.Name].(string)

		return ref, 0
	}
	number, _ = strconv.Atoi(plainValue(found["turn"])) // none of another conversation

	return "", number
}

// isRecalled says whether this is what Understand had looked up for the turn.
func (r *result) isRecalled(turn uuid.UUID) bool {
	return r.TurnID == turn && r.Step == 0 && r.Tool == toolRecall && !r.failed()
}

// recalledLine is a past turn, or a row by its ref.
func (t *turn) recalledLine(found map[string]any) string {
	if def := t.memory.domain.ByType(plainValue(found[typeField])); def != nil {
		ref, _ := found[def.Key.Name].(string)
		if t.byRef[ref] != nil {
			return ref + " (" + def.Type + ")"
		}
	}
	parts := []string{"turn " + plainValue(found["turn"])}
	if isEmpty(found["turn"]) {
		parts[0] = "another conversation, " + plainValue(found["date"])
	}
	for _, name := range []string{"message", "reply", "summary", "before", "after"} {
		if said := plainValue(found[name]); !isEmpty(found[name]) {
			parts = append(parts, name+": "+quote(t.withLabels(said), maxFact))
		}
	}

	return strings.Join(parts, "; ")
}

// earlierDeed is one older turn in one line.
func (t *turn) earlierDeed(p *db.TurnListPastRow) string {
	line := "Turn " + itoa(int(p.Number)) + ": "
	if p.Status != db.TurnStatusSucceeded {
		return line + "(" + string(p.Status) + ")"
	}

	return line + clip(orWord(inline(p.Goal, shortLine), quote(t.withLabels(p.Message), shortLine))+" → "+t.responseSummary(p), 2*shortLine)
}

// understandLog is what Understand decided in earlier turns, and why.
func (t *turn) understandLog() *section {
	s := newSection("## Previous Understand Decisions")
	var earlier []*decision
	for _, d := range t.decided() {
		if int(d.turn) != t.number {
			earlier = append(earlier, d)
		}
	}
	for _, d := range earlier[max(0, len(earlier)-logShown):] {
		line := "- Turn " + itoa(int(d.turn)) + ": " + t.decisionLine(d)
		if d.actor != "assistant" {
			line += " (by the " + d.actor + ")"
		}
		s.line(line)
		s.because("window", "", int(d.turn), line)
	}

	return s
}
