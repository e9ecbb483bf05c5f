package offline

import (
	"fmt"
	"regexp"
	"sort"
	"strings"

	"alfred/domain"
)

// vocabulary is what the declaration's offline section adds to the catalog. All
// of it may be missing: then the model knows types and columns only.
type vocabulary struct {
	units    map[string]string
	defaults map[string]map[string]any
	families map[string][]string
	draft    *domain.OfflineDraft
	plan     *domain.OfflinePlan
	values   []domain.OfflineValue
	phrases  []phrase
}

// phrase is a way to say something about oneself, or an act that names its type.
type phrase struct {
	pattern *regexp.Regexp
	entity  *domain.Entity
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

func readVocabulary(d *domain.Domain) *vocabulary {
	v := &vocabulary{units: map[string]string{}}
	if o := d.Offline; o != nil {
		v.units, v.defaults, v.families = o.Units, o.Defaults, o.Families
		v.draft, v.plan, v.values = o.Draft, o.Plan, o.Values
		for _, fact := range o.Facts {
			v.addFact(d, fact)
		}
	}
	v.addReminders(d)
	return v
}

func (v *vocabulary) addFact(d *domain.Domain, fact domain.OfflineFact) {
	e := entityOf(d, fact.Type)
	if e == nil || e.Column(fact.Column) == nil || len(fact.Words) == 0 {
		return
	}
	v.phrases = append(v.phrases, phrase{
		pattern: regexp.MustCompile(`(?i)\b(?:` + alternatives(fact.Words) + `)\b\s*(?:to |that )?(.*)$`),
		entity:  e, column: e.Column(fact.Column), value: fact.Value,
	})
}

// addReminders lets plain English reach the lists that a domain keeps: what one
// is reminded of has a day and is done or not; what one buys is bought or not;
// what one did is named after its time ("cooked_at").
func (v *vocabulary) addReminders(d *domain.Domain) {
	for _, e := range d.Entities {
		done := doneColumn(e)
		day := firstColumn(e, func(c *domain.Column) bool { return c.Kind == domain.KindDate })
		switch {
		case e.Reference:
		case done != nil && day != nil && labelColumn(e) != nil:
			v.addPhrase(e, `(?:remind me(?: to| that i (?:have|need) to| about)?|i (?:have|need|must remember) to(?: remember to)?|don't let me forget(?: to)?|remember to) (.+)`)
		case done != nil && (strings.Contains(done.Name, "purchased") || strings.Contains(done.Name, "bought")):
			v.addPhrase(e, `(?:(?:i|we) (?:need|should|have|want) to (?:buy|get|pick up)|(?:i|we) need|(?:buy|pick up|get)|(?:i'm|we're|i am|we are) out of|we ran out of) (.+)`)
		}
		for _, c := range e.Columns {
			if act, ok := strings.CutSuffix(c.Name, "_at"); ok && c.Kind == domain.KindTimestamp && !c.Hidden && !strings.HasPrefix(act, "created") && !strings.HasPrefix(act, "updated") {
				v.addPhrase(e, `(?:(?:log|note|record) that )?(?:i|we)(?:'ve| have)? (?:just )?`+regexp.QuoteMeta(act)+` (.+)`)
			}
		}
	}
	sort.SliceStable(v.phrases, func(i, j int) bool {
		return len(v.phrases[i].pattern.String()) > len(v.phrases[j].pattern.String()) && v.phrases[i].column != nil && v.phrases[j].column == nil
	})
}

func (v *vocabulary) addPhrase(e *domain.Entity, pattern string) {
	v.phrases = append(v.phrases, phrase{pattern: say(pattern), entity: e})
}

func alternatives(list []string) string {
	quoted := make([]string, 0, len(list))
	for _, w := range list {
		quoted = append(quoted, regexp.QuoteMeta(w))
	}
	sort.SliceStable(quoted, func(i, j int) bool { return len(quoted[i]) > len(quoted[j]) })
	return strings.Join(quoted, "|")
}

func entityOf(d *domain.Domain, kind string) *domain.Entity {
	for _, e := range d.Entities {
		if e.Type == kind || e.Table == kind {
			return e
		}
	}
	return nil
}

// unit is the unit as rows write it. Metric units are known without a
// declaration.
func (v *vocabulary) unit(w string) (string, bool) {
	w = strings.ToLower(w)
	if u, ok := v.units[w]; ok {
		return u, true
	}
	if u, ok := v.units[singular(w)]; ok {
		return u, true
	}
	for _, u := range v.units {
		if u == w {
			return u, true
		}
	}
	u, ok := metric[singular(w)]
	return u, ok
}

var metric = map[string]string{
	"g": "g", "gram": "g", "kg": "kg", "kilo": "kg", "kilogram": "kg", "ml": "ml", "millilitre": "ml", "milliliter": "ml",
	"l": "l", "litre": "l", "liter": "l", "m": "m", "cm": "cm", "piece": "piece", "hour": "hour", "minute": "minute",
}

// fill sets the defaults of a new row.
func (v *vocabulary) fill(e *domain.Entity, row map[string]any) {
	for column, value := range v.defaults[e.Type] {
		if _, ok := row[column]; !ok {
			row[column] = value
		}
	}
}

// covers are the words an exclusion rules out: the word itself and its family.
func (v *vocabulary) covers(word string) []string {
	out := []string{word}
	for family, members := range v.families {
		if strings.Join(stems(family), " ") == strings.Join(stems(word), " ") {
			out = append(out, members...)
		}
	}
	return out
}

// defaultSearch is the type searched for "do I have milk": the first whose rows
// are amounts of something and not a list to tick off.
func (v *vocabulary) defaultSearch(lex *lexicon) *domain.Entity {
	for _, e := range lex.ranked() {
		if quantityColumn(e) != nil && doneColumn(e) == nil && !e.Reference && !lex.isChild(e) {
			return e
		}
	}
	return nil
}

// addDeclared adds the declaration's further words for values; a word without
// column tells the type only.
func (lex *lexicon) addDeclared() {
	for _, ov := range lex.vocab.values {
		e := lex.byType(ov.Type)
		if e == nil {
			continue
		}
		for _, w := range ov.Words {
			ws := stems(w)
			if len(ws) == 0 {
				continue
			}
			if c := e.Column(ov.Column); c != nil {
				lex.values = append(lex.values, value{words: ws, entity: e, column: c, value: fmt.Sprint(ov.Value)})
			} else if ov.Column == "" {
				lex.names = append(lex.names, name{words: ws, entity: e})
			}
		}
	}
}

func (lex *lexicon) draftable(e *domain.Entity) bool {
	return lex.vocab.draft != nil && lex.vocab.draft.Type == e.Type
}

func (lex *lexicon) draftables() []*domain.Entity {
	for _, e := range lex.domain.Entities {
		if lex.draftable(e) {
			return []*domain.Entity{e}
		}
	}
	return nil
}

// knowsDraft reports whether the drafting tables have a word of the text.
func (lex *lexicon) knowsDraft(text string) bool {
	if lex.vocab.draft == nil {
		return false
	}
	ws := stems(text)
	for _, t := range lex.vocab.draft.Templates {
		for _, w := range t.Words {
			if containsWords(ws, stems(w)) {
				return true
			}
		}
	}
	for _, s := range lex.vocab.draft.Slots {
		for _, w := range s.Words {
			if containsWords(ws, stems(w)) {
				return true
			}
		}
	}
	return false
}

// checklist is the type whose rows are ticked off: the one whose column the
// text's word fits, else the first with a day.
func (lex *lexicon) checklist(text string) *domain.Entity {
	var first *domain.Entity
	bought := strings.Contains(strings.ToLower(text), "bought") || strings.Contains(strings.ToLower(text), "purchased")
	for _, e := range lex.domain.Entities {
		c := doneColumn(e)
		if c == nil || e.Reference || lex.isChild(e) {
			continue
		}
		if strings.Contains(c.Name, "purchased") == bought {
			return e
		}
		if first == nil {
			first = e
		}
	}
	return first
}
