package clean

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	rangePattern  = regexp.MustCompile(`(?i)\b((?:gen_)?[a-z][a-z_]*)_(\d+)\.\.(?:gen_)?[a-z][a-z_]*_(\d+)\b`)
	behindPattern = regexp.MustCompile(`(?i) ?\(((?:gen_)?[a-z][a-z_]*_\d+)\)`)
	refPattern    = regexp.MustCompile(`(?i)\b(?:gen_)?[a-z][a-z_]*_\d+\b`)
)

// Names is what the refs in a text stand for.
type Names struct {
	Labels map[string]string // by ref
	// Own are texts of the form of a ref that stand in the user's rows, in lower case:
	// they mean what the user wrote.
	Own map[string]bool
	// Word is a type's name, "" for what is no type; Plural is that of several.
	Word, Plural func(entityType string) string
}

// Unref words the refs in a text: a known one by its label, one that does not exist by
// the name of its type, a range by how many there are and what they are.
func (n *Names) Unref(text string) string {
	text = rangePattern.ReplaceAllStringFunc(text, func(match string) string {
		parts := rangePattern.FindStringSubmatch(match)
		stem := strings.ToLower(parts[1])
		if _, known := n.Labels[stem+"_"+parts[2]]; !known {
			return match
		}

		return span(parts[2], parts[3]) + " " + n.Plural(strings.TrimPrefix(stem, "gen_"))
	})
	text = behindPattern.ReplaceAllStringFunc(text, func(match string) string {
		if name := behindPattern.FindStringSubmatch(match)[1]; n.of(name) != name {
			return ""
		}

		return match
	})

	return refPattern.ReplaceAllStringFunc(text, n.of)
}

// of is what one name stands for, or the name where it is no ref.
func (n *Names) of(name string) string {
	ref := strings.ToLower(name)
	if n.Own[ref] {
		return name
	}
	if label, known := n.Labels[ref]; known {
		return label
	}
	if word := n.Word(strings.TrimPrefix(ref[:strings.LastIndexByte(ref, '_')], "gen_")); word != "" {
		return word
	}

	return name
}

// RefShaped are the parts of a text that have the form of a ref, in lower case.
func RefShaped(text string) []string {
	found := refPattern.FindAllString(text, -1)
	for i := range found {
		found[i] = strings.ToLower(found[i])
	}

	return found
}

// span is how many numbers a range has.
func span(from, to string) string {
	a, b := 0, 0
	for _, digit := range from {
		a = a*10 + int(digit-'0')
	}
	for _, digit := range to {
		b = b*10 + int(digit-'0')
	}

	return strconv.Itoa(b - a + 1)
}
