package offline

import (
	"regexp"
	"strings"
	"time"

	"alfred/internal/domain"
)

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

var dayTail = regexp.MustCompile(`(?i)[\s(,]*\b(?:expir\w*|due|best before|use by|until|by|on|at)[\s),]*$`)

// newRow extracts the day and the amount from an item; the rest is its name.
func (s *scene) newRow(item string, e *domain.Entity) map[string]any {
	row, label := map[string]any{}, labelColumn(e).Name
	day := firstColumn(e, func(c *domain.Column) bool { return c.Kind == domain.KindDate || c.Kind == domain.KindTimestamp })
	if days := dates(item, s.Today); len(days) > 0 && day != nil {
		row[day.Name] = days[0].Format(time.DateOnly)
		item = strings.TrimSpace(dayTail.ReplaceAllString(cutDates(item), ""))
	}
	if quantityColumn(e) == nil {
		row[label] = capitalize(trimName(item))
	} else if item = s.takeAmount(item, e, row); item != "" {
		row[label] = trimName(item)
	}

	return row
}

var (
	amountLead = regexp.MustCompile(`(?i)^(\d+(?:[.,/]\d+)?|[½¼¾]|(?:half|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty)\b)(?:\s*x\b)?\s*(.*)$`)
	dozens     = strings.NewReplacer("half a dozen", "6", "two dozen", "24", "a dozen", "12", "dozen", "12")
	articles   = regexp.MustCompile(`(?i)^(?:(?:the|my|our|some|more|another|new)\s+)+`)
)

// takeAmount extracts "12 eggs", "2 litres of milk", "500g flour" or "a dozen eggs" into the row and returns the name.
func (s *scene) takeAmount(item string, e *domain.Entity, row map[string]any) string {
	item = dozens.Replace(articles.ReplaceAllString(strings.TrimSpace(item), ""))
	m := amountLead.FindStringSubmatch(item)
	if m == nil {
		return item
	}
	n, ok := number(m[1])
	if !ok {
		return item
	}
	row[quantityColumn(e).Name] = n
	lead, after, _ := strings.Cut(m[2], " ")
	unit, isUnit := s.lex.unit(lead)
	if !isUnit {
		return m[2]
	}
	if u := unitColumn(e); u != nil {
		row[u.Name] = unit
	}

	return strings.TrimPrefix(strings.TrimSpace(after), "of ")
}

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
	col, day := columnIn(s.lex.cutTypes(before, e), e), dayColumn(e)
	if days := dates(c.value, s.Today); len(days) > 0 && day != nil && (col == nil || col.Kind == domain.KindDate) {
		set[day.Name] = days[0].Format(time.DateOnly)
	} else if col != nil && !col.Generated && col.FK == nil {
		set[col.Name] = typed(col, c.value, s.Today)
	} else if quantityColumn(e) == nil || s.takeAmount(c.value, e, set) != "" {
		clear(set)
		if label != nil && c.value != "" && renaming.MatchString(c.text) {
			set[label.Name] = trimName(c.value)
		}
	}

	return set
}
