package offline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"alfred/internal/domain"
)

// What columns are for, as their names and kinds tell.

func firstColumn(e *domain.Entity, fits func(*domain.Column) bool) *domain.Column {
	return first(filtered(e.Columns, func(c *domain.Column) bool { return !c.Hidden && fits(c) }))
}

func columnCalled(e *domain.Entity, kind domain.Kind, names ...string) *domain.Column {
	return firstColumn(e, func(c *domain.Column) bool { return c.Kind == kind && slices.Contains(names, c.Name) })
}

func quantityColumn(e *domain.Entity) *domain.Column {
	return columnCalled(e, domain.KindNumber, "quantity", "amount", "qty", "count")
}

func unitColumn(e *domain.Entity) *domain.Column {
	return columnCalled(e, domain.KindText, "unit", "units")
}

func priceColumn(e *domain.Entity) *domain.Column {
	return firstColumn(e, func(c *domain.Column) bool {
		return c.Kind == domain.KindNumber && (strings.HasSuffix(c.Name, "price") || strings.HasSuffix(c.Name, "cost"))
	})
}

func dayColumn(e *domain.Entity) *domain.Column {
	return firstColumn(e, func(c *domain.Column) bool { return c.Kind == domain.KindDate })
}

// doneWord matches what says that a row of a list is done with.
var doneWord = regexp.MustCompile(`(?i)\b(?:done|completed|finished|bought|purchased)\b`)

func doneColumn(e *domain.Entity) *domain.Column {
	return firstColumn(e, func(c *domain.Column) bool { return c.Kind == domain.KindBool && doneWord.MatchString(human(c.Name)) })
}

// labelColumn is the text column that names a row; nil if rows have no name.
func labelColumn(e *domain.Entity) *domain.Column {
	if e.Match != nil && e.Column(e.Match.Column) != nil {
		return e.Column(e.Match.Column)
	}
	names := []string{"name", "title", "label", "subject"}
	if declared := e.Label.Columns(); len(declared) == 1 && len(e.Label.Links()) == 0 {
		names = append(declared, names...)
	}
	free := func(c *domain.Column) bool { return c.Kind == domain.KindText && len(c.Enum) == 0 && c.FK == nil }
	for _, name := range names {
		if c := e.Column(name); c != nil && free(c) && !c.Hidden {
			return c
		}
	}

	return firstColumn(e, func(c *domain.Column) bool { return free(c) && !c.Nullable && !c.HasDefault })
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

// columnWith is the column with a closed list that has a text as one of its values, and that value, else the text.
func columnWith(e *domain.Entity, text string) (*domain.Column, string) {
	if e == nil {
		return nil, text
	}
	column := firstColumn(e, func(c *domain.Column) bool {
		i := slices.IndexFunc(c.Enum, func(v string) bool { return slices.Equal(stems(human(v)), stems(trimName(text))) })
		if i >= 0 {
			text = c.Enum[i]
		}

		return i >= 0
	})

	return column, text
}

// numberColumn is the numeric column that a text names.
func numberColumn(e *domain.Entity, text string) *domain.Column {
	if c := columnIn(text, e); c != nil && c.Kind == domain.KindNumber && c.FK == nil && c != e.Key {
		return c
	}

	return nil
}

// minutesColumn is how long something takes: the column that the text names, else the computed total, else the only one.
func minutesColumn(e *domain.Entity, text string) *domain.Column {
	all := filtered(e.Columns, func(c *domain.Column) bool {
		return !c.Hidden && c.Kind == domain.KindNumber && strings.HasSuffix(c.Name, "_minutes")
	})
	named := filtered(all, func(c *domain.Column) bool { return within(text, human(strings.TrimSuffix(c.Name, "_minutes"))) })
	total := filtered(all, func(c *domain.Column) bool { return c.Expr != "" || len(all) == 1 })

	return first(append(named, total...))
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
			return days[0].Format(time.DateOnly)
		}
	case domain.KindArray:
		return splitList(text)
	default:
	}

	return text
}
