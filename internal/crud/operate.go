package crud

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"alfred/internal/domain"
	"alfred/registry"
)

// operateOp calls a function of the domain's owner.
type operateOp struct {
	declared *domain.Operation
	args     map[string]any // with refs
	keys     map[string]any // with keys
	step     *step
	before   map[string]map[string]string // versions by type and key
	named    map[string]string            // versions of the rows that the arguments name, by type and key
	told     []string
	changed  []registry.Result
	this     string
}

// operationTimeout bounds a function: an endless loop must not block a turn and the rows it has locked.
const operationTimeout = "10s"

func newOperation(s *step, o *domain.Operation) (*operateOp, *Error) {
	op := &operateOp{declared: o, step: s}
	s.entity = o.On
	if err := parse(s.call, &op.args); err != nil {
		return nil, err
	}

	return op, op.check()
}

// check compares the arguments with the declared ones.
func (op *operateOp) check() *Error {
	o := op.declared
	for _, name := range slices.Sorted(maps.Keys(op.args)) {
		if o.Args.Column(name) == nil {
			return fail(CodeBadArgument, "%s has no argument %s; it has %s.", o.Name, registry.Scrub(name), visibleNames(o.Args))
		}
	}
	for _, c := range o.Args.Columns {
		if op.args[c.Name] == nil && !c.HasDefault {
			return failColumn(CodeBadArgument, c.Name, "%s needs %s.", o.Name, c.Name)
		}
	}

	return nil
}

func (op *operateOp) run(ctx context.Context, d *decision, tx pgx.Tx) error {
	translated, err := d.registry.TranslatePayload(ctx, op.declared.Args, op.args)
	if err != nil {
		return err
	}
	op.keys = translated[0]

	return op.carryOut(ctx, d, tx)
}

// carryOut is run with keys in place of refs.
func (op *operateOp) carryOut(ctx context.Context, d *decision, tx pgx.Tx) error {
	for _, c := range op.declared.Args.Columns {
		value, fault := stored(c, fromText(c, op.keys[c.Name]))
		if fault != nil {
			return fault
		}
		op.keys[c.Name] = value
	}
	op.this = fmt.Sprint(op.keys[op.declared.This])
	if err := op.lockArguments(ctx, d, tx); err != nil {
		return err
	}
	ask, err := op.mustAsk(ctx, d, tx)
	if err != nil || ask {
		return err
	}
	d.journal.recordCall(op.declared, op.this, op.keys)
	if op.before, err = op.versions(ctx, d, tx); err != nil {
		return err
	}
	if op.told, err = op.call(ctx, tx, op.declared.Call); err != nil {
		return err
	}
	if err := op.compare(ctx, d, tx); err != nil {
		return err
	}
	for _, one := range op.changed {
		d.journal.recordReached(op.declared, one.Entity, one.Rows)
	}

	return nil
}

// lockArguments locks the rows that the arguments name. Rows the user cannot see do not exist.
func (op *operateOp) lockArguments(ctx context.Context, d *decision, tx pgx.Tx) error {
	op.named = map[string]string{}
	for _, c := range op.declared.Args.Columns {
		value := op.keys[c.Name]
		if c.FK == nil || value == nil {
			continue
		}
		keys := each(asList(value), func(key any) string { return fmt.Sprint(key) })
		slices.Sort(keys)
		keys = slices.Compact(keys)
		e := c.Target()
		found, err := lockRows(ctx, tx, e, keys)
		if err != nil {
			return err
		}
		if len(found.Rows) != len(keys) {
			return failColumn(CodeNotFound, c.Name, "%s names a %s that does not exist.", c.Name, e.Name)
		}
		if err := d.requireSeen(ctx, tx, e, found); err != nil {
			return err
		}
		for key, version := range found.Versions[e.Type] {
			op.named[e.Type+" "+key] = version
		}
	}

	return nil
}

