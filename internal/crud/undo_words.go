package crud

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"alfred/registry"
)

// word says what became of rows, by the names under which the conversation knows them. The parts of rows that are named go without
// saying.
func (u *undoing) word(ctx context.Context) error {
	for _, s := range u.steps {
		if len(s.result.Changes) == 0 || slices.ContainsFunc(u.steps, func(of *step) bool { return of.entity.Child(s.entity.Table) != nil }) {
			continue
		}
		entries, err := u.registry.Lookup(ctx, s.result.Refs)
		if err != nil {
			return err
		}
		var rows, drafts []string
		for _, ref := range s.result.Refs {
			switch e := entries[ref]; {
			case e == nil || e.LabelIsPlaceholder:
			case e.Pending():
				drafts = append(drafts, e.Label)
			default:
				rows = append(rows, e.Label)
			}
		}
		var parts []string
		if n := len(s.result.Changes) - len(drafts); n > 0 {
			parts = append(parts, s.undoneRows(rows, n))
		}
		if len(drafts) == 1 {
			parts = append(parts, drafts[0]+" is a draft again")
		} else if len(drafts) > 1 {
			parts = append(parts, InShort(drafts, len(drafts))+" are drafts again")
		}
		s.undone = strings.Join(parts, "; ")
	}

	return nil
}

// undoneVerbs say what an undo did to rows, by the action that it is recorded as.
var undoneVerbs = map[string]string{registry.ActionDeletedUser: "deleted", registry.ActionCreatedUser: "brought back", registry.ActionUpdatedUser: "set back"}

// undoneRows says what happened to n stored rows. A part is often called like what it points to: "deleted Milk" would be the wrong milk.
func (s *step) undoneRows(names []string, n int) string {
	action, part := s.result.Changes[0].Action, ""
	if action == registry.ActionUpdatedUser && len(names) > 0 && n == len(s.result.Changes) {
		names = s.result.linesAgain(s.entity) // what they are again, not only which
	}
	switch {
	case len(names) == 0:
		names, n = []string{counted(n, s.entity.Name, s.entity.Plural)}, 1
	case s.entity.Part && n == 1:
		part = "the " + s.entity.Name + " "
	case s.entity.Part:
		part = "the " + s.entity.Plural + " "
	}

	return cmp.Or(undoneVerbs[action], "changed") + " " + part + InShort(names, n)
}
