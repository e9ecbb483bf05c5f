package offline

import (
	"cmp"
	"encoding/json"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"alfred/internal/clean"
	"alfred/internal/domain"
	"alfred/internal/exact"
)

// wordPattern keeps apostrophes, hyphens and decimals inside words.
var wordPattern = regexp.MustCompile(`\d+(?:[.,/]\d+)?|[\pL][\pL\pN_]*(?:['’-][\pL\pN]+)*|[½¼¾]`)

func words(text string) []string { return wordPattern.FindAllString(strings.ToLower(text), -1) }

// stems are a text's words in the singular.
func stems(text string) []string {
	ws := words(text)
	for i, w := range ws {
		ws[i] = domain.Singular(strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s"))
	}

	return ws
}

// within reports whether hay contains all words of needle, adjacent and in order, singular or plural.
func within(hay, needle string) bool { return indexWords(stems(hay), stems(needle)) >= 0 }

func indexWords(hay, needle []string) int {
	for i := 0; len(needle) > 0 && i+len(needle) <= len(hay); i++ {
		if slices.Equal(hay[i:i+len(needle)], needle) {
			return i
		}
	}

	return -1
}

// cutWords removes the first occurrence of a run of words, singular or plural.
func cutWords(text string, needle []string) string {
	spans := wordPattern.FindAllStringIndex(strings.ToLower(text), -1)
	ws := stems(text)
	i := indexWords(ws, needle)
	if i < 0 || len(spans) != len(ws) {
		return text
	}

	return strings.TrimSpace(text[:spans[i][0]] + text[spans[i+len(needle)-1][1]:])
}

var (
	courtesies = regexp.MustCompile(`(?i)^(?:(?:(?:hi|hey|hello)(?: there)?|oh|oops|hmm*|um|(?:no,? )?(?:hold on|wait)|ok|okay|so|well|now|then|and|also|great|thanks|thank you|perfect|good|please|alfred|just|actually|` +
		`can you|could you|would you|will you|i want you to|i'd like you to|i would like you to|help me(?: to)?|let's|lets|let us|go ahead and|you can)[,!.]*\s+)+`)
	closings    = regexp.MustCompile(`(?i)(?:[,\s]+(?:please|thanks|thank you|for me|from now on|now|again|then))+[.!?]*$`)
	determiners = regexp.MustCompile(`(?i)^(?:(?:the|a|an|my|our|your|some|any|this|that|these|those|all|of|more|another|new|other|saved|named|called)(?:\s+|$))+`)
)

// bare removes courtesies and closing punctuation but keeps case, because names are stored as typed.
func bare(text string) string {
	text = strings.TrimRight(strings.Join(strings.Fields(strings.ReplaceAll(text, "’", "'")), " "), " .!?")
	for {
		next := strings.TrimSpace(closings.ReplaceAllString(courtesies.ReplaceAllString(text, ""), ""))
		if next == text || next == "" {
			return text
		}
		text = next
	}
}

// trimName removes what is not part of a thing's name.
func trimName(text string) string {
	return strings.TrimSpace(determiners.ReplaceAllString(strings.Trim(text, ` "'“”.,;:!?`), ""))
}

var numberWords = map[string]string{
	"a": "1", "an": "1", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
	"eleven": "11", "twelve": "12", "fifteen": "15", "twenty": "20", "dozen": "12", "half": "1/2", "½": "1/2", "¼": "1/4", "¾": "3/4",
}

// number parses "12", "1.5", "1,5", "1/2", "dozen".
func number(w string) (float64, bool) {
	w = cmp.Or(numberWords[strings.ToLower(w)], strings.Replace(w, ",", ".", 1))
	exactly, ok := new(big.Rat).SetString(w)
	if !ok {
		return 0, false
	}
	n, _ := exactly.Float64()

	return n, !math.IsInf(n, 0)
}

var (
	ordinalWords   = []string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
	ordinalPattern = regexp.MustCompile(`(?i)\b(?:(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)|(?:number |#)?(\d+)(?:st|nd|rd|th)|(?:number |#)(\d+))\b(?: (two|three|four)\b)?`)
)

// ordinals parses "the second", "number 3", "the first two"; -1 is the last.
func ordinals(text string) []int {
	var out []int
	for _, m := range ordinalPattern.FindAllStringSubmatch(text, -1) {
		n := slices.Index(ordinalWords, strings.ToLower(m[1]))
		if digits := m[2] + m[3]; digits != "" {
			n, _ = strconv.Atoi(digits)
		}
		count, _ := number(m[4])
		for i := range max(int(count), 1) {
			out = append(out, n+i)
		}
	}

	return out
}

var (
	listSeparator = regexp.MustCompile(`(?i)\s*(?:,\s*(?:and\s+)?|;\s*|\s+and\s+|\s+plus\s+|\s*&\s*|\n+)`)
	orComma       = regexp.MustCompile(`(?i)\s+or\s+|\s+nor\s+|,\s*|;\s*|\s+and\s+`)
)

// splitList splits "a, b and c".
func splitList(text string) []string {
	return slices.DeleteFunc(listSeparator.Split(strings.TrimSpace(text), -1), func(part string) bool { return part == "" })
}

// list joins "a, b and c", or with another conjunction.
func list(items []string, and string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}

	return strings.Join(items[:len(items)-1], ", ") + " " + and + " " + items[len(items)-1]
}

