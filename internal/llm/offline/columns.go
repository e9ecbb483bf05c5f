package offline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"alfred/internal/clean"
	"alfred/internal/domain"
)

func firstColumn(e *domain.Entity, fits func(*domain.Column) bool) *domain.Column {
	return first(filtered(e.Columns, func(c *domain.Column) bool { return !c.Hidden && fits(c) }))
}

func isDay(c *domain.Column) bool { return c.Kind == domain.KindDate }

// doneColumn is the column that says whether a row of a list is done with.
func doneColumn(e *domain.Entity) *domain.Column {
	return firstColumn(e, func(c *domain.Column) bool { return c.Kind == domain.KindBool && doneWord(human(c.Name)) })
}

func doneWord(text string) bool {
	return slices.ContainsFunc(words(text), func(w string) bool {
		return slices.Contains([]string{"done", "completed", "finished", "bought", "purchased"}, w)
	})
}

func named(e *domain.Entity, kind domain.Kind, names ...string) *domain.Column {
	return firstColumn(e, func(c *domain.Column) bool { return c.Kind == kind && slices.Contains(names, c.Name) })
}

func quantityColumn(e *domain.Entity) *domain.Column {
	return named(e, domain.KindNumber, "quantity", "amount", "qty", "count")
}

func unitColumn(e *domain.Entity) *domain.Column { return named(e, domain.KindText, "unit", "units") }

// labelColumn is the text column that names a row; nil if rows have no name.
func labelColumn(e *domain.Entity) *domain.Column {
	if e.Match != nil && e.Column(e.Match.Column) != nil {
		return e.Column(e.Match.Column)
	}
	if declared := e.Label.Columns(); len(declared) == 1 && len(e.Label.Links()) == 0 {
		if c := e.Column(declared[0]); c != nil && c.Kind == domain.KindText && len(c.Enum) == 0 {
			return c
		}
	}
	if c := named(e, domain.KindText, "name", "title", "label", "subject"); c != nil {
		return c
	}

	return firstColumn(e, func(c *domain.Column) bool {
		return c.Kind == domain.KindText && !c.Nullable && !c.HasDefault && len(c.Enum) == 0
	})
}

// columnIn finds the column of e that a text names, by its name or by a word with the same beginning ("expires" for
// expiry_date).
func columnIn(text string, e *domain.Entity) *domain.Column {
	if c := firstColumn(e, func(c *domain.Column) bool { return within(text, human(c.Name)) }); c != nil {
		return c
	}
	const root = 5 // words with this many leading letters in common are the same word

	return firstColumn(e, func(c *domain.Column) bool {
		return slices.ContainsFunc(strings.Split(c.Name, "_"), func(part string) bool {
			return len(part) >= root && slices.ContainsFunc(words(text), func(w string) bool { return strings.HasPrefix(w, part[:root]) })
		})
	})
}

// typed converts a word to a column's value.
func typed(c *domain.Column, text string, today time.Time) any {
	text = strings.TrimSpace(text)
	switch c.Kind {
	case domain.KindNumber:
		if n, ok := number(append(strings.Fields(text), "")[0]); ok {
			return n
		}
	case domain.KindBool:
		if b, err := strconv.ParseBool(strings.ToLower(text)); err == nil {
			return b
		}

		return !strings.HasPrefix(strings.ToLower(text), "no")
	case domain.KindDate, domain.KindTimestamp:
		if days := dates(text, today); len(days) > 0 {
			return days[0].Format(dayFormat)
		}
	case domain.KindArray:
		return splitList(text)
	default:
	}

	return text
}

// newRows turns what a user adds into rows of e.
func (s *scene) newRows(c *command, e *domain.Entity) []map[string]any {
	items := []string{c.object}
	if quantityColumn(e) != nil {
		items = splitList(c.object)
	}
	var rows []map[string]any
	for _, item := range items {
		row := s.newRow(item, e)
		for _, v := range c.values {
			row[v.column.Name] = typed(v.column, v.value, s.Today)
		}
		rows = append(rows, s.defaults(e, row))
	}

	return rows
}

// defaults adds what the declaration says of every new row.
func (s *scene) defaults(e *domain.Entity, row map[string]any) map[string]any {
	for column, v := range s.lex.Defaults[e.Type] {
		if _, ok := row[column]; !ok {
			row[column] = v
		}
	}

	return row
}

