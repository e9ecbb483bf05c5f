package crud

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/registry"
)

// operation is one parsed call. run works under the tenant's role; record afterwards replaces keys by refs as the
// engine, the only role that may write the registry.
type operation interface {
	run(ctx context.Context, d *decision, tx pgx.Tx) error
	record(ctx context.Context, d *decision, tx pgx.Tx) (Result, error)
}

// recorded registers rows that a call read or wrote and returns them with refs in place of keys. Rows of other types than
// the call's, which operations change, say so.
func (s *step) recorded(ctx context.Context, d *decision, tx pgx.Tx, parts ...registry.Result) (Result, error) {
	translated, err := d.translate(ctx, tx, parts...)
	if err != nil {
		return Result{}, err
	}
	var result Result
	for i, part := range parts {
		for _, row := range translated[i].Rows {
			dropUnrequested(part.Entity, row, s.call.Tool == vocab.ToolRead)
			if part.Entity != s.entity {
				row[vocab.TypeField] = part.Entity.Type
			}
			if d.tools.domain.Operation(s.call.Tool) != nil {
				row[vocab.ActionField] = part.Action
			}
			result.rows = append(result.rows, row)
		}
		result.Refs = append(result.Refs, translated[i].Refs...)
		result.RowCount += len(part.Rows)
		result.Changes = append(result.Changes, changesOf(part)...)
	}

	return result, nil
}

// changesOf lists the rows of a result that were written.
func changesOf(part registry.Result) []Change {
	if part.Action == registry.ActionRead {
		return nil
	}

	return each(part.Rows, func(row map[string]any) Change {
		return Change{ID: keyText(row, part.Entity), Action: part.Action}
	})
}

// decision is one decision while it runs.
type decision struct {
	tools    *Tools
	scope    registry.Scope
	bounds   Bounds
	prepared Prepared
	registry *registry.Registry
	steps    []*step
	approval *Approval
	again    bool // the user is asked again
	journal  *journal
	// drafted are the versions of drafts that this decision made, by ref.
	drafted map[string]int
	// written is what the calls have written so far; running is the call that does now.
	written []writtenRows
	running int
	merging bool // its merges are locked
	// newer are rows that have changed since the decision was made, to be shown.
	newer *newer
}

// step is one call of the decision.
type step struct {
	call   vocab.Call
	op     operation
	entity *domain.Entity
	found  *loaded  // the rows that it is to change
	keys   []string // rows that the user approved; nil if no question was asked
	// versions are the versions of keys.
	versions map[string]string
	// approved: the user agreed to an operation after being told preview.
	approved bool
	preview  string       // what the user is asked about an operation
	agreed   bool         // the answer to a question covers it
	unasked  bool         // nobody has to be asked
	asks     bool         // the user is asked about the keys
	deletes  []*rowChange // with what goes with the keys, or on naming them, once a question needs it
	undone   string       // what an undo did to its rows, in words
	result   Result
	fault    *Error
}

// Bounds are what a step may do: which tools, on which tables.
type Bounds struct {
	StepType string
	Tables   []string            // that its calls may name; nil: any
	Writable map[string][]string // of these, the tables each write tool may name; nil: any
	// Operations that a write step may run; nil: any.
	Operations []string
	// Message is what the user said: what it names may be deleted without being asked about.
	Message string
	// Done is what the step's earlier calls did, by their fingerprint.
	Done map[string]string
	// Agreed are the calls that the user was asked about and has answered: fewer of their rows need no other question.
	Agreed []ApprovedCall
	// Deleted are the labels of rows that the turn was the first to find and has deleted.
	Deleted []string
	// Seen is what the decision was based on.
	Seen Seen
}

// Execute runs one decision's calls in the caller's transaction, all or none, and
// writes their results.
//
// A faulty call is reported in the Outcome; an error means that the database failed,
// and the caller's transaction with it.
func (t *Tools) Execute(ctx context.Context, tx pgx.Tx, scope registry.Scope, bounds Bounds, prepared Prepared) (Outcome, error) {
	d := &decision{tools: t, scope: scope, bounds: bounds, prepared: prepared}
	for _, call := range prepared.calls {
		d.steps = append(d.steps, &step{call: call})
	}

	return d.execute(ctx, tx)
}

