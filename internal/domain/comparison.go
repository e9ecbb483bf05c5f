package domain

import (
	"regexp"
	"strings"
)

// Comparison is a CHECK that compares two columns of a row: ends_at > starts_at.
type Comparison struct {
	Column, Operator, Other string
}

const compared = `("[^"]+"|[a-z_][a-z0-9_$]*)`

var (
	comparedPair = regexp.MustCompile(`^` + compared + ` ([<>]=?|=|<>) ` + compared + `$`)
	nullCheck    = regexp.MustCompile(`^` + compared + ` IS NULL$`)
)

// addComparisons records a CHECK on several columns if it consists of comparisons, with or without exceptions for nulls, which
// pass anyway. Whatever says more is left out: a model could not read it at a glance.
func (t *catalogTable) addComparisons(columns []string, expr string) {
	expr = WithoutCasts(expr)
	parts := strings.Split(expr, " AND ")
	if len(parts) == 1 {
		alternatives := strings.Split(expr, " OR ")
		for len(alternatives) > 1 && len(columns) == 2 && nullCheck.MatchString(alternatives[0]) {
			alternatives = alternatives[1:]
		}
		parts = alternatives
	}
	found := make([]Comparison, len(parts))
	for i, part := range parts {
		names := comparedPair.FindStringSubmatch(part)
		if names == nil || len(parts) > 1 && strings.Contains(expr, " OR ") {
			return
		}
		found[i] = Comparison{Column: strings.Trim(names[1], `"`), Operator: names[2], Other: strings.Trim(names[3], `"`)}
	}
	t.compared = append(t.compared, found...)
}

// comparisonsOf are the comparisons to show beside a column: those that begin with it, and those that end with it if
// their first column cannot be written. Comparisons with hidden columns say nothing to a model.
func (e *Entity) comparisonsOf(c *Column) []string {
	var told []string
	for _, one := range e.compared {
		begins, other := one.Column == c.Name, e.Column(one.Other)
		if !begins {
			other = e.Column(one.Column)
		}
		if other == nil || other.Hidden || !begins && (one.Other != c.Name || !e.neverWritten(other)) {
			continue
		}
		told = append(told, one.Column+" "+one.Operator+" "+one.Other)
	}

	return told
}
