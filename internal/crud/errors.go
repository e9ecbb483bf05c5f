package crud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/registry"
)

// Code classifies a call's fault; a model and a user interface may act on it.
type Code string

// The codes of an [Error].
const (
	CodeApprovalNeeded Code = "approval_needed" // the user has to agree first
	CodeBadArgument    Code = "bad_argument"    // the shape of the arguments
	CodeBadFilter      Code = "bad_filter"      // a filter's operator, column or value
	CodeBadValue       Code = "bad_value"       // a value its column cannot hold
	CodeConflict       Code = "conflict"        // it already exists: a unique constraint, a saved draft
	CodeNotAllowed     Code = "not_allowed"     // nobody may do this here
	CodeNotExecuted    Code = "not_executed"    // another call of the decision failed
	CodeNotFound       Code = "not_found"       // no such row for this user
	CodePendingRef     Code = "pending_ref"     // a draft where a saved row is needed
	CodeRepeated       Code = "repeated"        // the step has done the same already
	CodeSchemaChanged  Code = "schema_changed"  // the table has changed since this program started
	CodeStale          Code = "stale"           // changed by somebody else since it was read
	CodeTypeMismatch   Code = "type_mismatch"   // a ref of another type
	CodeUnknownColumn  Code = "unknown_column"  // no such column
	CodeUnknownRef     Code = "unknown_ref"     // no such ref in this session
	CodeUnknownTable   Code = "unknown_table"   // no such table, or not for this step
	CodeUnknownTool    Code = "unknown_tool"    // no such tool
	CodeValueChanged   Code = "value_changed"   // the database would store another value
	CodeViolation      Code = "rule_violation"  // a rule of the table
	CodeWrongStep      Code = "wrong_step"      // another step may do this
)

// Error is a call that cannot be carried out as written. Message is a sentence for the model: it names column and rule,
// and contains no SQL, row or key.
type Error struct {
	Code    Code
	Column  string // "" if no single column is at fault
	Message string
	// Refused: the database's rules refused it, rather than the form of the call.
	Refused bool
}

// Error returns the code and the message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

