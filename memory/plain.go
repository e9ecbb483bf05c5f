package memory

import (
	"regexp"
	"strings"

	"alfred/nodes"
)

// The user never sees a ref, so the ones who speak to the user do not either.

var (
	rangePattern  = regexp.MustCompile(`\b((?:gen_)?[a-z][a-z_]*)_(\d+)\.\.(?:gen_)?[a-z][a-z_]*_(\d+)\b`)
	behindPattern = regexp.MustCompile(` ?\(((?:gen_)?[a-z][a-z_]*_\d+)\)`)
	refPattern    = regexp.MustCompile(`\b(?:gen_)?[a-z][a-z_]*_\d+\b`)
)

// plain says labels in place of refs. What only looks like a ref stays.
func (t *turn) plain(text string) string {
	labels := make(map[string]string, len(t.entities)+len(t.dropped))
	for _, e := range t.dropped {
		labels[e.Ref] = e.label
	}
	for _, e := range t.entities {
		labels[e.Ref] = e.label
		if e.LabelIsPlaceholder {
			labels[e.Ref] = t.singular(e.EntityType)
		}
	}

	return unref(text, labels, t.plural)
}

func (t *turn) singular(entityType string) string {
	if def := t.memory.domain.ByType(entityType); def != nil {
		return def.Name
	}

	return entityType
}

func unref(text string, labels map[string]string, plural func(string) string) string {
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

	return itoa(b - a + 1)
}

// withoutRefs makes a frame fit for those who write to the user.
func (t *turn) withoutRefs(f nodes.Frame) nodes.Frame {
	for i := range f.Blocks {
		for j := range f.Blocks[i].Sections {
			f.Blocks[i].Sections[j].Body = t.plain(f.Blocks[i].Sections[j].Body)
		}
	}

	return f
}
