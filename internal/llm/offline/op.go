package offline

import (
	"encoding/json"
	"strconv"
	"strings"

	"alfred/internal/domain"
)

// op is what a step is to do. The step's description carries it from the plan to act: two words for people, then the
// rest as JSON.
type op struct {
	act, table string

	Refs   []string         `json:"refs,omitempty"`
	Name   string           `json:"named,omitempty"` // name of a row to look up
	Where  []filter         `json:"where,omitempty"`
	Rows   []map[string]any `json:"rows,omitempty"`
	About  string           `json:"about,omitempty"`
	By     string           `json:"by,omitempty"` // the column to add to
	Detail string           `json:"detail,omitempty"`
	Order  string           `json:"order_by,omitempty"`
	Dir    string           `json:"order_dir,omitempty"`
	Limit  int              `json:"limit,omitempty"`
}

// filter is one condition of a data tool.
type filter struct {
	Field string `json:"field"`
	Op    string `json:"op"`
	Value any    `json:"value,omitempty"`
}

// What a step can do. doings say how.
const (
	opCount, opCreate, opDelete, opDraft, opMatch, opNote = "Count", "Create", "Delete", "Draft", "Match", "Note"

	opPlan, opRead, opRevise, opSave, opUpdate = "Plan", "Read", "Revise", "Save", "Update"
)

func (o *op) String() string {
	table := o.table
	if strings.ContainsAny(table, " \"") {
		table = strconv.Quote(table)
	}

	return strings.TrimSuffix(o.act+" "+table+" "+flat(o), " {}")
}

// opOf parses a description; nil if it is not one of ours.
func opOf(description string) *op {
	act, rest, _ := strings.Cut(description, " ")
	o := &op{act: act}
	if quoted, err := strconv.QuotedPrefix(rest); err == nil {
		o.table, _ = strconv.Unquote(quoted)
		rest = strings.TrimPrefix(rest[len(quoted):], " ")
	} else {
		o.table, rest, _ = strings.Cut(rest, " ")
	}
	if _, ours := doings[o.act]; !ours || rest != "" && json.Unmarshal([]byte(rest), o) != nil {
		return nil
	}

	return o
}

func refFilter(refs []string) filter {
	if len(refs) == 1 {
		return filter{"id", "=", refs[0]}
	}

	return filter{"id", "in", refs}
}

// filters are all conditions of an op. A name matches as people use it: tables with a canonical lookup know variants;
// elsewhere a part suffices.
func (o *op) filters(e *domain.Entity) []filter {
	out := append([]filter{}, o.Where...)
	if len(o.Refs) > 0 {
		out = append(out, refFilter(o.Refs))
	}
	label := labelColumn(e)
	switch {
	case o.Name == "" || label == nil:
	case e.Match != nil && e.Match.Column == label.Name:
		out = append(out, filter{label.Name, "=", o.Name})
	default:
		out = append(out, filter{label.Name, "ilike", "%" + strings.NewReplacer("%", "", "_", "").Replace(o.Name) + "%"})
	}

	return out
}

// read returns the arguments of a read op.
func (o *op) read(e *domain.Entity) args {
	arguments := args{"table": e.Table, "filters": o.filters(e)}
	if o.Detail != "" {
		arguments["detail"] = o.Detail
	}
	if o.Order != "" {
		arguments["order_by"], arguments["order_dir"], arguments["limit"] = o.Order, o.Dir, o.Limit
	}

	return arguments
}
