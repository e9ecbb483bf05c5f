package view

import (
	"cmp"
	"slices"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/registry"
)

// Effect is what one call did to rows of one type.
type Effect struct {
	Result *Result
	Kind   *domain.Entity
	Refs   []string
	Tool   string // by which it would have been done, had it not been an operation
	Again  bool   // a read that also found rows which this turn wrote
}

// Effects assigns each row to the call that last touched it, so that it is reported once. A row that was written stays with
// its write: reported as found, it would seem unchanged. The step of an undo says what that did, so a read of the same rows is
// reported, too.
func (t *Scene) Effects() []*Effect {
	told, wrote := map[string]bool{}, t.wrote()
	var effects []*Effect
	for _, r := range slices.Backward(t.OwnResults()) {
		if r.hasRows() && t.typeOf(r) != nil {
			of := t.effectsOf(r, told, wrote)
			slices.Reverse(of)
			effects = append(effects, of...)
		}
	}
	slices.Reverse(effects)

	return effects
}

// effectsOf are the effects of one call. told are the rows of the calls after it.
func (t *Scene) effectsOf(r *Result, told, wrote map[string]bool) (of []*Effect) {
	for _, columns := range r.Rows {
		d := effectOf(&of, r, cmp.Or(t.kindOf(r, columns), t.typeOf(r)), toolOf(r, columns))
		ref, _ := columns[d.Kind.Key.Name].(string)
		switch {
		case toolOf(r, columns) == vocab.ToolRead && wrote[ref]:
			d.Again = true
		case t.ByRef[ref] != nil && (!told[ref] || r.Tool == vocab.ToolUndo):
			told[ref] = true
			d.Refs = append(d.Refs, ref)
		}
	}
	if len(of) == 0 {
		effectOf(&of, r, t.typeOf(r), r.Tool)
	}

	return of
}

// toolOf is the tool by which a row would have been created or deleted as an operation has, else the call's own. An update that
// changed nothing only found its rows.
func toolOf(r *Result, columns map[string]any) string {
	switch action := columns[vocab.ActionField]; {
	case action == registry.ActionCreated:
		return vocab.ToolCreate
	case action == registry.ActionDeleted:
		return vocab.ToolDelete
	case r.Tool == vocab.ToolUpdate && r.RowCount == 0:
		return vocab.ToolRead
	default:
		return r.Tool
	}
}

// effectOf is the one of a call's effects that did the same to rows of a type.
func effectOf(of *[]*Effect, r *Result, kind *domain.Entity, tool string) *Effect {
	for _, d := range *of {
		if d.Kind == kind && d.Tool == tool {
			return d
		}
	}
	d := &Effect{Result: r, Kind: kind, Tool: tool}
	*of = append(*of, d)

	return d
}

// hasRows reports whether a call of the plan found or wrote rows.
func (r *Result) hasRows() bool {
	return !r.Failed() && r.Step > 0 && vocab.CarriesRows(r.Tool)
}

// wrote are the rows that this turn's calls wrote: that it looked at them again afterwards is no news.
func (t *Scene) wrote() map[string]bool {
	refs := map[string]bool{}
	for _, r := range t.OwnResults() {
		if toolOf(r, nil) == vocab.ToolRead || r.Tool == vocab.ToolUndo || !r.hasRows() {
			continue
		}
		for _, ref := range r.Refs {
			refs[ref] = true
		}
	}

	return refs
}

// NestedRefs returns the child rows that appear below their parent; true means that the parent's newest value is this
// turn's.
func (t *Scene) NestedRefs() map[string]bool {
	return t.ChildRows(func(parent *Row) bool { return parent.Turn == t.Number })
}

// ChildRows returns the child rows of all rows; true means that one of their parents is so.
func (t *Scene) ChildRows(is func(parent *Row) bool) map[string]bool {
	below := map[string]bool{}
	for _, r := range t.Rows.ByRef {
		for _, refs := range r.Children {
			for _, ref := range refs {
				below[ref] = below[ref] || is(r)
			}
		}
	}

	return below
}

// WroteNothing returns the write steps of a turn that wrote nothing.
func (t *Scene) WroteNothing() []*db.TurnSteps {
	for _, d := range t.Effects() {
		if d.Tool != vocab.ToolRead && (len(d.Refs) > 0 || t.Domain.Operation(d.Result.Tool) != nil) { // an operation may write what no type shows
			return nil
		}
	}

	return Filter(t.Steps, func(step *db.TurnSteps) bool { return step.StepType == db.StepTypeWrite })
}
