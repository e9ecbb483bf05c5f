package offline

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"alfred/domain"
)

// phrase is a way to say something about oneself, or an act that names its type.
type phrase struct {
	pattern *regexp.Regexp
	kind    *domain.Entity
	column  *domain.Column
	value   string
}

func (p *phrase) match(text string) (string, bool) {
	m := p.pattern.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	if p.value != "" {
		return p.value, true
	}
	rest := strings.TrimSpace(m[1])

	return rest, rest != ""
}

// readPhrases are the declared ones, then what plain English says of lists that
// every domain may keep: what one is reminded of has a day and is done or not; what
// one buys is bought or not; what one did is named after its time ("cooked_at").
func (lex *lexicon) readPhrases() []phrase {
	var out []phrase
	for _, fact := range lex.Facts {
		if e := lex.byType(fact.Type); e != nil && e.Column(fact.Column) != nil && len(fact.Words) > 0 {
			pattern := regexp.MustCompile(`(?i)\b(?:` + alternatives(fact.Words) + `)\b\s*(?:to |that )?(.*)$`)
			out = append(out, phrase{pattern: pattern, kind: e, column: e.Column(fact.Column), value: fact.Value})
		}
	}
	for _, e := range lex.domain.Entities {
		done := doneColumn(e)
		day := firstColumn(e, func(c *domain.Column) bool { return c.Kind == domain.KindDate })
		switch {
		case e.Reference || done == nil || labelColumn(e) == nil:
		case day != nil:
			out = append(out, phrase{kind: e, pattern: say(`(?:remind me(?: to| that i (?:have|need) to| about)?|i (?:have|must remember) to(?: remember to)?|don't let me forget(?: to)?|remember to) (.+)`)})
		case boughtColumn(done):
			out = append(out, phrase{kind: e, pattern: say(`(?:(?:i|we) (?:need|should|have|want) to (?:buy|get|pick up)|(?:i|we) need|(?:buy|pick up|get)|(?:i'm|we're|i am|we are) out of|we ran out of) (.+)`)})
		}
		for _, c := range e.Columns {
			if act, ok := strings.CutSuffix(c.Name, "_at"); ok && c.Kind == domain.KindTimestamp && !c.Hidden && !strings.HasPrefix(act, "created") && !strings.HasPrefix(act, "updated") {
				out = append(out, phrase{kind: e, pattern: say(`(?:(?:log|note|record) that )?(?:i|we)(?:'ve| have)? (?:just )?` + regexp.QuoteMeta(act) + ` (.+)`)})
			}
		}
	}
	// "I have to buy milk" goes to what is bought, not to what one has to do.
	slices.SortStableFunc(out, func(a, b phrase) int { return rankPhrase(a) - rankPhrase(b) })

	return out
}

func rankPhrase(p phrase) int {
	switch done := doneColumn(p.kind); {
	case p.column != nil:
		return 0
	case done != nil && boughtColumn(done):
		return 1
	default:
		return 2
	}
}

func boughtColumn(done *domain.Column) bool {
	return strings.Contains(done.Name, "purchased") || strings.Contains(done.Name, "bought")
}

func alternatives(list []string) string {
	quoted := make([]string, 0, len(list))
	for _, w := range list {
		quoted = append(quoted, regexp.QuoteMeta(w))
	}
	sort.SliceStable(quoted, func(i, j int) bool { return len(quoted[i]) > len(quoted[j]) })

	return strings.Join(quoted, "|")
}

// metric units are known without a declaration.
var metric = map[string]string{
	"g": "g", "gram": "g", "kg": "kg", "kilo": "kg", "kilogram": "kg", "ml": "ml", "millilitre": "ml", "milliliter": "ml",
	"l": "l", "litre": "l", "liter": "l", "m": "m", "cm": "cm", "piece": "piece", "hour": "hour", "minute": "minute",
}

// unit is the unit as rows write it.
func (lex *lexicon) unit(w string) (string, bool) {
	w = strings.ToLower(w)
	for _, form := range []string{w, singular(w)} {
		if u, ok := lex.Units[form]; ok {
			return u, true
		}
	}
	for _, u := range lex.Units {
		if u == w {
			return u, true
		}
	}
	u, ok := metric[singular(w)]

	return u, ok
}

// covers are the words an exclusion rules out: the word itself and its family.
func (lex *lexicon) covers(word string) []string {
	out := []string{word}
	for family, members := range lex.Families {
		if slices.Equal(stems(family), stems(word)) {
			out = append(out, members...)
		}
	}

	return out
}

// stock is the type whose rows are amounts of what there is: the first with
// quantities that is no list to tick off.
func (lex *lexicon) stock() *domain.Entity {
	for _, e := range lex.ranked() {
		if quantityColumn(e) != nil && doneColumn(e) == nil && !e.Reference && !lex.isChild(e) {
			return e
		}
	}

	return nil
}

// draftable is the type that the declaration has templates for, or nil.
func (lex *lexicon) draftable() *domain.Entity {
	if lex.Draft == nil {
		return nil
	}

	return lex.byType(lex.Draft.Type)
}

// checklist is the type whose rows are ticked off: what is bought, or what is done.
func (lex *lexicon) checklist(text string) *domain.Entity {
	var first *domain.Entity
	bought := strings.Contains(strings.ToLower(text), "bought") || strings.Contains(strings.ToLower(text), "purchased")
	for _, e := range lex.domain.Entities {
		c := doneColumn(e)
		if c == nil || e.Reference || lex.isChild(e) {
			continue
		}
		if boughtColumn(c) == bought {
			return e
		}
		if first == nil {
			first = e
		}
	}

	return first
}

// addDeclared adds the declaration's further words for values; a word without a
// column tells the type only.
func (lex *lexicon) addDeclared() {
	for _, ov := range lex.Values {
		e := lex.byType(ov.Type)
		if e == nil {
			continue
		}
		for _, w := range ov.Words {
			ws := stems(w)
			if c := e.Column(ov.Column); c != nil && len(ws) > 0 {
				v := fmt.Sprint(ov.Value)
				if ov.Value == nil {
					v = w
				}
				lex.values = append(lex.values, value{words: ws, entity: e, column: c, value: v})
			} else if ov.Column == "" && len(ws) > 0 {
				lex.names = append(lex.names, name{words: ws, entity: e})
			}
		}
	}
}
