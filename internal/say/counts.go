package say

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"alfred/internal/clean"
	"alfred/internal/view"
	"alfred/internal/vocab"
)

// EmptyText is what to say about zero rows.
func (t *Teller) EmptyText(d *view.Effect) string {
	switch {
	case d.Result.ErrorMessage != nil && *d.Result.ErrorMessage == vocab.NoAccount:
		return vocab.NoAccount
	case d.Result.Tool == vocab.ToolRead && !isFiltered(d.Result) && d.Kind.Empty != "":
		return d.Kind.Empty
	}

	nothing := "no " + d.Kind.Plural + " that fit"
	if similar := clean.Inline(clean.Text(d.Result.ErrorMessage), MaxFact); strings.HasPrefix(similar, vocab.SimilarNames) {
		nothing += ". " + similar
	}

	return nothing
}

func isFiltered(r *view.Result) bool {
	filters := gjson.GetManyBytes(r.Params, "filters", "or_filters")

	return len(filters[0].Array())+len(filters[1].Array()) > 0
}

// isWidened reports whether a read has no filter, though one of its step that failed had: it found more than was asked for.
func (t *Teller) isWidened(d *view.Effect) bool {
	return d.Tool == vocab.ToolRead && !isFiltered(d.Result) && slices.ContainsFunc(t.OwnResults(), func(r *view.Result) bool {
		return r.Failed() && r.Tool == d.Tool && r.Step == d.Result.Step && t.Domain.Entity(clean.Text(r.EntityType)) == d.Kind && isFiltered(r)
	})
}

// CountText says how many rows of a kind were affected, and out of how many if not all are shown.
func (t *Teller) CountText(d *view.Effect) string {
	if t.isWidened(d) {
		return t.shownText(d) + ", all there are, because they could not be narrowed down as asked"
	}

	return t.shownText(d)
}

func (t *Teller) shownText(d *view.Effect) string {
	if n := int(d.Result.RowCount); n > len(d.Result.Rows) {
		return strconv.Itoa(len(d.Refs)) + " of " + strconv.Itoa(n) + " " + d.Kind.Plural
	}
	if len(d.Refs) == 1 {
		return "1 " + d.Kind.Name
	}

	return strconv.Itoa(len(d.Refs)) + " " + d.Kind.Plural
}

// maxNamed is how many labels a line names.
const maxNamed = 40

// Enumerate names labels, newest last, and counts those that do not fit and those that are alike.
func Enumerate(labels []string) string {
	times := map[string]int{}
	for _, label := range labels {
		times[label]++
	}
	var named []string
	for _, label := range labels {
		switch n := times[label]; {
		case n > 1:
			named, times[label] = append(named, label+" ("+strconv.Itoa(n)+")"), 0
		case n == 1:
			named = append(named, label)
		}
	}
	labels = named
	if more := len(labels) - maxNamed; more > 0 {
		return strconv.Itoa(more) + " more, " + strings.Join(labels[more:], ", ")
	}

	return strings.Join(labels, ", ")
}
