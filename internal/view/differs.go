package view

import (
	"encoding/json"
	"fmt"
	"slices"

	"alfred/db"
	"alfred/internal/exact"
)

// Differs says in what a view is another than one that was loaded at the same moment, "" if in nothing, or if somebody
// wrote in between. What differs from load to load (the versions of rows, what the domain's queries say) is not compared.
func (v *View) Differs(loaded *View) string {
	if v.sessionVersion != loaded.sessionVersion || v.userVersion != loaded.userVersion {
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
		{"versions of drafts", v.Versions.Drafts},
	}
}

// plain is a value as JSON that does not depend on how Postgres writes its own.
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
