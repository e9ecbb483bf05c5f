package jobs

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"alfred/internal/crud"
	"alfred/internal/domain"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// newRow is a row that a call was to create, by its name.
type newRow struct {
	kind *domain.Entity
	name string
}

// leftOut names the new rows of a step's failed decisions that no other decision has created: one value of four rows was wrong, and
// only that row was tried again. Rows may have got other names, so nothing is left out if as many others were created since.
func (s *state) leftOut(step int32, last *nodes.ActOutput) (names []string) {
	var missed, made, since []newRow
	for _, run := range append(s.ActsOf(step), &view.Acted{ActOutput: *last}) {
		if run.Failed() {
			missed, since = append(missed, s.failedRows(run)...), nil

			continue
		}
		for _, call := range run.Calls {
			since, made = append(since, s.newRows(call)...), append(made, s.newRows(call)...)
		}
	}
	others := len(slices.DeleteFunc(slices.Clone(since), func(row newRow) bool { return slices.ContainsFunc(missed, row.mayBe) }))
	for _, row := range missed {
		if !slices.ContainsFunc(made, row.mayBe) && !slices.Contains(names, row.name) {
			names = append(names, row.name)
		}
	}
	if len(names) <= others {
		return nil
	}

	return names
}

// failedRows are the new rows of a failed decision, except those that the step has created before.
func (s *state) failedRows(run *view.Acted) (rows []newRow) {
	for i, call := range run.Calls {
		if i < len(run.Results) && crud.Code(run.Results[i].ErrorCode) != crud.CodeRepeated {
			rows = append(rows, s.newRows(call)...)
		}
	}

	return rows
}

// mayBe reports whether two names may be those of one row.
func (r newRow) mayBe(other newRow) bool {
	a, b := strings.ToLower(r.name), strings.ToLower(other.name)

	return r.kind == other.kind && (strings.Contains(a, b) || strings.Contains(b, a))
}

// notNamedIn is what was left out, without what was done in another way: eggs that were there already were changed.
func (in acted) notNamedIn(did string) []string {
	did = strings.ToLower(did)

	return slices.DeleteFunc(slices.Clone(in.leftOut), func(name string) bool {
		words := strings.Fields(strings.ToLower(name))

		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(did, word) })
	})
}

// newRows are the rows that a call creates, as far as it says what they are called.
func (s *state) newRows(call vocab.Call) (rows []newRow) {
	e := s.runner.typeOf(call)
	if call.Tool != vocab.ToolCreate || e == nil {
		return nil
	}
	args := gjson.ParseBytes(call.Args)
	for _, row := range slices.Concat([]gjson.Result{args.Get("set")}, args.Get("rows.#.set").Array(), args.Get("data").Array()) {
		var words []string
		for _, column := range e.Label.Columns() {
			value := row.Get(column)
			if row.IsArray() {
				value = row.Get(`#(column=="` + column + `").value`)
			}
			if value.String() != "" {
				words = append(words, value.String())
			}
		}
		if len(words) > 0 {
			rows = append(rows, newRow{kind: e, name: strings.Join(words, " ")})
		}
	}

	return rows
}
