package offline

import (
	"maps"
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
		return row
	}
	amount, name := s.cutAmount(item, e)
	maps.Copy(row, amount)
	if name != "" {
		row[label] = trimName(name)
	}

	return row
}

var (
	amountLead = regexp.MustCompile(`(?i)^(\d+(?:[.,/]\d+)?|[½¼¾]|(?:half|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty)\b)(?:\s*x\b)?\s*(.*)$`)
	dozens     = strings.NewReplacer("half a dozen", "6", "two dozen", "24", "a dozen", "12", "dozen", "12")
	articles   = regexp.MustCompile(`(?i)^(?:(?:the|my|our|some|more|another|new)\s+)+`)
)

// cutAmount splits "12 eggs", "2 litres of milk", "500g flour" or "a dozen eggs" into the columns of an amount and the name. A type
// without quantities, or nil, has no such columns.
func (s *scene) cutAmount(item string, e *domain.Entity) (amount map[string]any, name string) {
	if e == nil || quantityColumn(e) == nil {
		return nil, item
	}
	item = dozens.Replace(articles.ReplaceAllString(strings.TrimSpace(item), ""))
	m := amountLead.FindStringSubmatch(item)
	if m == nil {
		return nil, item
	}
	n, ok := number(m[1])
	if !ok {
		return nil, item
	}
	amount = map[string]any{quantityColumn(e).Name: n}
	lead, after, _ := strings.Cut(m[2], " ")
	unit, isUnit := s.lex.unit(lead)
	if !isUnit {
		return amount, m[2]
	}
	if u := unitColumn(e); u != nil {
		amount[u.Name] = unit
	}

	return amount, strings.TrimPrefix(strings.TrimSpace(after), "of ")
}

// renaming begins messages whose new value can be a name; nothing is renamed by setting, marking or putting it.
var renaming = regexp.MustCompile(`(?i)^(?:rename|change|correct)\b`)

// newValues are the columns that a change sets, with their values, as its words say.
func (s *scene) newValues(c *command, e *domain.Entity) map[string]any {
	if c.column != nil {
		return map[string]any{c.column.Name: typed(c.column, c.value, s.Today)}
	}
	if set := s.namedValues(c.value, e); len(set) > 0 {
		return set
	}
	before, _, _ := strings.Cut(c.text, c.value)
	column, day := columnIn(s.lex.cutTypes(before, e), e), dayColumn(e)
	if days := dates(c.value, s.Today); len(days) > 0 && day != nil && (column == nil || column.Kind == domain.KindDate) {
		return map[string]any{day.Name: days[0].Format(time.DateOnly)}
	}
	if column != nil && !column.Generated && column.FK == nil {
		return map[string]any{column.Name: typed(column, c.value, s.Today)}
	}
	if amount, rest := s.cutAmount(c.value, e); rest == "" {
		return amount
	}
	if label := labelColumn(e); label != nil && renaming.MatchString(c.text) {
		return map[string]any{label.Name: trimName(c.value)}
	}

	return nil
}

// namedValues are the declared values that a text names, and the flag that it sets: paid, not paid.
func (s *scene) namedValues(text string, e *domain.Entity) map[string]any {
	set := map[string]any{}
	for _, v := range s.lex.valuesIn(text, e) {
		set[v.column.Name] = typed(v.column, v.value, s.Today)
	}
	if flag := firstColumn(e, func(c *domain.Column) bool { return c.Kind == domain.KindBool && within(text, human(c.Name)) }); flag != nil {
		set[flag.Name] = !strings.HasPrefix(strings.ToLower(text), "no")
	}

	return set
}
