package crud

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/registry"
)

// shallI ends a question that asks for permission.
const shallI = "Shall I?"

// changedSinceAsked begins a question that is asked again.
const changedSinceAsked = "This has changed since I asked."

// undoNotice says whether the recorded writes can be undone: it names what cannot be, or says that deleted rows can be
// restored; otherwise it is "".
func (j *journal) undoNotice() string {
	var lost []string
	deletes := false
	for _, w := range j.writes {
		if deletes = deletes || w.Action == registry.ActionDeleted; w.Lost != nil && !slices.Contains(lost, *w.Lost) {
			lost = append(lost, *w.Lost)
		}
	}
	if len(lost) == 0 && deletes {
		return vocab.CanBeUndone
	}

	return strings.Join(lost, " ")
}

// triggerNotice names the tables whose triggers may write elsewhere, which an undo does not reverse.
func (j *journal) triggerNotice() string {
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

// wordApproval words the question: what the user is asked about and what would be deleted with it, whether that can be
// undone, and the decision's other writes, because a no is one to them too.
func (d *decision) wordApproval(ctx context.Context, tx pgx.Tx) error {
	if d.approval == nil {
		return nil
	}
	would, err := d.simulated(ctx, tx)
	if err != nil {
		return err
	}
	var said []string
	if d.again {
		said = append(said, changedSinceAsked)
	}
	asks := func(s *step) bool { return s.asks }
	alone := func(s *step) bool { return !s.asks }
	for _, s := range append(only(d.steps, asks), only(d.steps, alone)...) {
		text, err := d.effectInWords(ctx, tx, s)
		if err != nil {
			return err
		}
		_, operates := s.op.(*operateOp)
		if operates || !slices.Contains(said, text) { // once for calls that write rows in one way
			said = append(said, text)
		}
	}
	said = append(said, would.undoNotice(), would.triggerNotice(), shallI)
	d.approval.Text = strings.Join(slices.DeleteFunc(said, blank), " ")

	return nil
}

// simulated is a journal of what the decision's deletions and operations would do.
func (d *decision) simulated(ctx context.Context, tx pgx.Tx) (*journal, error) {
	would := &journal{tools: d.tools, counts: true}
	for _, s := range d.steps {
		switch op := s.op.(type) {
		case *deleteOp:
			if s.deletes == nil {
				one := &journal{tools: d.tools, counts: true}
				if err := one.recordDeletions(ctx, tx, op.entity, op.keys); err != nil {
					return nil, err
				}
				s.deletes = one.concerned()
			}
			would.writes = append(would.writes, only(s.deletes, func(w *rowChange) bool { return w.Action != actionLeft })...)
		case *operateOp:
			would.recordCall(op.declared, op.this, nil)
		}
	}

	return would, nil
}

// effectInWords says what a call would do, "" for nothing.
func (d *decision) effectInWords(ctx context.Context, tx pgx.Tx, s *step) (text string, err error) {
	switch op := s.op.(type) {
	case *createOp, *deleteOp, *updateOp:
		text, err = d.questionText(ctx, tx, s)
		switch {
		case err != nil || text == "":
			return "", err
		case s.call.Tool == vocab.ToolDelete:
			text += d.dependentsInWords(s)
		}

		return text + ".", nil
	case *operateOp:
		if s.asks {
			return s.preview, nil
		}

		return op.callInWords(ctx, tx) // it has been carried out: a preview would speak of what comes next
	default:
		return "", nil
	}
}

// dependentsInWords counts the rows that are deleted with those of a question or lose their reference to them, except
// those that the decision deletes by calls of their own: ", with its 14 tasks and 2 notes; 1 plan would no longer name
// it"; "" for nothing.
func (d *decision) dependentsInWords(s *step) string {
	known := namedRows(only(d.steps, func(one *step) bool { return one.deletes != nil }))
	whose, whom := "its ", "it"
	if len(targetsOf(d.callsLike(s))) > 1 {
		whose, whom = "their ", "them"
	}
	ofType := only(d.steps, func(one *step) bool { return one.entity == s.entity })
	writes := deletions(ofType)
	text := ""
	if gone := d.tools.countedByType(writes, registry.ActionDeleted, known); gone != "" {
		text = ", with " + whose + gone
	}
	if left := d.tools.countedByType(writes, registry.ActionUpdated, known); left != "" {
		text += "; " + left + " would no longer name " + whom
	}
	if left := d.tools.countedByType(writes, actionLeft, known); left != "" {
		text += "; " + left + " would be left without " + whom
	}

	return text
}

// namedRows are the rows that calls name themselves.
func namedRows(steps []*step) map[rowKey]bool {
	rows := map[rowKey]bool{}
	for _, s := range steps {
		for _, key := range s.keys {
			rows[rowKey{s.entity.Type, key}] = true
		}
	}

	return rows
}

// deletions are what calls delete or change with their rows, and what goes on naming these.
func deletions(steps []*step) []*rowChange {
	return slices.Concat(each(steps, func(s *step) []*rowChange { return s.deletes })...)
}

// countedByType counts, by type, the rows that deletions concern in a way, and are not known yet.
func (t *Tools) countedByType(writes []*rowChange, action string, known map[rowKey]bool) string {
	counts := map[*domain.Entity]int{}
	for _, w := range writes {
		if w.Action == action && !known[w.at()] {
			known[w.at()] = true
			counts[w.entity]++
		}
	}
	var rows []string
	for _, e := range t.domain.Entities {
		if counts[e] > 0 {
			rows = append(rows, counted(counts[e], e.Name, e.Plural))
		}
	}

	return joinLast(rows, " and ")
}

// fewParts is up to how many parts of rows go with them without a word: a recipe's ingredients, but not a project's issues.
const fewParts = 25

// cascadeNotice says what went with deleted rows about which nobody was asked, and what goes on naming them: "Deleted with it: 400
// issues and 716 comments. Left without it: 1 tag.". That a row's few parts go with it goes without saying.
func (d *decision) cascadeNotice() string {
	asked := func(s *step) bool { return s.approved || s.agreed }
	done := only(d.steps, func(s *step) bool {
		op, deletes := s.op.(*deleteOp)

		return deletes && op.done && s.fault == nil && !asked(s)
	})
	named := namedRows(done)
	with := only(deletions(done), func(w *rowChange) bool { return w.Action == registry.ActionDeleted && !named[w.at()] })
	gone, whom := "Deleted", "it"
	if slices.ContainsFunc(done, func(s *step) bool { return s.entity.Marks }) { // nothing goes with a row that is marked, but it is not shown either
		gone = "Gone"
	}
	if len(named) > 1 {
		whom = "them"
	}
	counts := d.tools.countedByType(with, registry.ActionDeleted, named)
	var said []string
	if len(with) > fewParts || slices.ContainsFunc(with, func(w *rowChange) bool { return !w.entity.Part }) {
		said = append(said, gone+" with "+whom+": "+counts+".")
	}
	if left := d.tools.countedByType(deletions(done), actionLeft, named); left != "" {
		said = append(said, "Left without "+whom+": "+left+".")
	}

	return strings.Join(said, " ")
}