// ExecuteApproved runs the calls that the user has agreed to, on exactly the rows the question was about. Rows that no
// longer exist are skipped.
func (t *Tools) ExecuteApproved(ctx context.Context, tx pgx.Tx, scope registry.Scope, calls []ApprovedCall) (Outcome, error) {
	d := &decision{tools: t, scope: scope, bounds: Bounds{StepType: vocab.StepWrite}}
	for _, approved := range calls {
		keys := approved.Keys
		if keys == nil && (approved.Tool == vocab.ToolUpdate || approved.Tool == vocab.ToolDelete) {
			keys = []string{} // nothing was approved, which differs from everything
		}
		d.steps = append(d.steps, &step{call: approved.Call, keys: keys, versions: approved.Versions, approved: true, preview: approved.Preview})
	}

	return d.execute(ctx, tx)
}

func (d *decision) execute(ctx context.Context, tx pgx.Tx) (Outcome, error) {
	err := pg.InTx(ctx, tx, func(tx pgx.Tx) error { return d.run(ctx, tx) })
	if err = d.markFailed(ctx, tx, err); err != nil {
		return Outcome{}, err
	}
	if err = d.showNewer(ctx, tx); err != nil {
		return Outcome{}, err
	}

	return d.store(ctx, tx)
}

// run does the work under a savepoint; an error undoes all of it.
func (d *decision) run(ctx context.Context, tx pgx.Tx) error {
	d.registry, d.journal = registry.New(tx, d.tools.domain, d.scope), &journal{tools: d.tools}
	d.drafted, d.written = map[string]int{}, nil
	if err := d.parse(); err != nil {
		return err
	}
	if slices.ContainsFunc(d.steps, (*step).merges) { // a lock taken later would be a round trip of its own
		if err := d.lockMerges(ctx, tx); err != nil {
			return err
		}
	}
	err := pg.ActAsTenant(ctx, tx, d.scope.UserID, func(tenant pgx.Tx) error { return d.act(ctx, tenant) })
	if err != nil {
		return err
	}
	if d.approval != nil {
		d.approval.Calls = d.approvedCalls()

		return errApproval
	}
	for i, s := range d.steps {
		if s.result, err = s.op.record(ctx, d, tx); err != nil {
			return d.failed(i, err)
		}
	}

	return nil
}

// parse checks all calls before any is made, so that their faults are reported together.
func (d *decision) parse() error {
	var first error
	made := map[string]bool{}
	for i, s := range d.steps {
		s.op, s.fault = d.operation(s)
		if s.fault == nil {
			s.fault = d.repeated(s.call, made)
		}
		if s.fault != nil && first == nil {
			first = d.failed(i, s.fault)
		}
	}

	return first
}

// act makes the calls as the tenant.
func (d *decision) act(ctx context.Context, tenant pgx.Tx) error {
	settling := settling{tools: d.tools}
	for i, s := range d.steps {
		d.running = i
		err := traced(ctx, s.call.Tool, func(ctx context.Context) error { return s.op.run(ctx, d, tenant) })
		if err != nil {
			return d.failed(i, err)
		}
		if err := settling.after(ctx, tenant, s, i == len(d.steps)-1, callError{index: i, entity: s.entity}); err != nil {
			return err
		}
	}
	if err := d.checkWritten(ctx, tenant); err != nil {
		return err
	}
	if err := d.wordApproval(ctx, tenant); err != nil {
		return err
	}
	if d.approval != nil {
		return d.rehearse(ctx, tenant)
	}

	return d.journal.readResult(ctx, tenant)
}

// rehearse makes the calls that wait for the user's word, all of which is then rolled back: nobody is asked for what the
// database refuses. The owner's functions do not run without that word: what they do outside the database would stay.
func (d *decision) rehearse(ctx context.Context, tenant pgx.Tx) error {
	for i, s := range d.steps {
		err := d.rehearseCall(ctx, tenant, s)
		if fault, ok := errors.AsType[*Error](err); ok && fault.Code == CodeStale {
			continue // an earlier call has taken some of the rows along, as it will have by then
		}
		if err != nil {
			return d.failed(i, err)
		}
	}

	return nil
}

// rehearseCall writes what a call has not written yet.
func (d *decision) rehearseCall(ctx context.Context, tenant pgx.Tx, s *step) (err error) {
	deletion, deletes := s.op.(*deleteOp)
	update, updates := s.op.(*updateOp)
	switch {
	case s.hasTriggers():
	case deletes && !deletion.done && len(s.keys) > 0:
		err = d.deleteRows(ctx, tenant, s.entity, s.keys)
	case updates && update.after == nil && len(s.found.Rows) > 0:
		_, err = d.update(ctx, tenant, s.entity, s.found.keys(), update.written)
	}

	return err
}

// hasTriggers reports whether triggers of the owner's run after the call.
func (s *step) hasTriggers() bool {
	return s.entity != nil && s.entity.Reacts || slices.ContainsFunc(s.deletes, func(w *rowChange) bool { return w.entity.Reacts && w.Action != actionLeft })
}

