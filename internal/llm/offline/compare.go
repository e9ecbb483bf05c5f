package offline

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

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

// comparing is what the comparisons and the superlative of a text ask for.
type comparing struct {
	where []filter
	order *domain.Column // of the superlative
	desc  bool           // highest first
	unfit bool           // no column says what is compared
	rest  string         // the text's other words
}

func (by *comparing) any() bool { return by.unfit || len(by.where) > 0 }

// compare reads "under 30 minutes", "at least 2 helpers", "more than 2 kg of flour", "quickest", "the most servings".
func (s *scene) compare(e *domain.Entity, text string) comparing {
	by := comparing{rest: anHour.Replace(text)}
	if e == nil {
		return by
	}
	for _, m := range bounded.FindAllStringSubmatch(by.rest, -1) {
		if n, ok := number(m[3]); ok && m[3] != "a" && m[3] != "an" {
			s.bound(&by, e, m, n)
		}
	}
	if m := superlative.FindStringSubmatch(by.rest); m != nil {
		by.rest, by.desc = strings.Replace(by.rest, m[0], " ", 1), highest.MatchString(m[0])
		switch {
		case m[1] != "":
			by.order = minutesColumn(e, by.rest)
		case m[2] != "":
			by.order = named(e, domain.KindTimestamp, "created_at")
		case m[3] != "":
			by.order = priceColumn(e)
		default:
			by.order = numberColumn(e, m[4])
		}
		by.about(by.order, "is_not_null", nil)
	}

	return by
}

// bound reads one comparison with a number. It is about time, a price, the column named, or else the quantity of a thing.
func (s *scene) bound(by *comparing, e *domain.Entity, m []string, n float64) {
	unit, column, kept := domain.Singular(strings.ToLower(m[4])), numberColumn(e, m[4]), ""
	stored, isUnit := s.lex.unit(unit)
	if column == nil && !isUnit && minutes[unit] == 0 {
		kept = m[4] // more than 2 eggs
	}
	by.rest = strings.Replace(by.rest, m[0], " "+kept+" ", 1)
	switch {
	case minutes[unit] > 0:
		column, n = minutesColumn(e, by.rest), n*minutes[unit]
	case m[2] != "":
		column = priceColumn(e)
	case column == nil:
		column = cmp.Or(numberColumn(e, by.rest), quantityColumn(e))
	}
	by.about(column, bounds[strings.ToLower(m[1])], n)
	if u := unitColumn(e); isUnit && u != nil && column == quantityColumn(e) {
		by.where = append(by.where, filter{u.Name, "=", stored})
	}
}

// about adds a condition on a column, whose name is then no part of the rest.
func (by *comparing) about(c *domain.Column, op string, value any) {
	if c == nil {
		by.unfit = true
		return
	}
	by.where = append(by.where, filter{c.Name, op, value})
	for _, part := range stems(human(strings.TrimSuffix(c.Name, "_minutes"))) {
		by.rest = cutWords(by.rest, []string{part})
	}
}

// withCompared adds conditions and an order to a command that reads or counts rows, or writes a set of them. A command
// whose words no column fits says so: a condition is never left out.
func (s *scene) withCompared(c *command) {
	set := (c.verb == verbRemove || c.verb == verbChange) && s.isSet(c)
	if set || slices.Contains([]verb{verbList, verbSearch, verbCount}, c.verb) {
		c.by = s.compare(c.kind, c.text)
	}
	if c.by.unfit || c.by.order != nil && (set || c.verb == verbCount) {
		c.verb = verbCompare
	}
}

// numberColumn is the numeric column that a text names.
func numberColumn(e *domain.Entity, text string) *domain.Column {
	if c := columnIn(text, e); c != nil && c.Kind == domain.KindNumber {
		return c
	}

	return nil
}

func priceColumn(e *domain.Entity) *domain.Column {
	return named(e, domain.KindNumber, "price", "cost")
}

// minutesColumn is how long something takes: the column that the text names, else the computed total, else the only one.
func minutesColumn(e *domain.Entity, text string) *domain.Column {
	all := filtered(e.Columns, func(c *domain.Column) bool {
		return !c.Hidden && c.Kind == domain.KindNumber && strings.HasSuffix(c.Name, "_minutes")
	})
	for _, fits := range []func(*domain.Column) bool{
		func(c *domain.Column) bool { return within(text, human(strings.TrimSuffix(c.Name, "_minutes"))) },
		func(c *domain.Column) bool { return c.Expr != "" },
		func(*domain.Column) bool { return len(all) == 1 },
	} {
		if i := slices.IndexFunc(all, fits); i >= 0 {
			return all[i]
		}
	}

	return nil
}