func fail(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func failColumn(code Code, column, format string, args ...any) *Error {
	return &Error{Code: code, Column: column, Message: fmt.Sprintf(format, args...)}
}

// badValue says what is wrong with a value of a column, after the column's name.
func badValue(c *domain.Column, format string, args ...any) *Error {
	return failColumn(CodeBadValue, c.Name, "%s "+format, append([]any{c.Name}, args...)...)
}

// faults collects everything wrong with an input, so that a model can correct it in one answer.
type faults []*Error

// columnsAre begins a table's columns in a refusal. One list serves all wrong columns of a call.
const columnsAre = " Columns: "

// maxFaults is how many are reported; more would help nobody.
const maxFaults = 12

func (f *faults) add(fault *Error) {
	if fault != nil {
		*f = append(*f, fault)
	}
}

// err returns one as an error, nil for none.
func (f faults) err() error {
	if fault := f.one(); fault != nil {
		return fault
	}

	return nil
}

// one combines them into one error with the first one's code; nil for none.
func (f faults) one() *Error {
	switch len(f) {
	case 0:
		return nil
	case 1:
		return f[0]
	}
	messages := make([]string, 0, maxFaults)
	for _, fault := range f[:min(len(f), maxFaults)] {
		about, columns, lists := strings.Cut(fault.Message, columnsAre)
		told := lists && slices.ContainsFunc(messages, func(m string) bool { return strings.HasSuffix(m, columnsAre+columns) })
		if !told {
			about = fault.Message
		}
		if !slices.Contains(messages, about) {
			messages = append(messages, about)
		}
	}
	if more := len(f) - maxFaults; more > 0 {
		messages = append(messages, fmt.Sprintf("%d more like these.", more))
	}

	return failColumn(f[0].Code, f[0].Column, "%s", strings.Join(messages, " "))
}

// otherOrder says that calls may have to be made in another order, as those that move each appointment into the time of the next one.
func (d *decision) otherOrder(fault *Error, at int) string {
	failed := d.steps[at]
	more := slices.ContainsFunc(d.steps[at+1:], func(s *step) bool { return s.call.Tool == vocab.ToolUpdate && s.entity == failed.entity })
	if !more || failed.call.Tool != vocab.ToolUpdate || fault.Code != CodeViolation && fault.Code != CodeConflict {
		return ""
	}

	return " Calls are carried out in their order: if a later one would make room, put it first."
}

// callError says which call of a decision failed, and on which type.
type callError struct {
	index  int
	entity *domain.Entity
	err    error
}

func (e *callError) Error() string { return e.err.Error() }
func (e *callError) Unwrap() error { return e.err }

// schemaChange explains an error by a difference between the catalog and the declaration since this program started: the
// first one in the call's own table, else the first in another. Without a difference, it returns the database's
// message: an owner's function may need what no declaration names, and a view what only its owner may do. It returns
// nil for any other error.
func (t *Tools) schemaChange(ctx context.Context, tx pgx.Tx, e *domain.Entity, err error) error {
	pgErr, _ := errors.AsType[*pgconn.PgError](err)
	within := pgErr != nil && pgErr.Where != "" && strings.HasPrefix(pgErr.Code, classOfNames) && !raised(pgErr)
	if !within && !pg.IsSchemaChange(err) {
		return nil
	}
	differences, lookupErr := domain.Drift(ctx, tx, t.domain)
	switch {
	case lookupErr != nil:
		return lookupErr
	case len(differences) == 0 && (within || pgErr.Code == pgerrcode.InsufficientPrivilege || unsupported(pgErr)):
		return fail(CodeSchemaChanged, "The database cannot do this as it is now: %s", sentences(pgErr.Message))
	case len(differences) == 0:
		return nil
	}
	at := slices.IndexFunc(differences, func(d domain.Difference) bool { return e != nil && d.Table == e.Table })
	d := differences[max(at, 0)]

	return failColumn(CodeSchemaChanged, d.Column, "The tables were changed while this program runs: %s. What does not need it still works.", d)
}

// unsupported reports whether Postgres does not do this with such a table, as to say which row it has written where a rule does.
// A plan that no longer fits has the same SQLSTATE.
func unsupported(err *pgconn.PgError) bool {
	return err.Code == pgerrcode.FeatureNotSupported && err.Routine != "RevalidateCachedQuery"
}

// classOfNames is the SQLSTATE class of what a statement names wrongly, or may not use.
const classOfNames = "42"

// explainPgError converts a database error caused by the data to an *Error and returns any other error unchanged. It must run
// outside the savepoint that the error aborted, because it looks up the constraint.
func explainPgError(ctx context.Context, tx pgx.Tx, user uuid.UUID, schema string, entity *domain.Entity, err error) error {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return err
	}
	if raised(pgErr) {
		return fail(CodeViolation, "%s", sentences(pgErr.Message, pgErr.Detail, pgErr.Hint))
	}
	if lookupErr := refuseStranger(ctx, tx, user, entity); lookupErr != nil {
		return lookupErr
	}
	switch {
	case pgErr.Code == pgerrcode.InsufficientPrivilege:
		return fail(CodeNotFound, "There is no such row, or it may not be changed.")
	case pgErr.Code == pgerrcode.NotNullViolation:
		return failColumn(CodeViolation, pgErr.ColumnName, "%s needs a value.", pgErr.ColumnName)
	case pgErr.Code == pgerrcode.WithCheckOptionViolation:
		return fail(CodeViolation, "The row would not be one of the user's here: it would belong to somebody else, or break a condition of the view.")
	case pgErr.Code == pgerrcode.CheckViolation && pgErr.TableName != "" && pgErr.ConstraintName == "": // no partition takes the row
		return fail(CodeViolation, "The table has no place for this row: its values are beyond those of all partitions.")
	case pgerrcode.IsDataException(pgErr.Code):
		return fail(CodeBadValue, "A value does not fit its column: %s.", dataRule(pgErr, ""))
	case !pgerrcode.IsIntegrityConstraintViolation(pgErr.Code):
		return err
	}
	rule, lookupErr := constraint(ctx, tx, cmp.Or(pgErr.SchemaName, schema), pgErr.TableName, pgErr.ConstraintName)
	if lookupErr != nil {
		return lookupErr
	}

	if entity != nil && entity.Owner != nil {
		rule.columns = slices.DeleteFunc(rule.columns, func(name string) bool { return name == entity.Owner.Name })
	}

	if entity != nil && entity.Singleton && pgErr.Code == pgerrcode.UniqueViolation && len(rule.columns) == 0 {
		return fail(CodeConflict, "There can be one row of %s, and there is one: change it with db_update.", entity.Table)
	}

	rows := "row"
	if entity != nil && entity.Table == pgErr.TableName {
		rows = entity.Name
	}

	return violation(pgErr.Code, rule, rows)
}

