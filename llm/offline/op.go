package offline

import (
	"encoding/json"
	"slices"
	"strings"

	"alfred/domain"
	"alfred/nodes"
)

// op is what a step is to do. The step's description carries it from the plan to
// the one who executes it: two words for people, then the rest as JSON.
type op struct {
	act, table string

	Refs   []string         `json:"refs,omitempty"`
	Name   string           `json:"named,omitempty"` // of a row that is to be found by name
	Where  []filter         `json:"where,omitempty"`
	Rows   []map[string]any `json:"rows,omitempty"`
	About  string           `json:"about,omitempty"`
	By     string           `json:"by,omitempty"` // a column: to group, to order, to add to
	Detail string           `json:"detail,omitempty"`
}

// filter is one condition of a data tool.
type filter struct {
	Field string `json:"field"`
	Op    string `json:"op"`
	Value any    `json:"value,omitempty"`
}

// What a step can do.
const (
	opCompare = "Compare"
	opCount   = "Count"
	opCreate  = "Create"
	opDelete  = "Delete"
	opDraft   = "Draft"
	opMatch   = "Match"
	opNote    = "Note"
	opPlan    = "Plan"
	opRead    = "Read"
	opRecall  = "Recall"
	opRevise  = "Revise"
	opSave    = "Save"
	opUpdate  = "Update"
)

var acts = []string{opCompare, opCount, opCreate, opDelete, opDraft, opMatch, opNote, opPlan, opRead, opRecall, opRevise, opSave, opUpdate}

func (o *op) String() string {
	rest, err := json.Marshal(o)
	if err != nil || string(rest) == "{}" {
		return o.act + " " + o.table
	}

	return o.act + " " + o.table + " " + string(rest)
}

// opOf reads a description back; nil when it is not one of ours.
func opOf(description string) *op {
	act, rest, _ := strings.Cut(description, " ")
	table, args, _ := strings.Cut(rest, " ")
	o := &op{act: act, table: table}
	if !slices.Contains(acts, act) || args != "" && json.Unmarshal([]byte(args), o) != nil {
		return nil
	}

	return o
}

func refFilter(refs []string) []filter {
	if len(refs) == 1 {
		return []filter{{"id", "=", refs[0]}}
	}

	return []filter{{"id", "in", refs}}
}

// nameFilter finds rows by the name that people use: tables with a look-up know
// variants by themselves, elsewhere a part of the name is enough.
func nameFilter(e *domain.Entity, name string) []filter {
	label := labelColumn(e)
	switch {
	case label == nil:
		return nil
	case e.Match != nil && e.Match.Column == label.Name:
		return []filter{{label.Name, "=", name}}
	default:
		return []filter{{label.Name, "ilike", "%" + strings.NewReplacer("%", "", "_", "").Replace(name) + "%"}}
	}
}

// step makes a plan's step of an op, in the subdomain of its table.
func (s *scene) step(kind string, e *domain.Entity, o *op) nodes.Step {
	o.table = "all"
	subdomain := ""
	if e != nil {
		o.table, subdomain = e.Table, s.lex.subdomainOf(e)
	} else if len(s.lex.domain.Subdomains) > 0 {
		subdomain = s.lex.domain.Subdomains[0].Name
	}
	needs := "refs"
	if kind == "analyze" {
		needs = "rows"
	}

	return nodes.Step{Type: kind, Subdomain: subdomain, Description: o.String(), Refs: append([]string{}, o.Refs...), Needs: needs}
}