func (d *decision) failed(i int, err error) error {
	return &callError{index: i, entity: d.steps[i].entity, err: err}
}

// traced records a tool's run as a span, if ctx is traced.
func traced(ctx context.Context, tool string, run func(context.Context) error) error {
	ctx, span := trace.SpanFromContext(ctx).TracerProvider().Tracer("alfred").Start(ctx, "execute_tool "+tool, trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", tool)))
	defer span.End()
	err := run(ctx)
	if err != nil {
		span.SetStatus(codes.Error, "failed") // the text may quote rows
	}

	return err
}

// errApproval rolls back a decision that needs the user's approval.
var errApproval = errors.New("the user has to agree")

// operation parses a call and checks that this step may make it.
func (d *decision) operation(s *step) (operation, *Error) {
	if o := d.tools.domain.Operation(s.call.Tool); o != nil && d.bounds.StepType == vocab.StepWrite && (d.bounds.Operations == nil || slices.Contains(d.bounds.Operations, o.Name)) {
		return newOperation(s, o)
	}
	allowed := vocab.StepTools(d.bounds.StepType)
	if !slices.Contains(vocab.DataTools(), s.call.Tool) {
		return nil, fail(CodeUnknownTool, "There is no tool %s; this step may use %s.", registry.Scrub(s.call.Tool), strings.Join(allowed, ", "))
	}
	if !slices.Contains(allowed, s.call.Tool) {
		return nil, fail(CodeWrongStep, "Steps of type %s may not use %s; they may use %s.", d.bounds.StepType, registry.Scrub(s.call.Tool), strings.Join(allowed, ", "))
	}
	build := map[string]func(*step) (operation, *Error){
		vocab.ToolAnalyze: d.newAnalyze, vocab.ToolCalculate: d.newCalculate, vocab.ToolCreate: d.newCreate, vocab.ToolDelete: d.newDelete,
		vocab.ToolGenerate: d.newGenerate, vocab.ToolRead: d.newRead, vocab.ToolRecall: d.newRecall, vocab.ToolUpdate: d.newUpdate,
	}

	return build[s.call.Tool](s)
}

// markFailed finds the call an error belongs to and marks all calls as failed. It
// returns errors that belong to no call.
func (d *decision) markFailed(ctx context.Context, tx pgx.Tx, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, errApproval) {
		d.journal = &journal{}
		for _, s := range d.steps {
			s.fault = fail(CodeApprovalNeeded, "Nothing was changed: the user has to agree first.")
		}

		return nil
	}
	at, ok := errors.AsType[*callError](err)
	if !ok {
		return err
	}
	err = d.tools.explained(ctx, tx, d.scope.UserID, at.entity, at.err)
	fault, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	fault.Message += d.otherOrder(fault, at.index)
	d.journal, d.approval = &journal{}, nil // nobody is asked about a decision that has failed
	for i, s := range d.steps {
		s.result = Result{}
		switch {
		case i == at.index:
			s.fault = fault
		case s.fault == nil:
			s.fault = cmp.Or(s.valueFaults(), fail(CodeNotExecuted, "Not carried out, because another call of the same answer failed. It has to be called again."))
		}
	}

	return nil
}

// explained converts an error that concerns a model or a user interface to an *Error, and returns any other unchanged.
func (t *Tools) explained(ctx context.Context, tx pgx.Tx, user uuid.UUID, e *domain.Entity, err error) error {
	if found, ok := errors.AsType[*unworded](err); ok {
		err = found.word(ctx, tx, user)
	}
	if changed := t.schemaChange(ctx, tx, e, err); changed != nil {
		return changed
	}
	_, refused := errors.AsType[*pgconn.PgError](err)
	err = explainPgError(ctx, tx, user, t.domain.Schema, e, err)
	if fault, ok := errors.AsType[*Error](err); ok {
		fault.Refused = refused

		return fault
	}
	if fault := refFault(err); fault != nil {
		return fault
	}

	return err
}

// refFault is an error about refs for a model; nil for any other.
func refFault(err error) *Error {
	if refs, ok := errors.AsType[registry.RefErrors](err); ok {
		return &Error{Code: refCode(refs[0].Reason), Message: refs.Error()}
	}

	return nil
}

func refCode(reason registry.Reason) Code {
	switch reason {
	case registry.ReasonPending:
		return CodePendingRef
	case registry.ReasonWrongType, registry.ReasonSaved:
		return CodeTypeMismatch
	default:
		return CodeUnknownRef
	}
}
