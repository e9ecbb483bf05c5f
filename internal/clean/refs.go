package clean

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"alfred/internal/vocab"
)

var (
	rangePattern  = regexp.MustCompile(`(?i)\b(` + vocab.RefStem + `)_(\d+)\.\.` + vocab.RefStem + `_(\d+)\b`)
	behindPattern = regexp.MustCompile(`(?i) ?\((` + vocab.Ref + `)\)`)
	refPattern    = regexp.MustCompile(`(?i)\b` + vocab.Ref + `\b`)
)

// Names says what the refs in a text stand for.
type Names struct {
	Labels map[string]string // by ref
	// Own are texts shaped like refs that occur in the user's rows, in lower case: they mean what the user wrote.
	Own map[string]bool
	// Word is a type's name, "" if there is no such type; Plural is its plural.
	Word, Plural func(entityType string) string
}

// MayNameRefs reports whether a text is worth being searched for refs, all of which have a _ before a digit, as few names of
// columns do: the patterns take long, and what refs stand for is gathered from all rows in view.
func MayNameRefs(text string) bool {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "_")
		if !found {
			return false
		}
		if after != "" && after[0] >= '0' && after[0] <= '9' {
			return true
		}
		rest = after
	}
}

// Unref replaces the refs in a text: a known one by its label, an unknown one by its type's name, a range by its size
// and type.
func (n *Names) Unref(text string) string {
	if !MayNameRefs(text) {
		return text
	}
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

	return n.named(text)
}

// named replaces refs by what they stand for, once where that stands beside them already: "recipe_1 Pad Thai".
func (n *Names) named(text string) string {
	var done []byte
	before := func(end string) bool { // as a word of its own
		return hasSuffixFold(" "+string(done[max(0, len(done)-len(end)):]), end)
	}
	for at := refPattern.FindStringIndex(text); at != nil; at = refPattern.FindStringIndex(text) {
		ref, rest := text[at[0]:at[1]], text[at[1]:]
		done = append(done, text[:at[0]]...)
		name, said := n.of(ref), strings.TrimLeft(rest, " ")
		switch {
		case name != ref && hasPrefixFold(said, name) && !inWord(said[len(name):]):
			rest = said
		case name != ref && before(" "+name+" "):
			done = bytes.TrimRight(done, " ")
		case name != ref && before(" "+name+" (") && strings.HasPrefix(rest, ", "):
			rest = rest[len(", "):]
		default:
			done = append(done, name...)
		}
		text = rest
	}

	return string(append(done, text...))
}

// inWord reports whether a text goes on with a word.
func inWord(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)

	return unicode.IsLetter(first) || unicode.IsDigit(first)
}

func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

func hasSuffixFold(text, suffix string) bool {
	return len(text) >= len(suffix) && strings.EqualFold(text[len(text)-len(suffix):], suffix)
}

// of is what one name stands for, or the name if it is not a ref.
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

// span is how many numbers a range contains.
func span(from, to string) string {
	first, _ := strconv.Atoi(from)
	last, _ := strconv.Atoi(to)

	return strconv.Itoa(last - first + 1)
}
