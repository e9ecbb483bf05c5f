package view

import (
	"reflect"
	"slices"

	"github.com/tidwall/gjson"

	"alfred/internal/domain"
	"alfred/internal/vocab"
)

// FoundAgain is the row that this turn has read by the filters of a planned call, if it is the only one and an earlier turn has shown
// these columns of it as they are now; none otherwise: whoever planned the call has not seen what it changes.
func (t *Scene) FoundAgain(call vocab.Call, columns []string) []string {
	def := t.Domain.Entity(gjson.GetBytes(call.Args, "table").Str)
	found := slices.IndexFunc(t.Results, func(r *Result) bool {
		alone := def != nil && r.RowCount == 1 && len(r.Refs) == 1 && len(r.Rows) == 1

		return alone && r.TurnID == t.Turn.ID && r.Tool == vocab.ToolRead && !r.Failed() && t.typeOf(r) == def && sameFilters(r.Params, call.Args)
	})
	if found < 0 {
		return nil
	}
	now, refs := t.Results[found].Rows[0], t.Results[found].Refs
	before := t.shownBefore(def, refs[0])
	differs := func(name string) bool {
		was, shown := before[name]

		return !shown || !reflect.DeepEqual(was, now[name])
	}
	if slices.ContainsFunc(columns, differs) {
		return nil
	}

	return refs
}

// shownBefore is a row as the last of the earlier turns has shown it, nil for one that none has.
func (t *Scene) shownBefore(def *domain.Entity, ref string) map[string]any {
	for _, r := range slices.Backward(t.Results) {
		if r.TurnID == t.Turn.ID || t.typeOf(r) != def {
			continue
		}
		if at := slices.IndexFunc(r.Rows, func(row map[string]any) bool { return row[def.Key.Name] == ref }); at >= 0 {
			return r.Rows[at]
		}
	}

	return nil
}

// sameFilters reports whether two calls choose rows alike.
func sameFilters(a, b []byte) bool {
	return reflect.DeepEqual(gjson.GetBytes(a, "filters").Value(), gjson.GetBytes(b, "filters").Value()) && len(gjson.GetBytes(a, "or_filters").Array()) == 0
}
