package crud

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/vocab"
	"alfred/registry"
)

const (
	// maxUnasked is how many rows a call may change without approval.
	maxUnasked = 10

	// namedInQuestion is how many rows a question names, and how many values of one without a name.
	namedInQuestion = 5
)

// targets finds and locks the rows of an update or delete. If the user has to agree first, it sets d.approval. Approved
// rows are used as approved, without their filters.
func (d *decision) targets(ctx context.Context, tx pgx.Tx, s *step, filters []registry.Filter) (err error) {
	if s.keys != nil {
		if s.found, err = lockRows(ctx, tx, s.entity, s.keys); err != nil {
			return err
		}

		return d.askAgain(ctx, tx, s)
	}
	list, err := d.writeConditions(ctx, tx, s.entity, filters)
	if err != nil {
		return err
	}
	if s.found, err = d.findTargets(ctx, tx, s.entity, list); err != nil {
		return err
	}
	ask, err := d.mustAsk(ctx, tx, s, list)
	if err == nil && ask {
		s.agreed, err = d.hasAgreed(ctx, tx, s)
	}
	if err == nil {
		d.noteTargets(s, ask && !s.agreed)
	}

	return err
}

// findTargets finds and locks the rows that conditions mean, which have to be as the decision's prompt showed them.
func (d *decision) findTargets(ctx context.Context, tx pgx.Tx, e *domain.Entity, list []condition) (*loaded, error) {
	if err := prepareUnranked(ctx, tx, e, list, "find the rows with db_read and name them"); err != nil {
		return nil, err
	}
	found, err := load(ctx, tx, e, &query{sel: ownColumns(e), lock: true, filters: list})
	if err != nil {
		return nil, err
	}
	keepClosest(e, found, list)
	if fault := requireMatch(e, found, list); fault != nil {
		return nil, fault
	}

	return found, d.requireSeen(ctx, tx, e, found)
}

// takesOthers records what a deletion would take along, if that may include other people's rows: people know their own.
func (t *Tools) takesOthers(ctx context.Context, tx pgx.Tx, found *loaded) (*journal, error) {
	would := &journal{tools: t, counts: true}
	if !t.domain.TakesOthers(found.Entity) {
		return would, nil
	}

	return would, would.recordDeletions(ctx, tx, found.Entity, found.keys())
}

// requireMatch refuses a write by ref whose other filters match no row: its precondition does not hold, and what follows must
// not happen either.
func requireMatch(e *domain.Entity, found *loaded, list []condition) *Error {
	switch {
	case !byRef(e, list) || len(found.Rows) > 0:
		return nil
	case len(list) == 1:
		return fail(CodeNotFound, "There is no such %s any more. Nothing was changed.", e.Name)
	default:
		return fail(CodeNotFound, "The %s that is named does not fit the other filters. Nothing was changed: read it again.", e.Name)
	}
}

// byRef reports whether conditions name the rows by their refs.
func byRef(e *domain.Entity, list []condition) bool {
	return slices.ContainsFunc(list, func(c condition) bool { return c.column == e.Key && (c.op == opEqual || c.op == opIn) })
}

// keepClosest reduces the rows found by name to those with exactly that name, if any, or else to those linked to exactly
// what the name means: "butter" changes the butter and leaves the peanut butter alone. A read shows both.
func keepClosest(e *domain.Entity, found *loaded, list []condition) {
	for i := range list {
		c := &list[i]
		if !c.isLookup(e) {
			continue
		}
		kept := map[string]bool{}
		for n := range c.texts {
			for _, row := range c.closest(e, n, found.Rows) {
				kept[keyText(row, e)] = true
			}
		}
		found.Rows = slices.DeleteFunc(found.Rows, func(row map[string]any) bool { return !kept[keyText(row, e)] })
	}
}

