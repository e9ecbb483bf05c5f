package jobs

import (
	"bytes"
	"encoding/json"
	"slices"

	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// planned is what a call that a plan wrote out is about.
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

// byRef says that refs say which rows the call is about.
func (p planned) byRef() bool {
	return slices.ContainsFunc(p.Filters, func(f plannedFilter) bool { return f.Field == "id" })
}

// refs are those that say which rows the call is about.
func (p planned) refs() []string {
	var refs []string
	for _, f := range p.Filters {
		if f.Field == "id" {
			refs = append(refs, view.Named(f.Value)...)
		}
	}

	return refs
}

// carriable says whether a call that changes rows may be carried out as it was planned. What it writes over has to be
// known, and be no more than the value that takes its place: the planner was not shown the list, the object or the text to
// which it may have meant to add. To delete a row it is enough that nobody has touched it since it was last looked at.
func carriable(known *view.Scene, call nodes.Call) bool {
	p := plannedCall(call)
	refs, columns := p.refs(), []string(nil)
	if slices.ContainsFunc(p.Filters, func(f plannedFilter) bool { return bytes.Contains(f.Value, []byte("..")) }) {
		return false // a range is for Act to look at
	}
	for _, one := range p.Set {
		columns = append(columns, one.Column)
	}
	if call.Tool == vocab.ToolDelete {
		return known.Unchanged(refs)
	}

	return known.Knows(refs, columns) && !known.Composed(refs, columns)
}
