package view

import (
	"encoding/json"
	"fmt"
	"slices"

	"alfred/db"
	"alfred/internal/exact"
)

// Differs describes how a view differs from one loaded at the same moment; "" if it does not, or if somebody wrote in
// between. Values that vary from load to load (row versions, results of the domain's queries) are not compared.
func (v *View) Differs(loaded *View) string {
	if v.written != loaded.written {
		return ""
	}
	mine, theirs := v.parts(), loaded.parts()
	for i, part := range mine {
		a, err := plain(part.value)
		b, otherErr := plain(theirs[i].value)
		if err != nil || otherErr != nil || a != b {
			return fmt.Sprintf("%s: carried %s, loaded %s", part.name, a, b)
		}
	}

	return ""
}

type part struct {
	name  string
	value any
}

func (v *View) parts() []part {
	registry := slices.DeleteFunc(slices.Clone(v.Registry), func(e *db.EntityRefListInViewRow) bool { return e.Tier == "" && !v.spoken.names(e) })

	return []part{
		{"turn", []any{v.Turn.Status, v.Turn.Position, v.Turn.CurrentNode, v.Turn.Goal, v.Turn.Reply, v.Turn.Undoes, v.Before}},
		{"registry", registry}, {"past", v.Past}, {"earlier", v.Earlier}, {"decisions", v.Decisions}, {"constraints", v.Constraints},
		{"questions", v.Questions}, {"steps", v.Steps}, {"runs", v.Runs}, {"results", v.Results}, {"drafts", v.Drafts},
		{"versions of drafts", v.Versions.Drafts}, {"round", v.Continues()},
	}
}

// plain encodes a value as JSON independently of Postgres's formatting.
func plain(value any) (string, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	var decoded any
	if err := exact.Decode(encoded, &decoded); err != nil {
		return "", err
	}
	encoded, err = json.Marshal(decoded)

	return string(encoded), err
}