// closest returns the rows that best match the nth name of a lookup.
func (c *condition) closest(e *domain.Entity, n int, rows []map[string]any) []map[string]any {
	text, meant := c.texts[n], meaning{}
	if n < len(c.found) {
		meant = c.found[n]
	}
	name := func(row map[string]any) string { return fmt.Sprint(row[c.column.Name]) }
	exactly := func(row map[string]any) bool { return folded(name(row)) == folded(text) }
	linked := func(row map[string]any) bool {
		return e.Match != nil && row[e.Match.Link.Name] != nil && slices.Contains(meant.keys, fmt.Sprint(row[e.Match.Link.Name]))
	}
	partly := func(row map[string]any) bool {
		switch {
		case blank(text):
			return false
		case e.Match == nil && c.op != opSimilar: // part of a word suffices to show a row, not to change it
			return holdsWords(name(row), text) || slices.Equal(nameParts(name(row)), nameParts(text))
		default:
			return len(c.texts) == 1 || slices.ContainsFunc(append(meant.names, text), func(one string) bool { return holdsWords(name(row), one) })
		}
	}
	plainly := func(row map[string]any) bool { return domain.Plain(folded(name(row))) == domain.Plain(folded(text)) }
	for _, fits := range []func(map[string]any) bool{exactly, plainly, linked, partly} {
		if some := only(rows, fits); len(some) > 0 {
			return some
		}
	}

	return nil
}

// verbs maps tools to what they do to existing rows.
var verbs = map[string]domain.Verb{vocab.ToolUpdate: domain.Update, vocab.ToolDelete: domain.Delete}

// mustAsk reports whether the user has to agree to a call, because of its rows or because of others' that a deletion takes along.
func (d *decision) mustAsk(ctx context.Context, tx pgx.Tx, s *step, list []condition) (bool, error) {
	ask, err := d.mustAskForRows(ctx, s, list)
	if err != nil || ask || s.call.Tool != vocab.ToolDelete {
		return ask, err
	}
	would, err := d.tools.takesOthers(ctx, tx, s.found)
	s.deletes = would.concerned()

	return would.others, err
}

// mustAskForRows reports whether the user has to agree because of a call's rows. They are counted over all calls of a kind: what is
// split into many calls is no less.
func (d *decision) mustAskForRows(ctx context.Context, s *step, list []condition) (bool, error) {
	e, found, rows, deletes := s.entity, s.found, targetsOf(d.callsLike(s)), s.call.Tool == vocab.ToolDelete
	named := slices.ContainsFunc(list, func(c condition) bool { return c.namesRows(e) })
	switch {
	case len(found.Rows) == 0:
		return false, nil
	case slices.Contains(e.Approve, verbs[s.call.Tool]), len(list) == 0, len(rows) > maxUnasked:
		return true, nil // the declaration wants it, all rows are meant, or many
	case (deletes || e.Match == nil && !byRef(e, list)) && moreThanNamed(e, found, list):
		return true, nil // a change by a canonical look-up is meant for all variants of a thing, and refs say which rows are meant
	case named, byRef(e, list) && !deletes:
		return false, nil
	case byRef(e, list):
		return d.deletesUnknown(ctx, e, rows)
	}
	// A set of rows is changed unasked only if the session has seen some of it.
	entries, err := d.registry.LookupKeys(ctx, e.Type, found.keys())
	for _, entry := range entries {
		if entry.Action != registry.ActionLinked {
			return false, nil
		}
	}

	return true, err
}

// callsLike are a call and the decision's earlier calls that do the same to rows of its type, unless the user has agreed to these.
func (d *decision) callsLike(s *step) []*step {
	return only(d.steps, func(one *step) bool {
		return one.found != nil && !one.agreed && one.entity == s.entity && one.call.Tool == s.call.Tool
	})
}

// targetsOf are the rows of calls, each once.
func targetsOf(calls []*step) (rows []map[string]any) {
	known := map[string]bool{}
	for _, one := range calls {
		for _, row := range one.found.Rows {
			if key := keyText(row, one.entity); !known[key] {
				known[key], rows = true, append(rows, row)
			}
		}
	}

	return rows
}

// deletesUnknown reports whether this turn's deletions, including this one, take several rows that neither an earlier
// turn has found nor this turn's message names.
func (d *decision) deletesUnknown(ctx context.Context, e *domain.Entity, rows []map[string]any) (bool, error) {
	unnamed := func(label string) bool { return !namesRow(d.bounds.Message, label) }
	before := len(only(d.bounds.Deleted, unnamed))
	if before+len(rows) < 2 {
		return false, nil
	}
	entries, err := d.registry.LookupKeys(ctx, e.Type, textsIn(rows, e.Key))
	here := 0
	for _, entry := range entries {
		if entry.TurnCreated == d.scope.Turn && unnamed(entry.Label) {
			here++
		}
	}

	return here > 0 && here+before > 1, err
}

// namesRow reports whether a message names a row: by its label, or by each of the rows that it stands between.
func namesRow(message, label string) bool {
	return !slices.ContainsFunc(strings.Split(label, " · "), func(part string) bool { return !holdsWords(message, part) })
}