// strangerNotice says that no rows are shown because the user has no account, "" if that is not why.
func strangerNotice(ctx context.Context, tx pgx.Tx, e *domain.Entity) (string, error) {
	if e.Account == "" {
		return "", nil
	}
	var stranger bool
	if err := tx.QueryRow(ctx, "SELECT "+e.Account+" IS NULL").Scan(&stranger); err != nil || !stranger {
		return "", err
	}

	return vocab.NoAccount, nil
}

// refuseStranger refuses a user without an account: whatever rule the row broke, that is why.
func refuseStranger(ctx context.Context, tx pgx.Tx, user uuid.UUID, e *domain.Entity) error {
	if e == nil || e.Account == "" {
		return nil
	}

	return pg.AsTenant(ctx, tx, user, func(tenant pgx.Tx) error {
		stranger, err := strangerNotice(ctx, tenant, e)
		if err == nil && stranger != "" {
			err = fail(CodeNotAllowed, "%s", stranger)
		}

		return err
	})
}

// raised reports whether the message is the owner's own sentence: from a RAISE with any SQLSTATE, or with an SQLSTATE
// that is not Postgres's. Errors that the program has to retry are excluded.
func raised(err *pgconn.PgError) bool {
	switch {
	case pgerrcode.IsTransactionRollback(err.Code), pgerrcode.IsOperatorIntervention(err.Code), pgerrcode.IsInsufficientResources(err.Code):
		return false
	case strings.HasPrefix(err.Code, "AL"): // Alfred's own, such as the fence's
		return false
	case err.Routine == "exec_stmt_raise", err.Code == pgerrcode.RaiseException, pgerrcode.IsExternalRoutineException(err.Code):
		return true
	default:
		return len(err.Code) == sqlStateLength && !slices.Contains(ownClasses, err.Code[:2])
	}
}

const sqlStateLength = 5

// ownClasses are the SQLSTATE classes that Postgres itself raises.
var ownClasses = strings.Fields("00 01 02 03 08 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 53 54 55 57 58 72 F0 HV P0 XX")

// sentences joins the owner's texts into sentences, without anything shaped like a key.
func sentences(parts ...string) string {
	var sentences []string
	for _, part := range parts {
		if part = strings.TrimSpace(registry.Scrub(part)); part == "" {
			continue
		}
		if !strings.ContainsAny(part[len(part)-1:], ".!?:") {
			part += "."
		}
		sentences = append(sentences, part)
	}

	return strings.Join(sentences, " ")
}

// violation words a broken rule; rows is what a row of its table is called.
func violation(code string, rule constraintRule, rows string) *Error {
	columns := rule.columns
	names := strings.Join(columns, ", ")
	column := ""
	if len(columns) > 0 {
		column = columns[len(columns)-1]
	}
	owners := sentences(rule.comment)
	switch {
	case owners != "" && (code == pgerrcode.UniqueViolation || code == pgerrcode.ExclusionViolation):
		return failColumn(CodeConflict, column, "%s", owners)
	case owners != "":
		return failColumn(CodeViolation, column, "%s", owners)
	case code == pgerrcode.UniqueViolation:
		where := ""
		if rule.definition != "" {
			where = ", where " + rule.definition
		}

		return failColumn(CodeConflict, column, "Another %s has the same %s%s.", rows, cmp.Or(names, "key"), where)
	case code == pgerrcode.ExclusionViolation:
		return failColumn(CodeConflict, column, "%s.", exclusionInWords(rule.definition, columns))
	case code == pgerrcode.ForeignKeyViolation:
		return failColumn(CodeNotFound, column, "%s names a row that does not exist, or the row is still in use.", cmp.Or(column, "A reference"))
	case len(columns) > 1:
		return failColumn(CodeViolation, column, "%s break the rule %s.", strings.Join(columns, " and "), domain.WithoutCasts(rule.definition))
	default:
		return failColumn(CodeViolation, column, "%s %s.", cmp.Or(names, "A value"), ruleInWords(rule.definition))
	}
}