var (
	placeTail = regexp.MustCompile(`(?i)^(.*?)\s+(?:to|in|into|on|at)\s+(?:the |my |our )?([\pL -]+)$`)
	dayTail   = regexp.MustCompile(`(?i)[\s(,]*\b(?:expir\w*|due|best before|use by|until|by|on|at)[\s),]*$`)
)

// newRow extracts the day, the place and the amount from an item; the rest is its name.
func (s *scene) newRow(item string, e *domain.Entity) map[string]any {
	row := map[string]any{}
	day := firstColumn(e, func(c *domain.Column) bool { return c.Kind == domain.KindDate || c.Kind == domain.KindTimestamp })
	if days := dates(item, s.Today); len(days) > 0 && day != nil {
		row[day.Name] = days[0].Format(dayFormat)
		item = strings.TrimSpace(dayTail.ReplaceAllString(cutDates(item), ""))
	}
	if m := placeTail.FindStringSubmatch(item); m != nil {
		if vs := s.lex.valuesIn(m[2], e); len(vs) > 0 {
			row[vs[0].column.Name], item = typed(vs[0].column, vs[0].value, s.Today), m[1]
		}
	}
	label := labelColumn(e)
	if quantityColumn(e) == nil {
		row[label.Name] = capitalize(trimName(item))
		return row
	}
	if item = s.takeAmount(item, e, row); item != "" {
		row[label.Name] = trimName(item)
	}

	return row
}

var (
	amountLead = regexp.MustCompile(`(?i)^(\d+(?:[.,/]\d+)?|½|¼|¾|half|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|dozen)(\s+(?:a\s+)?dozen)?(?:\s*x\b)?\s*(.*)$`)
	articles   = regexp.MustCompile(`(?i)^(?:(?:the|my|our|some|more|another|new)\s+)+`)
)

// takeAmount extracts "12 eggs", "2 litres of milk", "500g flour" or "a dozen eggs" into the row and returns the name.
func (s *scene) takeAmount(item string, e *domain.Entity, row map[string]any) string {
	item = articles.ReplaceAllString(strings.TrimSpace(item), "")
	count, unit, rest := "", "", item
	if m := amountLead.FindStringSubmatch(item); m != nil && (m[3] == "" || item[len(m[1]):] != m[3] || digit(m[1])) {
		count, rest = m[1], m[3]
		first, after, _ := strings.Cut(rest, " ")
		if u, ok := s.lex.unit(first); ok {
			unit, rest = u, strings.TrimPrefix(strings.TrimSpace(after), "of ")
		}
		if m[2] != "" {
			n, _ := number(count)
			count = clean.Value(12 * n)
		}
	}
	n, ok := number(count)
	if !ok {
		return item
	}
	row[quantityColumn(e).Name] = n
	if u := unitColumn(e); u != nil && unit != "" {
		row[u.Name] = unit
	}

	return rest
}

// digit distinguishes "500g" from "another": digits need no space after them.
func digit(w string) bool { return w[0] >= '0' && w[0] <= '9' }

// renaming begins messages whose new value can be a name; nothing is renamed by setting, marking or putting it.
var renaming = regexp.MustCompile(`(?i)^(?:rename|change|correct)\b`)

// changes returns the columns that a change sets, from its words.
func (s *scene) changes(c *command, e *domain.Entity) map[string]any {
	set, label := map[string]any{}, labelColumn(e)
	if c.column != nil {
		set[c.column.Name] = typed(c.column, c.value, s.Today)
		return set
	}
	for _, v := range s.lex.valuesIn(c.value, e) {
		set[v.column.Name] = typed(v.column, v.value, s.Today)
	}
	if yes := firstColumn(e, func(col *domain.Column) bool { return col.Kind == domain.KindBool && within(c.value, human(col.Name)) }); yes != nil {
		set[yes.Name] = !strings.HasPrefix(strings.ToLower(c.value), "no") // paid, not paid
	}
	if len(set) > 0 {
		return set
	}
	before, _, _ := strings.Cut(c.text, c.value)
	col, day := columnIn(s.lex.cutTypes(before, e), e), firstColumn(e, isDay)
	if days := dates(c.value, s.Today); len(days) > 0 && day != nil && (col == nil || col.Kind == domain.KindDate) {
		set[day.Name] = days[0].Format(dayFormat)
	} else if col != nil && !col.Generated && col.FK == nil {
		set[col.Name] = typed(col, c.value, s.Today)
	} else if quantityColumn(e) == nil || s.takeAmount(c.value, e, set) != "" {
		clear(set)
		if label != nil && renaming.MatchString(c.text) {
			set[label.Name] = trimName(c.value)
		}
	}

	return set
}
