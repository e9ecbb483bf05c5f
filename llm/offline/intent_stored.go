package offline

import (
	"regexp"
	"slices"
	"strings"

	"alfred/domain"
)

// storedRules recognize what is asked of a saved thing with parts, by its name:
// to change it, to draft a variation of it, to say what is missing for it; and to
// move what is on the schedule.
func storedRules() []rule {
	return []rule{
		about2(`((?:use|swap in) .+? (?:instead of|rather than|in place of) .+?) (?:in|for|from) (.+)`, buildEdit),
		about2(`((?:swap|replace|substitute|exchange) .+? (?:for|with|by) .+?) (?:in|of|from) (.+)`, buildEdit),
		about2(`((?:use|swap in) .+? (?:instead of|rather than|in place of) .+|(?:swap|replace|substitute|exchange) .+? (?:for|with|by) .+)(it|that)?`, buildEditIt),
		about2(`((?:remove|leave out|take out|add|put in) .+?) (?:from|in|to|into) (.+)`, buildEditKnown),
		about2(`(double|halve|triple) (.+)`, buildVary),
		about2(`(?:scale|make) (.+?) (?:to |up to |down to )?(for \d+.*|for (?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b.*|\d+ [a-z]+)`, buildVaryFor),
		{say(`make (.+)`), buildVaryAs},
		about2(`(?:(?:draft|make|create|write|suggest|give)(?: me)? )?(an? .+?) (?:version|variation|variant) of (.+)`, buildVary),
		about2(`(what|which|anything)\b.*\b(?:need|buy|missing|lack|get)\b.*?\b(?:for|to (?:make|cook|build)) (.+)`, buildMissing),
		about2(`(do|have) (?:i|we) (?:have|got) (?:everything|all|enough|what (?:i|we) need).*?\b(?:for|to (?:make|cook|build)) (.+)`, buildMissing),
		about2(`(can) (?:i|we) (?:make|cook|build) (.+?)(?: with what (?:i|we) have.*| now| tonight| today)?`, buildMissing),
		about2(`(?:move|reschedule|shift|postpone|push) (.+?) (?:to|on|for|until) (.+)`, buildReschedule),
	}
}

// about2 is a rule whose pattern has two groups.
func about2(pattern string, build func(f *facts, c *command, first, second string) bool) rule {
	re := say(pattern)
	return rule{re, func(f *facts, c *command, _ string) bool {
		m := re.FindStringSubmatch(c.text)
		return build(f, c, strings.TrimSpace(m[1]), strings.TrimSpace(m[2]))
	}}
}

// stored finds the saved thing that a phrase means: one that is known, or a name
// to look for. Drafts are changed as drafts.
func (f *facts) stored(phrase string) (r *found, ok bool) {
	all := f.lex.draftables()
	if len(all) == 0 || len(dates(phrase, f.today)) > 0 {
		return nil, false
	}
	if r = f.resolve(phrase, all...); len(r.entities) > 0 {
		return r, !slices.ContainsFunc(r.entities, (*entity).pending)
	}
	if pronouns.MatchString(phrase) || fromDraft.MatchString(phrase) || r.name == "" || len(f.enumsOf(phrase)) > 0 {
		return nil, false
	}
	other := slices.ContainsFunc(f.lex.typesIn(phrase), func(e *domain.Entity) bool { return e != all[0] })
	return r, !other
}

func (f *facts) takeStored(c *command, v verb, phrase, value string) bool {
	if _, ok := f.stored(phrase); !ok {
		return false
	}
	c.verb, c.object, c.value, c.entity = v, phrase, value, f.lex.draftables()[0]
	return true
}

func buildEdit(f *facts, c *command, change, thing string) bool {
	return f.takeStored(c, verbEdit, thing, change)
}

// buildEditIt: "use tofu instead of chicken", said of what was just shown.
func buildEditIt(f *facts, c *command, change, _ string) bool {
	return len(f.pending()) == 0 && len(f.talk) > 0 && f.takeStored(c, verbEdit, "it", change)
}

// buildEditKnown takes only names of known things: "add milk to the list" and
// "remove the milk from the fridge" are about rows.
func buildEditKnown(f *facts, c *command, change, thing string) bool {
	r, ok := f.stored(thing)
	return ok && len(r.entities) > 0 && !pronouns.MatchString(thing) && f.takeStored(c, verbEdit, thing, change)
}

func buildVary(f *facts, c *command, change, thing string) bool {
	return f.takeStored(c, verbVary, thing, change)
}

func buildVaryFor(f *facts, c *command, thing, amount string) bool {
	return f.takeStored(c, verbVary, thing, "for "+strings.TrimPrefix(amount, "for "))
}

// buildVaryAs: "make the pad see ew vegetarian" ends with a change that the
// declaration knows.
func buildVaryAs(f *facts, c *command, rest string) bool {
	if f.lex.vocab.draft == nil {
		return false
	}
	for _, ch := range f.lex.vocab.draft.Changes {
		for _, w := range ch.Words {
			if thing, ok := strings.CutSuffix(strings.ToLower(rest), " "+w); ok {
				return f.takeStored(c, verbVary, rest[:len(thing)], w)
			}
		}
	}
	return false
}

func buildMissing(f *facts, c *command, _, thing string) bool {
	return f.stock() != nil && f.takeStored(c, verbMissing, thing, "")
}

// stock is the type whose rows are amounts of what parts of things need.
func (f *facts) stock() *domain.Entity {
	e := f.lex.vocab.defaultSearch(f.lex)
	if e == nil || f.lex.vocab.draft == nil || f.lex.byTable(f.lex.vocab.draft.Child) == nil {
		return nil
	}
	return e
}

var possessive = regexp.MustCompile(`(?i)'s\b`)

// buildReschedule: "move it to Saturday" changes the day of what is on the schedule.
func buildReschedule(f *facts, c *command, thing, when string) bool {
	e, _, link := f.lex.schedule()
	if e == nil || len(dates(when, f.today)) == 0 {
		return false
	}
	named := f.lex.typesIn(thing)
	slots := f.lex.valuesIn(thing, e)
	known := f.resolve(thing, e, link.FK.Entity)
	switch {
	case len(known.entities) == 0 && len(slots) == 0 && !containsType(named, e) && (len(named) > 0 || len(f.resolve(thing).entities) > 0):
		return false
	case len(named) > 0 && !containsType(named, e) && !containsType(named, link.FK.Entity):
		return false
	}
	c.verb, c.object, c.value, c.entity = verbMove, possessive.ReplaceAllString(thing, ""), when, e
	c.values = f.lex.valuesIn(when, e)
	return true
}
