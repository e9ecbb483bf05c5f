package offline

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"alfred/internal/clean"
	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
)

var planWords = regexp.MustCompile(`(?i)\b(?:days?|week|weekend|meals?|menu|plan)\b`)

// acceptPlan: "plan dinners for the week" drafts a row of the schedule for each day.
func acceptPlan(s *scene, c *command) bool {
	c.kind = s.lex.schedule
	at := onDay.FindStringSubmatch(c.text)
	if c.kind == nil || one.MatchString(trimName(c.object)) || at != nil && one.MatchString(at[1]+at[3]) {
		return false
	}
	c.values = s.lex.valuesIn(c.text, c.kind)
	object := unwanted.ReplaceAllString(c.object, "")
	if len(s.find(object, s.lex.planned).entities) > 0 {
		return false
	}
	if planWords.MatchString(c.object) {
		return true
	}
	unnamed := s.restOf(titleNoise.ReplaceAllString(object+" ", " "), c.kind) == "" // what has a name is looked up by it

	return within(c.text, "plan") && unnamed && (len(c.values) > 0 || len(dates(c.object, s.Today)) > 0)
}

// onDay splits a request where its day begins.
var onDay = regexp.MustCompile(`(?i)^\S+ (?:(.+) (?:to|on|in|into) (.+ (?:for|at) \w+)|(.+) (?:to|on|for|in|into|at) (.+))$`)

// acceptSchedule: "put it on Friday's dinner", "add this to my meal plan".
func acceptSchedule(s *scene, c *command) bool {
	e, when := s.lex.schedule, c.text[strings.Index(c.text, c.object)+len(c.object):]
	if e == nil {
		return false
	}
	if at := onDay.FindStringSubmatch(c.text); at != nil && len(dates(at[2]+at[4], s.Today)) > 0 {
		c.object, when = at[1]+at[3], at[2]+at[4] // the whole name, however many words it has
	}
	c.object, c.kind, c.values = cutDates(c.object), e, s.lex.valuesIn(when, e)
	what, where := s.lex.leadingType(c.object), s.lex.typeIn(when)
	otherThing := what != nil && what != e && what != s.lex.planned
	otherPlace := where != nil && where != e
	saysWhen := where == e || len(c.values) > 0 || len(dates(when, s.Today)) > 0
	if otherThing || otherPlace || !saysWhen {
		return false
	}
	c.about = s.find(c.object, s.lex.planned)

	return len(c.about.entities) > 0 || c.about.name != "" && slices.Contains([]string{"put", "plan", "schedule"}, c.lead())
}

// schedule assigns one thing to a day. A draft is saved first, and only with the user's consent.
func (p *planner) schedule() {
	days, r := dates(p.c.text, p.Today), p.c.about
	if len(days) == 0 || len(r.entities) == 0 && r.name == "" {
		return // Understand has asked
	}
	if len(r.entities) == 0 || r.several {
		p.await(p.lex.schedule, p.lex.planned, nil)
		return
	}
	row, thing := p.dayRow(days[0], p.c.values), r.entities[0]
	if thing.Pending && !p.c.agreed {
		p.proposal = thing.Label + " is not saved yet. " + offerWords + "it and put it on " + strings.TrimSpace(days[0].Format("Monday, Jan 2 ")+clean.Value(row[p.lex.Plan.Slot])) + "?"
		return
	}
	if thing.Pending {
		p.saveThese([]*nodes.Entity{thing})
	}
	row[p.lex.link.Name] = thing.Ref
	p.create(p.lex.schedule, []map[string]any{row})
}

// dayRow is a schedule row for a day, with the declaration's defaults.
func (s *scene) dayRow(at time.Time, values []value) map[string]any {
	row := map[string]any{s.lex.day.Name: at.Format(time.DateOnly)}
	maps.Copy(row, s.lex.Plan.Content)
	row[s.lex.Plan.Slot] = s.lex.Plan.DefaultSlot
	for _, v := range values {
		row[v.column.Name] = typed(v.column, v.value, s.Today)
	}

	return row
}

// days drafts a schedule row for each day, or for each part of each day that is named, with one choice after the other.
func (p *planner) days() {
	choices := p.choices()
	if len(choices) == 0 && !p.hasRead(p.lex.planned) {
		p.read(p.lex.planned, withRows)
	}
	if m := unwanted.FindStringSubmatch(p.c.text); m != nil {
		terms := orComma.Split(m[1], -1)
		choices = filtered(choices, func(x *nodes.Entity) bool { return !p.holdsAny(x, terms) })
	}
	st := p.step(vocab.StepGenerate, p.lex.schedule)
	if len(choices) == 0 {
		st.giveUp(notThere, "There is nothing yet to plan with.")
		return
	}
	var creates []args
	for _, at := range p.plannedDays() {
		for i := range max(len(p.c.values), 1) {
			row := p.dayRow(at, p.c.values[i:min(i+1, len(p.c.values))])
			row[p.lex.link.Name] = choices[len(creates)%len(choices)].Ref
			creates = append(creates, args{"type": p.lex.schedule.Type, "content": row})
		}
	}
	st.call(vocab.ToolGenerate, args{"creates": creates}).words = "Here is a plan." + unsaved
}

// plannedDays are the days that the message names, or as many as it asks for.
func (p *planner) plannedDays() []time.Time {
	const mostDays = 14 // fits into one answer
	days := dates(p.c.text, p.Today)
	if len(days) > 0 {
		return days
	}
	n, start := p.lex.Plan.DefaultCount, p.Today.AddDate(0, 0, 1)
	if from, to, ok := period(p.c.text, p.Today); ok {
		start, n = from, int(to.Sub(from).Hours()/24)+1
	}
	for _, w := range words(p.c.text) {
		if several, ok := number(w); ok && several > 1 {
			n = int(several)
			break
		}
	}
	for i := range min(max(n, 1), mostDays) {
		days = append(days, start.AddDate(0, 0, i))
	}

	return days
}

// choices are what a plan may use: nothing excluded or ruled out, drafts last.
func (s *scene) choices() []*nodes.Entity {
	avoided := s.avoided()
	all := filtered(s.all, func(e *nodes.Entity) bool {
		return s.isThing(e, []*domain.Entity{s.lex.planned}) && e.Tier != "excluded" && !s.holdsAny(e, avoided)
	})

	return append(filtered(all, isStored), filtered(all, isPending)...)
}
