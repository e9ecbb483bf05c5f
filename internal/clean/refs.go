package clean

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	rangePattern  = regexp.MustCompile(`\b((?:gen_)?[a-z][a-z_]*)_(\d+)\.\.(?:gen_)?[a-z][a-z_]*_(\d+)\b`)
	behindPattern = regexp.MustCompile(` ?\(((?:gen_)?[a-z][a-z_]*_\d+)\)`)
	refPattern    = regexp.MustCompile(`\b(?:gen_)?[a-z][a-z_]*_\d+\b`)
)

// Unref words the refs in a text: a known one by its label, a range by how many there are and what they are.
func Unref(text string, labels map[string]string, plural func(string) string) string {
	text = rangePattern.ReplaceAllStringFunc(text, func(match string) string {
		parts := rangePattern.FindStringSubmatch(match)
		if _, known := labels[parts[1]+"_"+parts[2]]; !known {
			return match
		}

		return span(parts[2], parts[3]) + " " + plural(strings.TrimPrefix(parts[1], "gen_"))
	})
	text = behindPattern.ReplaceAllStringFunc(text, func(match string) string {
		if _, known := labels[behindPattern.FindStringSubmatch(match)[1]]; known {
			return ""
		}

		return match
	})

	return refPattern.ReplaceAllStringFunc(text, func(ref string) string {
		if label, known := labels[ref]; known {
			return label
		}

		return ref
	})
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
