package offline

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// words splits text into lower-case words, keeping apostrophes, hyphens and
// decimals inside them.
var wordPattern = regexp.MustCompile(`\d+(?:[.,/]\d+)?|[\pL][\pL\pN_]*(?:['’-][\pL\pN]+)*|[½¼¾]`)

func words(text string) []string {
	return wordPattern.FindAllString(strings.ToLower(text), -1)
}

// clean is one line of lower-case text without surrounding punctuation.
func clean(text string) string {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	text = strings.ReplaceAll(text, "’", "'")
	return strings.TrimFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`.,;:!?"'()`, r)
	})
}

// courtesies open or close a request without changing it.
var courtesies = regexp.MustCompile(`(?i)^(?:(?:hi|hey|hello|ok|okay|so|well|now|then|and|also|great|thanks|thank you|perfect|good|please|alfred|just|actually|` +
	`can you|could you|would you|will you|i want you to|i'd like you to|i would like you to|help me(?: to)?|let's|lets|let us|go ahead and|you can)[,!.]*\s+)+`)

var closings = regexp.MustCompile(`(?i)(?:[,\s]+(?:please|thanks|thank you|for me|now|again|then))+[.!?]*$`)

// bare strips courtesies and closing punctuation but keeps the letters' case,
// because names are stored as typed.
func bare(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "’", "'")), " ")
	text = strings.TrimRight(text, " .!?")
	for {
		next := strings.TrimSpace(closings.ReplaceAllString(courtesies.ReplaceAllString(text, ""), ""))
		if next == text || next == "" {
			return text
		}
		text = next
	}
}

var determiners = regexp.MustCompile(`(?i)^(?:(?:the|a|an|my|our|your|some|any|this|that|these|those|all|of|more|another|new|other|saved|named|called)(?:\s+|$))+`)

// trimName strips what is not part of a thing's name.
func trimName(text string) string {
	text = strings.Trim(text, ` "'“”.,;:!?`)
	return strings.TrimSpace(determiners.ReplaceAllString(text, ""))
}

// singular undoes the regular English plural.
func singular(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && (strings.HasSuffix(w, "oes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "sses")):
		return w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us"):
		return w[:len(w)-1]
	}
	return w
}

// stems are a text's words in the singular.
func stems(text string) []string {
	ws := words(text)
	for i, w := range ws {
		ws[i] = singular(strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s"))
	}
	return ws
}

var numberWords = map[string]float64{
	"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "dozen": 12, "half": 0.5, "½": 0.5, "¼": 0.25, "¾": 0.75,
}

// number reads "12", "1.5", "1,5", "1/2", "dozen".
func number(w string) (float64, bool) {
	w = strings.ToLower(w)
	if n, ok := numberWords[w]; ok {
		return n, true
	}
	if over, under, ok := strings.Cut(w, "/"); ok {
		a, errA := strconv.ParseFloat(over, 64)
		b, errB := strconv.ParseFloat(under, 64)
		return a / max(b, 1), errA == nil && errB == nil && b != 0
	}
	n, err := strconv.ParseFloat(strings.Replace(w, ",", ".", 1), 64)
	return n, err == nil
}

var ordinalWords = map[string]int{
	"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
	"1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5, "6th": 6, "7th": 7, "8th": 8, "9th": 9, "10th": 10, "last": -1,
}

var ordinalPattern = regexp.MustCompile(`(?i)\b(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|\d+(?:st|nd|rd|th)|number \d+|#\d+)\b(?: (two|three|four|five|2|3|4|5)\b)?`)

// ordinals reads "the second", "number 3", "the first two"; -1 is the last.
func ordinals(text string) []int {
	var out []int
	for _, m := range ordinalPattern.FindAllStringSubmatch(text, -1) {
		n := ordinal(strings.ToLower(m[1]))
		count, ok := number(m[2])
		if m[2] == "" || !ok {
			out = append(out, n)
			continue
		}
		for i := range int(count) {
			out = append(out, n+i)
		}
	}
	return out
}

func ordinal(w string) int {
	if n, ok := ordinalWords[w]; ok {
		return n
	}
	n, err := strconv.Atoi(strings.TrimFunc(w, func(r rune) bool { return !unicode.IsDigit(r) }))
	if err != nil {
		return 0
	}
	return n
}

// splitList reads "a, b and c".
var listSeparator = regexp.MustCompile(`(?i)\s*(?:,\s*(?:and\s+)?|;\s*|\s+and\s+|\s+plus\s+|\s*&\s*|\n+)`)

func splitList(text string) []string {
	var out []string
	for _, part := range listSeparator.Split(text, -1) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// joinList is the reverse of splitList.
func joinList(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

func capitalize(s string) string {
	for i, r := range s {
		return string(unicode.ToUpper(r)) + s[i+len(string(r)):]
	}
	return s
}

// titleCase writes a dish or a title the way headings are written.
func titleCase(s string) string {
	fields := strings.Fields(s)
	for i, f := range fields {
		if i == 0 || !smallWords[strings.ToLower(f)] {
			fields[i] = capitalize(f)
		}
	}
	return strings.Join(fields, " ")
}

var smallWords = map[string]bool{"a": true, "an": true, "and": true, "the": true, "of": true, "in": true, "on": true, "with": true, "for": true, "to": true}

// containsWords reports whether all words of needle stand in hay, next to each
// other and in order, plural or not.
func containsWords(hay, needle []string) bool { return indexWords(hay, needle) >= 0 }

func indexWords(hay, needle []string) int {
	if len(needle) == 0 {
		return -1
	}
	for i := 0; i+len(needle) <= len(hay); i++ {
		match := true
		for j, n := range needle {
			if hay[i+j] != n {
				match = false
				break
			}
		}
		if match {
			return i
		}
	}
	return -1
}