// mustAsk follows the declaration on when the user has to agree. The user agrees to what was shown: if the function
// would now do something else, it asks again.
func (op *operateOp) mustAsk(ctx context.Context, d *decision, tx pgx.Tx) (bool, error) {
	if op.step.unasked {
		return false, nil
	}
	needed, err := op.needsConfirmation(ctx, tx)
	if err != nil {
		return false, err
	}
	// If the owner has a preview function, its sentences are what the user agreed to, not the rows.
	changed := op.step.approved && op.declared.Preview == "" && op.step.versions != nil && !maps.Equal(op.step.versions, op.named)
	op.step.versions = op.named
	if !needed && !changed {
		return false, nil
	}
	text, err := op.previewText(ctx, tx)
	if err != nil {
		return false, err
	}
	if op.step.approved && op.step.preview == text && !changed {
		return false, nil
	}
	op.step.preview = text
	if op.step.agreed = d.hasAgreedTo(op); op.step.agreed {
		return false, nil
	}
	d.again = d.again || op.step.approved
	d.ask(op.step)

	return true, nil
}

// hasAgreedTo reports whether the answer to a question covers the call: it is one of those that the question named, of which the decision
// leaves some out, and would do what was told of it then.
func (d *decision) hasAgreedTo(op *operateOp) bool {
	named := func(s *step) int {
		return slices.IndexFunc(d.bounds.Agreed, func(one ApprovedCall) bool { return Fingerprint(one.Call) == Fingerprint(s.call) })
	}
	at := named(op.step)
	if at < 0 || len(only(d.steps, func(s *step) bool { return named(s) >= 0 })) >= len(d.bounds.Agreed) {
		return false
	}
	asked := d.bounds.Agreed[at]

	return asked.Preview == op.step.preview && (op.declared.Preview != "" || maps.Equal(asked.Versions, op.named))
}

func (op *operateOp) needsConfirmation(ctx context.Context, tx pgx.Tx) (bool, error) {
	switch c := op.declared.Confirm; {
	case c.Never:
		return false, nil
	case c.When == "":
		return true, nil
	default:
		e := op.declared.On
		s := &statement{}
		s.add("SELECT coalesce((", c.When, "), true) FROM ", e.SQL(), " WHERE ", e.Qualified(e.Key), " = ", s.cast(op.this, e.Key.Type))
		var ask bool
		if err := tx.QueryRow(ctx, s.String(), s.args...).Scan(&ask); err != nil {
			return true, fmt.Errorf("ask whether %s needs a confirmation: %w", op.declared.Name, err)
		}

		return ask, nil
	}
}

// call calls a function with named arguments; omitted ones have their defaults. It returns the function's text, if any.
func (op *operateOp) call(ctx context.Context, tx pgx.Tx, function string) ([]string, error) {
	s := &statement{}
	var args []string
	for _, c := range op.declared.Args.Columns {
		if op.keys[c.Name] == nil && c.HasDefault {
			continue
		}
		// The function determines the types; the tenant may not be allowed to name them.
		args = append(args, quoted(c.Name)+" => "+s.value(argument(c, op.keys[c.Name])))
	}
	s.add("SELECT CASE WHEN jsonb_typeof(to_jsonb(r.*)) = 'string' THEN to_jsonb(r.*) #>> '{}' ELSE '' END FROM ", function, "(", strings.Join(args, ", "), ") AS r")
	var said []string
	err := withTimeout(ctx, tx, operationTimeout, func() (err error) {
		said, err = s.texts(ctx, tx)

		return err
	})
	if err != nil {
		return nil, op.fault(ctx, err)
	}

	return slices.DeleteFunc(said, func(one string) bool { return one == "" }), nil
}

// fault words a function's failure for its caller.
func (op *operateOp) fault(ctx context.Context, err error) error {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok || ctx.Err() != nil:
	case pgErr.Code == pgerrcode.QueryCanceled:
		return fail(CodeViolation, "%s took too long and was stopped; nothing was changed.", op.declared.Name)
	case pgErr.Where == "" && slices.Contains([]string{pgerrcode.UndefinedFunction, pgerrcode.InvalidSchemaName, pgerrcode.UndefinedTable}, pgErr.Code):
		return fail(CodeNotAllowed, "%s is not available any more.", op.declared.Name)
	}

	return fmt.Errorf("call %s: %w", op.declared.Name, err)
}

