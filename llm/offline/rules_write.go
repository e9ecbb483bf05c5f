package offline

import (
	"regexp"
	"slices"
	"strings"

	"alfred/domain"
)

// schedule: "put it on Friday's dinner", "add this to my meal plan".
func schedule(s *scene, c *command, m []string) bool {
	e, _, link := s.lex.schedule()
	if e == nil {
		return false
	}
	object := cutDates(m[1])
	when := strings.TrimSpace(c.text[strings.Index(c.text, m[1])+len(m[1]):])
	onPlan := len(dates(when, s.Today)) > 0 || s.lex.typeIn(when) == e || len(s.lex.valuesIn(when, e)) > 0
	other := s.leadingType(trimName(object))
	if !onPlan || other != nil && other != e && other != link.FK.Entity {
		return false
	}
	if t := s.lex.typeIn(when); t != nil && t != e {
		return false
	}
	r := s.find(object, link.FK.Entity)
	if len(r.entities) == 0 && (r.name == "" || !strings.HasPrefix(strings.ToLower(c.text), "put") && !strings.HasPrefix(strings.ToLower(c.text), "plan") && !strings.HasPrefix(strings.ToLower(c.text), "schedule")) {
		return false
	}
	c.verb, c.object, c.kind, c.values = verbSchedule, object, e, s.lex.valuesIn(when, e)

	return true
}

// move: "move it to Saturday" changes the day of what is on the schedule.
func move(s *scene, c *command, m []string) bool {
	e, _, _ := s.lex.schedule()
	if e == nil || len(dates(m[2], s.Today)) == 0 {
		return false
	}
	if t := s.leadingType(m[1]); t != nil && t != e && !s.lex.isDraftable(t) {
		return false
	}
	c.verb, c.object, c.value, c.kind, c.values = verbMove, m[1], m[2], e, s.lex.valuesIn(m[2], e)

	return true
}

func (lex *lexicon) isDraftable(e *domain.Entity) bool { return lex.draftable() == e }

var (
	undone   = regexp.MustCompile(`(?i)\b(?:not (?:done|bought|purchased|completed)|undone|open)$`)
	doneWord = regexp.MustCompile(`(?i)\b(?:done|completed?|finished|bought|purchased|checked|ticked)$`)
)

// done: "mark the milk as bought", "tick off the first task".
func done(s *scene, c *command, m []string) bool {
	r := s.find(m[1])
	c.kind = s.lex.typeIn(m[1])
	if c.kind == nil && len(r.entities) > 0 {
		c.kind = s.lex.byType(r.entities[0].Type)
	}
	if len(m) > 2 && !doneWord.MatchString(m[2]) && !undone.MatchString(m[2]) {
		return false
	}
	if c.kind != nil && len(s.lex.valuesIn(last(m[:len(m)]), c.kind)) > 0 && len(m) > 2 && doneColumn(c.kind) == nil {
		return false // a value of a closed list: change takes it
	}
	if c.kind == nil || doneColumn(c.kind) == nil || s.lex.isChild(c.kind) {
		c.kind = s.lex.checklist(c.text)
	}
	if c.kind == nil || doneColumn(c.kind) == nil {
		return false
	}
	c.verb, c.object, c.column, c.value = verbChange, m[1], doneColumn(c.kind), "true"
	if undone.MatchString(c.text) {
		c.value = "false"
	}

	return true
}

func rename(s *scene, c *command, m []string) bool {
	c.verb, c.object, c.value, c.kind = verbChange, m[1], m[2], s.lex.typeIn(m[1])
	c.column = &domain.Column{} // the label, whatever the type calls it

	return true
}

// lastCut splits at the first match.
func lastCut(text string, sep *regexp.Regexp) (before, after string) {
	loc := sep.FindStringIndex(text)
	if loc == nil {
		return text, ""
	}

	return text[:loc[0]], strings.TrimSpace(text[loc[1]:])
}