// dataRule words a data exception; form is that of a value, "" if it is not known.
func dataRule(err *pgconn.PgError, form string) string {
	if found := typeLength.FindStringSubmatch(err.Message); found != nil && err.Code == pgerrcode.StringDataRightTruncationDataException {
		return "a text is too long, it may have " + found[1] + " characters"
	}

	if form != "" {
		form = "it is no " + form
	}

	return cmp.Or(dataRules[err.Code], form, "its form is not valid")
}

var dataRules = map[string]string{
	pgerrcode.CheckViolation:                         "it breaks a rule of its type",
	pgerrcode.DatetimeFieldOverflow:                  "a date or time is not valid",
	pgerrcode.DivisionByZero:                         "division by zero",
	pgerrcode.InvalidDatetimeFormat:                  "a date or time is not valid",
	pgerrcode.NumericValueOutOfRange:                 "a number is out of range",
	pgerrcode.StringDataLengthMismatch:               "it does not have the length that its type has",
	pgerrcode.StringDataRightTruncationDataException: "a text is too long",
}

// typeLength finds the length of a type, in whatever language the message is.
var typeLength = regexp.MustCompile(`\((\d+)\)`)

// constraintFacts finds a rule by its name: a constraint, or a unique index that is none.
const constraintFacts = `
	SELECT coalesce((SELECT array_agg(a.attname::text ORDER BY k.n)
	                 FROM unnest(c.conkey) WITH ORDINALITY AS k (attnum, n)
	                 JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = k.attnum), '{}'),
	       CASE c.contype WHEN 'c' THEN pg_get_expr(c.conbin, c.conrelid, true) WHEN 'x' THEN pg_get_constraintdef(c.oid, true) ELSE '' END,
	       coalesce(obj_description(c.oid, 'pg_constraint'), ''), t.relname = $2 AS own
	FROM pg_constraint AS c
	LEFT JOIN pg_class AS t ON t.oid = c.conrelid
	WHERE c.conname = $3 AND c.connamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
	UNION ALL
	SELECT ARRAY(SELECT coalesce(a.attname::text, pg_get_indexdef(i.indexrelid, k.n::integer, true))
	             FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS k (attnum, n)
	             LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum AND k.attnum <> 0
	             WHERE k.n <= i.indnkeyatts ORDER BY k.n),
	       coalesce(pg_get_expr(i.indpred, i.indrelid, true), ''), coalesce(obj_description(i.indexrelid, 'pg_class'), ''), t.relname = $2
	FROM pg_index AS i
	JOIN pg_class AS x ON x.oid = i.indexrelid
	JOIN pg_class AS t ON t.oid = i.indrelid
	WHERE x.relname = $3 AND x.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
	  AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u', 'x'))
	ORDER BY own DESC NULLS LAST
	LIMIT 1`

// constraintRule is what the catalog says about a rule. definition is a CHECK's condition, the text of an exclusion, or
// which rows an index concerns, comment the owner's; "" for none.
type constraintRule struct {
	columns             []string
	definition, comment string
}

// constraint looks up a constraint. Names are unique only within a table.
func constraint(ctx context.Context, tx pgx.Tx, schema, table, name string) (constraintRule, error) {
	var rule constraintRule
	err := tx.QueryRow(ctx, constraintFacts, schema, table, name).Scan(&rule.columns, &rule.definition, &rule.comment, nil)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return rule, fmt.Errorf("look up constraint: %w", err)
	}

	return rule, nil
}
