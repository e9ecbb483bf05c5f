package nodes

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"alfred/internal/vocab"
)

// refRange matches many refs on one line, as prompts show them and models answer: inv_1..inv_12.
var refRange = regexp.MustCompile(`^(` + vocab.RefStem + `)_(\d{1,9})\s*(?:\.{2,3}|…|–|-)\s*(?:(` + vocab.RefStem + `)_)?(\d{1,9})$`)

// expand expands ranges to the refs in them and normalizes names. Whatever is not a ref stays, so that it can be
// complained about.
func (known Refs) expand(refs []string) []string {
	var out []string
	for _, ref := range refs {
		name := known.spelled(ref)
		if _, ok := known[name]; ok {
			out = append(out, name)
			continue
		}
		within := known.within(name)
		if len(within) == 0 {
			within = []string{ref}
		}
		out = append(out, within...)
	}

	return out
}

func (known Refs) spelled(ref string) string {
	if _, ok := known[ref]; ok {
		return ref
	}

	return strings.ToLower(strings.Trim(ref, " `\"'()[]"))
}

// within returns the refs of a range, in order; none if the text is not a range.
func (known Refs) within(text string) []string {
	parts := refRange.FindStringSubmatch(text)
	if parts == nil || parts[3] != "" && parts[3] != parts[1] {
		return nil
	}
	from, _ := strconv.Atoi(parts[2])
	to, _ := strconv.Atoi(parts[4])
	numbers := map[string]int{}
	for ref := range known {
		digits, ok := strings.CutPrefix(ref, parts[1]+"_")
		if n, err := strconv.Atoi(digits); ok && err == nil && n >= from && n <= to {
			numbers[ref] = n
		}
	}

	return slices.SortedFunc(maps.Keys(numbers), func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) })
}

// among returns the names that are refs, with ranges expanded. It drops the others: the list may also hold names of other
// things.
func (known Refs) among(names []string) []string {
	return slices.DeleteFunc(known.expand(names), func(name string) bool { _, ok := known[name]; return !ok })
}
