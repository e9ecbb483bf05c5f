package offline

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"alfred/internal/domain"
)

var (
	bounds = map[string]string{
		"under": "<", "below": "<", "less than": "<", "fewer than": "<", "at most": "<=", "up to": "<=", "within": "<=",
		"over": ">", "above": ">", "more than": ">", "longer than": ">", "at least": ">=",
	}
	boundWords = map[string]string{"<": " under", "<=": " at most", ">": " over", ">=": " at least"}

	bounded = regexp.MustCompile(`(?i)(?:\b(?:that |which )?(?:takes?|taking|costs?|costing) )?\b(` + alternatives(slices.Collect(maps.Keys(bounds))) +
		`) ([$€£] ?)?([\d.,/]+|[a-z]+)\b ?(\pL+)?(?: of\b)?`)
	minutes = map[string]float64{"minute": 1, "min": 1, "hour": 60, "hr": 60, "day": 24 * 60, "week": 7 * 24 * 60}
	anHour  = strings.NewReplacer("half an hour", "30 minutes", "an hour", "1 hour")

	superlative = regexp.MustCompile(`(?i)\b(?:(quickest|fastest|shortest|slowest|longest)|(newest|latest|most recent|oldest)|(cheapest|least expensive|most expensive)|` +
		`(?:most|highest|largest|fewest|least|lowest|smallest) (\pL{3,}))\b`)
	highest = regexp.MustCompile(`(?i)^(?:slowest|longest|newest|latest|most|highest|largest)`)
)

// selection is which rows a text means.
type selection struct {
	where []filter
	order *domain.Column // of the superlative
	desc  bool           // highest first
	unfit bool           // no column says what is compared
	name  string         // the words that no condition expresses
}

var (
	fillers = stems(`a about all already an and any anything are at be can current currently detail do does entire every everything for from full get got have i i'm in inside
		is item left list me my now of off on one our please right saved see some still stored that the there thing up us we what which with you your coming whole complete to so far
		called contain find like look made named need should take use using would planned scheduled next
		am eating having cooking`)
	relativeWeek = regexp.MustCompile(`(?i)\b(?:this|next|last) (?:week|month|year)\b|\bsoon$`)
)

func (by *selection) compares() bool { return by.unfit || len(by.where) > 0 }

// selection reads the values, days and comparisons that an object names.
func (s *scene) selection(c *command) selection {
	if c.kind == nil {
		return selection{name: s.restOf(c.object)}
	}
	by := s.compare(c.kind, c.object)
	days := s.dayFilters(c.kind, c.object)
	writes, vague := c.is(verbChange, verbRemove), soon.MatchString(c.object)
	by.unfit = by.unfit || vague && (writes || len(days) == 0) || len(days) == 0 && writes && (datePhrases.MatchString(c.object) || relativeWeek.MatchString(c.object))
	by.where = slices.Concat(s.valueFilters(s.lex.valuesIn(c.object, c.kind)), days, by.where)
	by.name = s.restOf(by.name, append([]*domain.Entity{c.kind}, c.also...)...)
	if done := doneColumn(c.kind); done != nil && doneWord.MatchString(by.name) && !within(by.name, "not") {
		by.where = append(by.where, filter{done.Name, "=", true})
		by.name = strings.TrimSpace(doneWord.ReplaceAllString(by.name, ""))
	}

	return by
}

// restOf is the rest of a text without types, values, days and fillers.
func (s *scene) restOf(text string, kinds ...*domain.Entity) string {
	text = relativeWeek.ReplaceAllString(cutDates(text), " ")
	for _, e := range kinds {
		text = s.lex.cutTypes(text, e)
		for _, v := range s.lex.valuesIn(text, e) {
			text = cutWords(text, v.words)
		}
		if dayColumn(e) != nil {
			text = cutWords(text, []string{"expired"})
		}
	}

	telling := strings.Fields(text)
	tells := func(w string) bool {
		return indexWords(fillers, stems(w)) < 0 && !slices.ContainsFunc(kinds, func(e *domain.Entity) bool { return namesDay(w, e) })
	}
	first := slices.IndexFunc(telling, tells)
	if first < 0 {
		return ""
	}
	last := len(telling) // words within a name are its own: Pad See Ew
	for !tells(telling[last-1]) {
		last--
	}

	return trimName(strings.Join(telling[first:last], " "))
}

// namesDay reports whether a text names the day that rows of a type have: "expires" the expiry date, "due" the due date.
func namesDay(text string, e *domain.Entity) bool {
	return dayColumn(e) != nil && (columnIn(text, e) == dayColumn(e) || within(text, strings.Fields(human(dayColumn(e).Name))[0]))
}