var (
	changeSeparator = regexp.MustCompile(`(?i) (?:to|as|=|into|in|on) `)
	partOf          = regexp.MustCompile(`(?i)^(?:the )?(.+?) (?:of|for|on) (.+)$`)
)

// change: "set the milk to 2 litres", "move the butter to the freezer".
func change(s *scene, c *command, m []string) bool {
	c.verb, c.object, c.value = verbChange, m[1], m[2]
	if of := partOf.FindStringSubmatch(m[1]); of != nil {
		c.object = of[2]
	}
	c.kind = s.lex.typeIn(c.object)
	r := s.find(c.object, c.kind)
	holder, vs := s.lex.holderOf(c.value)
	verb := strings.ToLower(strings.Fields(c.text)[0])
	switch {
	case verb == "put" && len(r.entities) == 0, verb == "make" && len(r.entities) == 0, verb == "move" && len(vs) == 0:
		return false
	case c.kind == nil && len(r.entities) > 0:
		c.kind = s.lex.byType(r.entities[0].Type)
	case c.kind == nil && len(vs) > 0:
		c.kind = holder
	case c.kind == nil && verb == "mark":
		c.kind = holder
	}

	return true
}

var removeFrom = regexp.MustCompile(`(?i)^(.+?) (?:from|off) ((?:the |my |our )?.+)$`)

func remove(s *scene, c *command, m []string) bool {
	c.verb, c.object = verbRemove, m[1]
	c.kind, c.values = s.lex.typeIn(m[1]), nil
	if from := removeFrom.FindStringSubmatch(m[1]); from != nil && s.namesPlace(from[2]) && !strings.HasPrefix(strings.ToLower(from[1]), "everything") {
		c.object = from[1]
		if c.kind = s.lex.typeIn(from[2]); c.kind == nil {
			c.kind, _ = s.lex.holderOf(from[2])
		}

		return true
	}
	if c.kind == nil {
		c.kind, c.values = s.lex.holderOf(m[1])
	} else {
		c.values = s.filterValues(m[1], c.kind)
	}
	if len(c.values) > 0 && !s.isSet(c) && len(s.find(m[1]).entities) > 0 {
		c.values = nil
	}

	return true
}

// namesPlace reports whether a destination is a type or a value of one.
func (s *scene) namesPlace(dest string) bool {
	_, vs := s.lex.holderOf(dest)

	return s.lex.typeIn(dest) != nil || len(vs) > 0
}

var (
	addTarget = regexp.MustCompile(`(?i)^(.*?)\s+(?:to|in|into|on|onto|under|for)\s+((?:(?:the|my|our|a)\s+)?[^,]*)$`)
	namedLead = regexp.MustCompile(`(?i)^(?:to|called|named|for|about|that says)\s+`)
)

// add splits "12 eggs to the fridge" into what and where.
func add(s *scene, c *command, m []string) bool {
	c.verb, c.object = verbAdd, m[1]
	if to := addTarget.FindStringSubmatch(m[1]); to != nil && s.namesPlace(to[2]) {
		c.object = to[1]
		if c.kind = s.lex.typeIn(to[2]); c.kind == nil {
			c.kind, c.values = s.lex.holderOf(to[2])
		} else {
			c.values = s.lex.valuesIn(to[2], c.kind)
		}

		return true
	}
	if e := s.leadingType(m[1]); e != nil {
		c.kind = e
		c.object = strings.TrimSpace(namedLead.ReplaceAllString(strings.TrimLeft(s.lex.cutTypes(trimName(m[1]), e), " :,-"), ""))
	}

	return true // without a type the user is asked where it goes
}

// leadingType is the type that a phrase begins with: "a task to buy milk".
func (s *scene) leadingType(rest string) *domain.Entity {
	ws := stems(trimName(rest))
	for _, n := range s.lex.names {
		if !n.entity.Reference && len(ws) >= len(n.words) && slices.Equal(ws[:len(n.words)], n.words) {
			return n.entity
		}
	}

	return nil
}