func capitalize(s string) string {
	for i, r := range s {
		return string(unicode.ToUpper(r)) + s[i+len(string(r)):]
	}

	return s
}

// titleCase capitalizes a dish or title like a heading.
func titleCase(s string) string {
	fields := strings.Fields(s)
	for i, f := range fields {
		if i == 0 || !slices.Contains([]string{"a", "an", "and", "the", "of", "in", "on", "with", "for", "to"}, strings.ToLower(f)) {
			fields[i] = capitalize(f)
		}
	}

	return strings.Join(fields, " ")
}

// human is a column's name for people: expiry date, purchased.
func human(column string) string {
	return strings.ReplaceAll(strings.TrimPrefix(column, "is_"), "_", " ")
}

// texts are a list's entries.
func texts(v any) []string {
	entries, _ := v.([]any)
	return mapped(entries, clean.Value)
}

// objects are the objects of a list.
func objects(v any) []map[string]any {
	var out []map[string]any
	entries, _ := v.([]any)
	for _, x := range entries {
		if row, ok := x.(map[string]any); ok {
			out = append(out, row)
		}
	}

	return out
}

// flat is a value as JSON.
func flat(v any) string {
	text, _ := exact.Encode(v)
	return string(text)
}

// clone is a copy of content, with numbers as float64.
func clone(content map[string]any) map[string]any {
	out := map[string]any{}
	_ = json.Unmarshal([]byte(flat(content)), &out) // it was JSON

	return out
}

// mapText applies a function to every text in a value.
func mapText(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			v[i] = mapText(v[i], change)
		}
	case map[string]any:
		for k := range v {
			v[k] = mapText(v[k], change)
		}
	}

	return v
}

func isText(text string) bool { return text != "" }

// firstFilled is the first of the lists that has anything in it.
func firstFilled[T any](lists ...[]T) []T {
	for _, list := range lists {
		if len(list) > 0 {
			return list
		}
	}

	return nil
}

func first[T any](list []*T) *T {
	if len(list) == 0 {
		return nil
	}

	return list[0]
}

func mapped[T, U any](items []T, f func(T) U) []U {
	out := make([]U, 0, len(items))
	for _, x := range items {
		out = append(out, f(x))
	}

	return out
}

// union is a list with what it lacks of another.
func union(list, more []string) []string {
	return slices.Concat(list, filtered(more, func(x string) bool { return !slices.Contains(list, x) }))
}

func filtered[T any](items []T, keep func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(items), func(x T) bool { return !keep(x) })
}
