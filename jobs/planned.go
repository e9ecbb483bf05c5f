package jobs

import (
	"bytes"
	"encoding/json"
	"slices"

	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// planned is the part of a planned call's arguments that says which rows and columns it is about.
type planned struct {
	Table   string          `json:"table"`
	Filters []plannedFilter `json:"filters"`
	Set     []struct {
		Column string `json:"column"`
	} `json:"set"`
}

type plannedFilter struct {
	Field string          `json:"field"`
	Op    string          `json:"op"`
	Value json.RawMessage `json:"value"`
}

func plannedCall(call nodes.Call) planned {
	var p planned
	if json.Unmarshal(call.Args, &p) != nil {
		return planned{}
	}

	return p
}

// byRef reports whether the call selects its rows by ref.
func (p planned) byRef() bool {
	return slices.ContainsFunc(p.Filters, func(f plannedFilter) bool { return f.Field == "id" })
}

// refs are the refs by which the call selects its rows.
func (p planned) refs() []string {
	var refs []string
	for _, f := range p.Filters {
		if f.Field == "id" {
			refs = append(refs, view.Named(f.Value)...)
		}
	}

	return refs
}

// carriable reports whether a planned call that changes rows may be carried out as written. The values that an update
// overwrites must be known, and must not be a list, an object or a longer text: the planner was not shown those, and
// may have meant to add to them. To delete a row, it is enough that nobody has changed it since it was last read.
func carriable(known *view.Scene, call nodes.Call) bool {
	p := plannedCall(call)
	refs, columns := p.refs(), []string(nil)
	if slices.ContainsFunc(p.Filters, func(f plannedFilter) bool { return bytes.Contains(f.Value, []byte("..")) }) {
		return false // Act has to look at a range first
	}
	for _, one := range p.Set {
		columns = append(columns, one.Column)
	}
	if call.Tool == vocab.ToolDelete {
		return known.Unchanged(refs)
	}

	return known.Knows(refs, columns) && !known.Composed(refs, columns)
}
