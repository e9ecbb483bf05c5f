package crud

import (
	"regexp"
	"slices"
	"strings"

	"alfred/internal/domain"
)

// Most rules of a table require a column to be between bounds, to have a certain length, or to be one of a few words.
// Postgres writes them with casts and functions; people and models read a sentence.
var (
	ruleCompared = regexp.MustCompile(`^(char_length|length)?\(?("[^"]+"|[a-z_][a-z0-9_]*)\)? (>=|>|<=|<) \(?'?(-?[0-9][0-9.:-]*)'?\)?$`)
	ruleListed   = regexp.MustCompile(`^("[^"]+"|[a-z_][a-z0-9_]*) = ANY \(\(?ARRAY\[(.+)\]\)?\)$`)
	ruleWords    = regexp.MustCompile(`'((?:[^']|'')*)'|(-?[0-9][0-9.]*)`)
)

var ruleBounds = map[string]string{">=": "at least", ">": "more than", "<=": "at most", "<": "less than"}

// ruleInWords says what a CHECK asks of its column, after the column's name.
func ruleInWords(definition string) string {
	definition = domain.WithoutCasts(definition)
	if found := ruleListed.FindStringSubmatch(definition); found != nil {
		if words := ruleWords.FindAllStringSubmatch(found[2], -1); len(words) > 0 {
			return "has to be " + joinLast(each(words, func(word []string) string { return strings.ReplaceAll(word[1]+word[2], "''", "'") }), " or ")
		}
	}
	if bounds := boundsInWords(strings.Split(definition, " AND ")); bounds != "" {
		return bounds
	}

	return "breaks the rule " + definition
}

// boundsInWords words bounds that all concern one column, "" for other rules.
func boundsInWords(parts []string) string {
	said, function, column := []string{}, "", ""
	for i, part := range parts {
		found := ruleCompared.FindStringSubmatch(strings.TrimSpace(part))
		if found == nil || (i > 0 && (found[1] != function || found[2] != column)) {
			return ""
		}
		function, column = found[1], found[2]
		said = append(said, ruleBounds[found[3]]+" "+found[4])
	}
	text := strings.Join(said, " and ")
	if function != "" {
		return "has to have " + text + " characters"
	}

	return "has to be " + text
}

// ruleApart finds what an exclusion compares and which rows it concerns, ruleCompares each comparison, ruleRange the bounds of a range that
// is made of two columns.
var (
	ruleApart    = regexp.MustCompile(`^EXCLUDE USING \w+ \((.+ WITH \S+)\)(?: WHERE \((.+)\))?(?: DEFERRABLE.*)?$`)
	ruleCompares = regexp.MustCompile(`(\S.*?) WITH (\S+?)(?:, |$)`)
	ruleRange    = regexp.MustCompile(`^\w+range\((.+?), (.+?)(?:, '..'::text)?\)$`)
)

// exclusionInWords says which rows cannot stand beside each other: of the columns that have to be equal, those given.
func exclusionInWords(definition string, columns []string) string {
	asWritten := "It cannot stand beside a row that is there: " + definition
	found, overlaps := ruleApart.FindStringSubmatch(definition), ""
	if found == nil {
		return asWritten
	}
	same := []string{}
	for _, compared := range ruleCompares.FindAllStringSubmatch(found[1], -1) {
		name := strings.Trim(compared[1], `"`)
		switch {
		case compared[2] == "&&" && overlaps == "":
			overlaps = ruleRange.ReplaceAllString(name, "$1 to $2")
		case compared[2] != "=" || strings.Contains(name, "("):
			return asWritten
		case slices.Contains(columns, name):
			same = append(same, name)
		}
	}
	text := "There is another row"
	if overlaps != "" {
		text = "Its " + overlaps + " overlaps that of another row"
	}
	if len(same) > 0 {
		text += " with the same " + joinLast(same, " and ")
	}
	if found[2] != "" {
		text += ", where " + domain.WithoutCasts(found[2])
	}

	return text
}