// argument formats a value so that its Postgres type can parse it.
func argument(c *domain.Column, value any) any {
	list, isList := value.([]any)
	switch {
	case value == nil:
		return nil
	case c.Kind != domain.KindArray || !isList:
		return argumentText(c.Kind, value)
	}
	parts := make([]string, len(list))
	for i, item := range list {
		if item == nil {
			parts[i] = "NULL"

			continue
		}
		parts[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(argumentText(c.Elem, item)) + `"`
	}

	return "{" + strings.Join(parts, ",") + "}"
}

func argumentText(kind domain.Kind, value any) string {
	if kind != domain.KindJSON {
		return fmt.Sprint(value)
	}

	return string(encoded(value))
}

// maxCompared is how many rows of a type are compared before and after an operation: the first by key, and those that
// it names.
const maxCompared = 5000

// versions returns the versions of the user's rows of the types that the function changes. Afterwards they are those up
// to the last key of before: a row that takes the place of one that is gone is no new one.
func (op *operateOp) versions(ctx context.Context, d *decision, tx pgx.Tx) (map[string]map[string]string, error) {
	return d.tools.versions(ctx, tx, func(e *domain.Entity, s *statement) string {
		key, most, which := e.Qualified(e.Key), maxCompared, "TRUE"
		if !slices.Contains(op.declared.Changes, e) {
			return ""
		}
		if op.before != nil {
			most = 2 * maxCompared
		}
		if before := op.before[e.Type]; len(before) == maxCompared {
			// The union gives the keys the column's collation, by which they are ordered.
			which = key + " <= (SELECT last FROM (SELECT unnest(" + s.castList(slices.Collect(maps.Keys(before)), e.Key.Type) + ") UNION ALL SELECT " + key +
				" FROM " + e.SQL() + " WHERE FALSE) AS x (last) ORDER BY last DESC LIMIT 1)"
		}

		return which + " ORDER BY " + key + " LIMIT " + s.value(most)
	})
}

// compare finds which of the user's visible rows the function changed, whatever it returned. Of those that are gone only
// the key is known.
func (op *operateOp) compare(ctx context.Context, d *decision, tx pgx.Tx) error {
	after, err := op.versions(ctx, d, tx)
	if err != nil {
		return err
	}
	for _, e := range op.declared.Changes {
		was, now := op.before[e.Type], after[e.Type]
		if err := op.compareNamed(ctx, tx, e, was, now); err != nil {
			return err
		}
		created := keysWhere(now, func(key string) bool { return was[key] == "" })
		updated := keysWhere(now, func(key string) bool { return was[key] != "" && was[key] != now[key] })
		deleted := keysWhere(was, func(key string) bool { return now[key] == "" })
		if err := op.noteChanged(ctx, tx, e, registry.ActionCreated, created); err != nil {
			return err
		}
		if err := op.noteChanged(ctx, tx, e, registry.ActionUpdated, updated); err != nil {
			return err
		}
		if len(deleted) > 0 {
			gone := each(deleted, func(key string) map[string]any { return map[string]any{e.Key.Name: key} })
			op.changed = append(op.changed, registry.Result{Entity: e, Action: registry.ActionDeleted, Rows: gone})
		}
	}

	return nil
}

// keysWhere are the keys that meet a condition, in order.
func keysWhere(versions map[string]string, fits func(key string) bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(versions)), func(key string) bool { return !fits(key) })
}

// noteChanged adds rows, as they are now, to what the function changed.
func (op *operateOp) noteChanged(ctx context.Context, tx pgx.Tx, e *domain.Entity, action string, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	found, err := byKeys(ctx, tx, e, ownColumns(e), keys)
	if err != nil {
		return err
	}
	op.changed = append(op.changed, found.after(action))

	return nil
}

// compareNamed adds the rows that the arguments name to the versions before and now, if they are not among the first.
func (op *operateOp) compareNamed(ctx context.Context, tx pgx.Tx, e *domain.Entity, was, now map[string]string) error {
	var keys []string
	for _, name := range slices.Sorted(maps.Keys(op.named)) {
		kind, key, _ := strings.Cut(name, " ")
		if _, compared := was[key]; kind == e.Type && !compared {
			was[key], keys = op.named[name], append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	found, err := byKeys(ctx, tx, e, ownColumns(e), keys)
	if err != nil {
		return err
	}
	maps.Copy(now, found.Versions[e.Type])

	return nil
}

func (op *operateOp) record(ctx context.Context, d *decision, tx pgx.Tx) (Result, error) {
	for i := range op.changed {
		op.changed[i].Action = d.attributed(op.changed[i].Action)
	}
	result, err := op.step.recorded(ctx, d, tx, op.changed...)
	result.Notice = sentences(op.told...)

	return result, err
}