// datedBy is the type whose day a text names, and says when: "what expires this week".
func (s *scene) datedBy(text string) *domain.Entity {
	if _, _, when := period(text, s.Today); !when {
		return nil
	}

	return first(filtered(s.lex.ranked, func(e *domain.Entity) bool { return namesDay(text, e) }))
}

// throughout matches what makes two days the ends of a time.
var throughout = regexp.MustCompile(`(?i)\b(?:between|from|to|until|till|through)\b|\s[-–]\s`)

func (s *scene) dayFilters(e *domain.Entity, text string) []filter {
	day, days := dayColumn(e), dates(text, s.Today)
	from, to, ok := period(text, s.Today)
	switch {
	case day != nil && within(text, "expired"):
		return []filter{{day.Name, "<", s.Today.Format(time.DateOnly)}}
	case day == nil || !ok:
		return nil
	case len(days) > 1 && !throughout.MatchString(text): // Friday and Sunday
		return []filter{{day.Name, "in", mapped(days, func(at time.Time) string { return at.Format(time.DateOnly) })}}
	}

	return []filter{{day.Name, ">=", from.Format(time.DateOnly)}, {day.Name, "<=", to.Format(time.DateOnly)}}
}

// valueFilters combines several values of one column into one "in".
func (s *scene) valueFilters(values []value) []filter {
	var out []filter
	for len(values) > 0 {
		c := values[0].column
		same := filtered(values, func(v value) bool { return v.column == c })
		f := filter{c.Name, "=", typed(c, values[0].value, s.Today)}
		if len(same) > 1 {
			f.Op, f.Value = "in", mapped(same, func(v value) any { return typed(c, v.value, s.Today) })
		}
		if c.Kind == domain.KindArray {
			f.Op, f.Value = "contains", mapped(same, func(v value) string { return v.value })
		}
		out, values = append(out, f), filtered(values, func(v value) bool { return v.column != c })
	}

	return out
}

// compare reads "under 30 minutes", "at least 2 helpers", "more than 2 kg of flour", "quickest", "the most servings".
func (s *scene) compare(e *domain.Entity, text string) selection {
	by := selection{name: anHour.Replace(text)}
	if e == nil {
		return by
	}
	for _, m := range bounded.FindAllStringSubmatch(by.name, -1) {
		if n, ok := number(m[3]); ok && m[3] != "a" && m[3] != "an" {
			s.addBound(&by, e, m, n)
		}
	}
	if m := superlative.FindStringSubmatch(by.name); m != nil {
		by.name, by.desc = strings.Replace(by.name, m[0], " ", 1), highest.MatchString(m[0])
		switch {
		case m[1] != "":
			by.order = minutesColumn(e, by.name)
		case m[2] != "":
			by.order = columnCalled(e, domain.KindTimestamp, "created_at")
		case m[3] != "":
			by.order = priceColumn(e)
		default:
			by.order = numberColumn(e, m[4])
		}
		by.addCondition(by.order, "is_not_null", nil)
	}

	return by
}

// addBound reads one comparison with a number. It is about time, a price, the column named, or else the quantity of a thing.
func (s *scene) addBound(by *selection, e *domain.Entity, m []string, n float64) {
	unit, column, kept := domain.Singular(strings.ToLower(m[4])), numberColumn(e, m[4]), ""
	stored, isUnit := s.lex.unit(unit)
	if column == nil && !isUnit && minutes[unit] == 0 {
		kept = m[4] // more than 2 eggs
	}
	by.name = strings.Replace(by.name, m[0], " "+kept+" ", 1)
	switch {
	case minutes[unit] > 0:
		column, n = minutesColumn(e, by.name), n*minutes[unit]
	case m[2] != "":
		column = priceColumn(e)
	case column == nil:
		column = cmp.Or(numberColumn(e, by.name), quantityColumn(e), priceColumn(e))
	}
	by.addCondition(column, bounds[strings.ToLower(m[1])], n)
	if u := unitColumn(e); isUnit && u != nil && column == quantityColumn(e) {
		by.where = append(by.where, filter{u.Name, "=", stored})
	}
}

// addCondition adds a condition on a column, whose name is no longer taken for the rows' name.
func (by *selection) addCondition(c *domain.Column, op string, value any) {
	if c == nil {
		by.unfit = true
		return
	}
	by.where = append(by.where, filter{c.Name, op, value})
	for _, part := range stems(human(strings.TrimSuffix(c.Name, "_minutes"))) {
		by.name = cutWords(by.name, []string{part})
	}
}
