package crud

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/registry"
)

// CanBeUndone is said when rows are deleted that can be restored.
const CanBeUndone = "This can be undone."

// shallI ends a question that asks for permission.
const shallI = "Shall I?"

// prospect says whether the recorded writes can be undone: it names what cannot be, or says that deleted rows can be
// restored; otherwise it is "".
func (j *journal) prospect() string {
	var lost []string
	deletes := false
	for _, w := range j.writes {
		if deletes = deletes || w.Action == registry.ActionDeleted; w.Lost != nil && !slices.Contains(lost, *w.Lost) {
			lost = append(lost, *w.Lost)
		}
	}
	if len(lost) == 0 && deletes {
		return CanBeUndone
	}

	return strings.Join(lost, " ")
}

// aftermath names the tables whose triggers may write elsewhere, which an undo does not reverse.
func (j *journal) aftermath() string {
	var tables []string
	for _, w := range j.writes {
		if w.entity != nil && w.entity.Reacts && !slices.Contains(tables, w.entity.Plural) {
			tables = append(tables, w.entity.Plural)
		}
	}
	if len(tables) == 0 {
		return ""
	}

	return "What the database itself writes elsewhere after changes of " + strings.Join(tables, ", ") + " is not undone."
}

// warn completes the question: it adds the operations that go with what is asked about, though nobody need be asked about
// them alone, and whether all that can be undone.
func (d *decision) warn(ctx context.Context, tx pgx.Tx) error {
	if d.approval == nil {
		return nil
	}
	would := &journal{tools: d.tools}
	for _, s := range d.steps {
		switch op := s.op.(type) {
		case *deleteOp:
			if err := would.deleting(ctx, tx, op.entity, op.keys); err != nil {
				return err
			}
		case *operateOp:
			would.called(op.declared, op.this, nil)
			if s.asks {
				continue
			}
			text, err := op.sentence(ctx, d, tx) // it has been carried out: a preview would speak of what comes next
			if err != nil {
				return err
			}
			d.ask(text)
		}
	}
	for _, text := range []string{would.prospect(), would.aftermath(), shallI} {
		if text != "" {
			d.ask(text)
		}
	}

	return nil
}
