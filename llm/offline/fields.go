package offline

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"alfred/domain"
)

// newRows turns what a user adds into rows of e.
func (s *scene) newRows(c *command, e *domain.Entity) []map[string]any {
	var items []string
	if quantityColumn(e) != nil {
		items = splitList(c.object)
	} else {
		items = []string{c.object}
	}
	var rows []map[string]any
	for _, item := range items {
		row := s.newRow(item, c, e)
		for _, v := range c.values {
			if !s.lex.wholeValue(v) {
				row[v.column.Name] = typed(v.column, v.value, s.Today)
			}
		}
		for column, v := range s.lex.Defaults[e.Type] {
			if _, ok := row[column]; !ok {
				row[column] = v
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (s *scene) newRow(item string, c *command, e *domain.Entity) map[string]any {
	row := map[string]any{}
	item = s.takeDate(item, c.text, e, row)
	item = s.takePlace(item, e, row)
	item = s.takeLink(item, e, row)
	if q := quantityColumn(e); q != nil {
		item = s.takeQuantity(item, e, row)
	}
	if l := labelColumn(e); l != nil && item != "" {
		row[l.Name] = s.labelText(item, e)
	}
	return row
}

func (s *scene) labelText(item string, e *domain.Entity) string {
	item = trimName(item)
	if quantityColumn(e) == nil {
		return capitalize(item)
	}
	return item
}

// takeDate moves a day out of an item into the date column it is about.
func (s *scene) takeDate(item, message string, e *domain.Entity, row map[string]any) string {
	days := dates(item, s.Today)
	if len(days) == 0 {
		days = yesterday(item, s.Today)
	}
	col := s.dateColumn(message, e)
	if len(days) == 0 || col == nil {
		return item
	}
	row[col.Name] = days[0].Format(dayFormat)
	item = cutDates(yesterdayWord.ReplaceAllString(item, " "))
	item = regexp.MustCompile(`(?i)[\s(,]*\b(?:expir\w*|due|best before|use by|until|by|on|at)[\s),]*$`).ReplaceAllString(item, "")
	return strings.TrimSpace(item)
}

var yesterdayWord = regexp.MustCompile(`(?i)\b(?:yesterday|last night)\b`)

func yesterday(text string, today time.Time) []time.Time {
	if yesterdayWord.MatchString(text) {
		return []time.Time{today.AddDate(0, 0, -1)}
	}
	return nil
}

func (s *scene) dateColumn(text string, e *domain.Entity) *domain.Column {
	isDay := func(c *domain.Column) bool { return c.Kind == domain.KindDate || c.Kind == domain.KindTimestamp }
	if c := columnIn(text, e); c != nil && isDay(c) {
		return c
	}
	return firstColumn(e, isDay)
}

var placeTail = regexp.MustCompile(`(?i)^(.*?)\s+(?:to|in|into|on|at)\s+(?:the |my |our )?([\pL -]+)$`)

// takePlace moves "in the freezer" into its column.
func (s *scene) takePlace(item string, e *domain.Entity, row map[string]any) string {
	m := placeTail.FindStringSubmatch(item)
	if m == nil {
		return item
	}
	vs := s.lex.valuesIn(m[2], e)
	for _, v := range vs {
		if !s.lex.wholeValue(v) {
			row[v.column.Name] = typed(v.column, v.value, s.Today)
		}
	}
	if len(vs) > 0 || s.lex.typeIn(m[2]) == e {
		return m[1]
	}
	return item
}

// takeLink moves the name of a known thing into the column that points at it,
// for rows that have no name of their own.
func (s *scene) takeLink(item string, e *domain.Entity, row map[string]any) string {
	if labelColumn(e) != nil {
		return item
	}
	link := firstColumn(e, func(c *domain.Column) bool { return c.FK != nil && c.FK.Entity != nil && c != e.Owner })
	if link == nil {
		return item
	}
	if r := s.find(item, link.FK.Entity); len(r.entities) == 1 {
		row[link.Name] = r.entities[0].Ref

		return ""
	}
	return item
}

var (
	amountLead  = regexp.MustCompile(`(?i)^((?:\d+(?:[.,/]\d+)?|½|¼|¾|half|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty)(?:\s+(?:a\s+)?dozen)?|dozen)(?:\s*x)?(?:\s+|$)(.*)$`)
	amountTail  = regexp.MustCompile(`(?i)^(.+?)\s*(?:\(|x\s*|×\s*)(\d+(?:[.,]\d+)?)\s*([a-z]*)\)?$`)
	compactUnit = regexp.MustCompile(`(?i)^(\d+(?:[.,]\d+)?)([a-z]+)\b\s*(.*)$`)
)

// takeQuantity reads "12 eggs", "2 litres of milk", "500g flour", "a dozen
// eggs", "milk (2 l)" and leaves the name.
func (s *scene) takeQuantity(item string, e *domain.Entity, row map[string]any) string {
	item = strings.TrimSpace(determiners.ReplaceAllStringFunc(item, keepArticle))
	n, unit, rest, ok := s.amount(item)
	if !ok {
		return item
	}
	row[quantityColumn(e).Name] = n
	if u := unitColumn(e); u != nil && unit != "" {
		row[u.Name] = unit
	}
	return rest
}

// keepArticle keeps "a" and "an", which count one.
func keepArticle(lead string) string {
	if l := strings.ToLower(strings.TrimSpace(lead)); l == "a" || l == "an" {
		return lead
	}
	return ""
}

// amount reads the quantity and unit at the start (or in brackets at the end) of
// a phrase.
func (s *scene) amount(text string) (n float64, unit, rest string, ok bool) {
	if m := compactUnit.FindStringSubmatch(text); m != nil {
		if u, known := s.lex.unit(m[2]); known {
			n, ok = number(m[1])
			return n, u, cutOf(m[3]), ok
		}
	}
	if m := amountLead.FindStringSubmatch(text); m != nil {
		n, ok = countOf(m[1])
		unit, rest = s.unitLead(m[2])
		return n, unit, rest, ok
	}
	if m := amountTail.FindStringSubmatch(text); m != nil {
		n, ok = number(m[2])
		u, known := s.lex.unit(m[3])
		if ok && (known || m[3] == "") {
			return n, u, m[1], true
		}
	}
	return 0, "", text, false
}

func countOf(text string) (float64, bool) {
	n, ok := 1.0, false
	for w := range strings.FieldsSeq(text) {
		if v, isNumber := number(w); isNumber {
			n, ok = n*v, true
		}
	}
	return n, ok
}

// unitLead splits "litres of milk" into unit and name.
func (s *scene) unitLead(text string) (unit, rest string) {
	first, after, _ := strings.Cut(text, " ")
	u, ok := s.lex.unit(first)
	if !ok {
		return "", text
	}
	after = strings.TrimSpace(after)
	if after == "" {
		return u, ""
	}
	return u, cutOf(after)
}

func cutOf(text string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "of "), "Of "))
}

// changes are the columns that a change sets, from its words.
func (s *scene) changes(c *command, e *domain.Entity) map[string]any {
	set := map[string]any{}
	label := labelColumn(e)
	switch {
	case c.column != nil && c.column.Name == "" && label != nil:
		set[label.Name] = trimName(c.value)
		return set
	case c.column != nil && c.column.Name != "":
		set[c.column.Name] = typed(c.column, c.value, s.Today)
		return set
	}
	for _, v := range s.lex.valuesIn(c.value, e) {
		set[v.column.Name] = typed(v.column, v.value, s.Today)
	}
	if len(set) > 0 {
		return set
	}
	s.changeByKind(c, e, set)
	if len(set) == 0 && label != nil {
		set[label.Name] = trimName(c.value)
	}
	return set
}

func (s *scene) changeByKind(c *command, e *domain.Entity, set map[string]any) {
	before, _ := lastCut(c.text, changeSeparator)
	col := columnIn(s.lex.cutTypes(before, e), e)
	if days := dates(c.value, s.Today); len(days) > 0 && (col == nil || col.Kind == domain.KindDate) {
		if col = s.dateColumn(before, e); col != nil {
			set[col.Name] = days[0].Format(dayFormat)
		}
		return
	}
	if col != nil && !col.Generated && col.FK == nil {
		set[col.Name] = typed(col, c.value, s.Today)
		return
	}
	q := quantityColumn(e)
	n, unit, rest, ok := s.amount(c.value)
	if !ok || q == nil || rest != "" {
		return
	}
	set[q.Name] = n
	if u := unitColumn(e); u != nil && unit != "" {
		set[u.Name] = unit
	}
}

// typed is a word as a value of a column.
func typed(c *domain.Column, text string, today time.Time) any {
	text = strings.TrimSpace(text)
	switch c.Kind {
	case domain.KindNumber:
		if fields := strings.Fields(text); len(fields) > 0 {
			if n, ok := number(fields[0]); ok {
				return n
			}
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
