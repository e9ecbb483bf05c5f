package crud

import (
	"regexp"
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
			return "has to be " + oneOfWords(words)
		}
	}
	if bounds := boundsInWords(strings.Split(definition, " AND ")); bounds != "" {
		return bounds
	}

	return "breaks the rule " + definition
}

func oneOfWords(words [][]string) string {
	var b strings.Builder
	for i, word := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(strings.ReplaceAll(word[1]+word[2], "''", "'"))
	}

	return b.String()
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