// moreThanNamed reports whether a name or a code finds more than one row, so that only the user can say which is meant.
func moreThanNamed(e *domain.Entity, found *loaded, list []condition) bool {
	return slices.ContainsFunc(list, func(c condition) bool {
		return c.namesRows(e) && len(found.Rows) > len(c.texts)
	})
}

// namesRows reports whether a condition says which rows are meant, by their names or codes.
func (c *condition) namesRows(e *domain.Entity) bool {
	return c.isLookup(e) || slices.Contains(e.Codes, c.column) && (c.op == opEqual || c.op == opIn)
}

// noteTargets keeps the rows for the question, should any call of the decision need one, and has the user asked about them.
func (d *decision) noteTargets(s *step, ask bool) {
	s.keys, s.versions = s.found.keys(), s.found.Versions[s.entity.Type]
	if ask {
		d.ask(s)
	}
}

// ask has the user asked about a call.
func (d *decision) ask(s *step) {
	s.asks, d.approval = true, cmp.Or(d.approval, &Approval{})
}

// approvedCalls returns all calls of a decision that awaits approval, with the rows that each would change.
func (d *decision) approvedCalls() []ApprovedCall {
	calls := make([]ApprovedCall, 0, len(d.steps))
	for _, s := range d.steps {
		one := ApprovedCall{Call: s.call, Keys: s.keys, Versions: s.versions, Preview: s.preview}
		if s.entity != nil {
			one.EntityType = s.entity.Type
		}
		calls = append(calls, one)
	}

	return calls
}

// hasAgreed reports whether the answer to a question covers a call that the user would have to be asked about: it makes
// the change that the question named, to fewer of its rows, which are as they were then. All of them need a plain yes: an
// answer in other words that changes nothing may have been misunderstood.
func (d *decision) hasAgreed(ctx context.Context, tx pgx.Tx, s *step) (bool, error) {
	agreed := map[string]string{} // versions by key
	for _, one := range d.bounds.Agreed {
		if d.sameChange(s, one) {
			maps.Copy(agreed, one.Versions)
		}
	}
	count := len(s.found.Rows)
	for _, one := range d.steps {
		if one.agreed && one.entity == s.entity {
			count += len(one.found.Rows)
		}
	}
	beyond := slices.ContainsFunc(s.found.keys(), func(key string) bool { return agreed[key] == "" })
	if beyond || count >= len(agreed) {
		return false, nil
	}
	changed, err := d.changedSince(ctx, tx, agreed, s.found.Versions[s.entity.Type])

	return len(changed) == 0, err
}

// sameChange reports whether a call does to its rows what one that the user has agreed to would have done.
func (d *decision) sameChange(s *step, agreed ApprovedCall) bool {
	if agreed.Tool != s.call.Tool || agreed.EntityType != s.entity.Type {
		return false
	}
	now, updates := s.op.(*updateOp)
	if !updates {
		return true
	}
	op, fault := d.newUpdate(&step{call: agreed.Call})
	then, _ := op.(*updateOp)

	return fault == nil && reflect.DeepEqual(now.args.Data, then.args.Data)
}

// Fingerprint is equal for calls that differ only in formatting.
func Fingerprint(c vocab.Call) string {
	var args any
	if err := exact.Decode(c.Args, &args); err != nil {
		return c.Tool + string(c.Args)
	}

	return c.Tool + string(encoded(args))
}

// repeated refuses a call that the decision or its step makes twice, if it does more then: a row is created twice, and a
// name finds the next best row once the best is deleted. made are the fingerprints of the decision's earlier ones.
// Models repeat themselves, so only the user's words could say that it is meant, and a model that means it can say it
// otherwise.
func (d *decision) repeated(call vocab.Call, made map[string]bool) *Error {
	if vocab.Reads(call.Tool) || call.Tool == vocab.ToolCalculate || call.Tool == vocab.ToolUpdate {
		return nil
	}
	is := Fingerprint(call)
	if told, done := d.bounds.Done[is]; done {
		return fail(CodeRepeated, "This step has already done that: %s. Leave it out, or call step_complete if nothing else is to be done.", registry.Scrub(told))
	}
	if made[is] {
		return fail(CodeRepeated, "The same %s stands twice in this answer. Leave one out; rows that are to be equal stand in one call.", call.Tool)
	}
	made[is] = true

	return nil
}
