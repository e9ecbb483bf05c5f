package crud_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/llm/lexical"
	"alfred/internal/recall"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
	"alfred/registry"
)

const demoUser = "01900000-0000-7000-8000-000000000001"

// bundle is one session of the demo user, in a transaction that is rolled back.
type bundle struct {
	t     *testing.T
	tx    pgx.Tx
	tools *crud.Tools
	kit   *domain.Domain
	scope registry.Scope
	seen  crud.Seen
	done  map[string]string
}

func setup(t *testing.T) *bundle {
	t.Helper()

	return setupIn(t, dbtest.Tx(t), uuid.MustParse(demoUser))
}

// setupAlone sets up a user without any rows: tests that lock many rows of one user would wait for each other.
func setupAlone(t *testing.T) *bundle {
	t.Helper()

	tx := dbtest.Tx(t)

	return setupIn(t, tx, testfactory.User(t, tx, "UTC"))
}

// setupApart is for tests that alter tables.
func setupApart(t *testing.T) *bundle {
	t.Helper()

	return setupIn(t, dbtest.OwnTx(t), uuid.MustParse(demoUser))
}

func setupIn(t *testing.T, tx pgx.Tx, user uuid.UUID) *bundle {
	t.Helper()

	kit := testfactory.Kitchen(t)

	return setupOn(t, tx, user, kit)
}

func setupOn(t *testing.T, tx pgx.Tx, user uuid.UUID, kit *domain.Domain) *bundle {
	t.Helper()

	b := &bundle{t: t, tx: tx, kit: kit, tools: crud.New(kit, recall.New(kit, lexical.Embedder{}))}
	b.scope = registry.Scope{SessionID: uuid.New(), UserID: user, Step: 1, Actor: registry.ActorAssistant}
	b.exec(`INSERT INTO sessions (id, user_id) VALUES ($1, $2)`, b.scope.SessionID, user)
	b.nextTurn()

	return b
}

// setupDeclared is a session of the demo user over its own tables. What has a user_id in the declared schema, tenants see
// as far as it is theirs.
func setupDeclared(t *testing.T, tables, declaration string) *bundle {
	t.Helper()

	return setupDeclaredIn(t, dbtest.Tx(t), tables, declaration)
}

func setupDeclaredIn(t *testing.T, tx pgx.Tx, tables, declaration string) *bundle {
	t.Helper()

	_, err := tx.Exec(t.Context(), tables)
	require.NoError(t, err)
	decl, err := domain.Load(fstest.MapFS{"own.yaml": {Data: []byte(declaration)}}, "own.yaml")
	require.NoError(t, err)
	rows, _ := tx.Query(t.Context(), separateSQL, decl.Schema)
	separate, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), strings.Join(separate, ";"))
	require.NoError(t, err)
	kit, err := domain.Bind(t.Context(), tx, decl)
	require.NoError(t, err, declaration)

	return setupOn(t, tx, uuid.MustParse(demoUser), kit)
}

// separateSQL writes what lets tenants use a schema, and see their own rows of the tables that have a user_id.
const separateSQL = `
	SELECT format('GRANT USAGE ON SCHEMA %1$I TO alfred_tenant', $1::text)
	UNION ALL
	SELECT format('ALTER TABLE %1$s ENABLE ROW LEVEL SECURITY;
		CREATE POLICY tenant ON %1$s TO alfred_tenant USING (user_id = nullif(current_setting(''alfred.user_id'', true), '''')::uuid)', c.oid::regclass)
	FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'user_id'
	WHERE c.relkind IN ('r', 'p') AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)`

// nextTurn ends the current turn and starts another.
func (b *bundle) nextTurn() {
	b.t.Helper()

	b.exec(`UPDATE turns SET status = 'cancelled', finished_at = now() WHERE session_id = $1 AND status = 'running'`, b.scope.SessionID)
	b.scope.Turn++
	b.exec(`UPDATE sessions SET last_turn = $2 WHERE id = $1`, b.scope.SessionID, b.scope.Turn)
	b.scope.TurnID = uuid.Must(uuid.NewV7())
	b.exec(`INSERT INTO turns (id, session_id, user_id, number, message, mode, status) VALUES ($1, $2, $3, $4, 'hello', 'plan', 'running')`,
		b.scope.TurnID, b.scope.SessionID, b.scope.UserID, b.scope.Turn)
}

func (b *bundle) exec(sql string, args ...any) {
	b.t.Helper()

	_, err := b.tx.Exec(b.t.Context(), sql, args...)
	require.NoError(b.t, err)
}

func query[T any](b *bundle, sql string, args ...any) T {
	b.t.Helper()

	rows, err := b.tx.Query(b.t.Context(), sql, args...)
	require.NoError(b.t, err)
	value, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	require.NoError(b.t, err)

	return value
}

// at is the scope of the turn's next decision.
func (b *bundle) at() registry.Scope {
	b.t.Helper()

	scope := b.scope
	scope.Results = int(query[int32](b, `SELECT coalesce(max(call), 0) FROM turn_step_results WHERE turn_id = $1 AND step = $2`, scope.TurnID, scope.Step))

	return scope
}

// asker has no turn in view.
func (b *bundle) asker() crud.Asker { return crud.Asker{Scope: b.scope, ShownFrom: b.scope.Turn} }

func call(tool, args string) vocab.Call { return vocab.Call{Tool: tool, Args: json.RawMessage(args)} }

// applied applies what came with a turn, and returns what is said of what could not be.
func (b *bundle) applied(scope registry.Scope, message, changes, mentions string) []string {
	b.t.Helper()

	const last = `SELECT coalesce(max(call), 0)::int FROM turn_step_results WHERE turn_id = $1 AND step = 0`
	before := query[int](b, last, scope.TurnID)
	require.NoError(b.t, b.tools.ApplyInputs(b.t.Context(), b.tx, scope, message, json.RawMessage(changes), json.RawMessage(mentions)))

	return query[[]string](b, `SELECT coalesce(array_agg(error_message ORDER BY call), '{}') FROM turn_step_results
		WHERE turn_id = $1 AND step = 0 AND call > $2 AND error_code = 'not_found'`, scope.TurnID, before)
}

// decide runs one decision of a step and checks that no id leaks.
func (b *bundle) decide(stepType string, calls ...vocab.Call) crud.Outcome {
	b.t.Helper()

	prepared, err := b.tools.Prepare(b.t.Context(), b.tx, b.asker(), calls)
	require.NoError(b.t, err)
	outcome, err := b.tools.Execute(b.t.Context(), b.tx, b.at(), crud.Bounds{StepType: stepType, Seen: b.seen, Done: b.done}, prepared)
	require.NoError(b.t, err)
	b.noIDs()

	return outcome
}

// ok is decide for a single call that must succeed.
func (b *bundle) ok(stepType, tool, args string) crud.Result {
	b.t.Helper()

	outcome := b.decide(stepType, call(tool, args))
	require.Nil(b.t, outcome.Approval, "%+v", outcome.Approval)
	require.Empty(b.t, outcome.Results[0].ErrorMessage)

	return outcome.Results[0]
}

// refused is decide for a single call that must fail with the code.
func (b *bundle) refused(stepType, tool, args string, code crud.Code) string {
	b.t.Helper()

	outcome := b.decide(stepType, call(tool, args))
	require.Equal(b.t, code, outcome.Results[0].ErrorCode, outcome.Results[0].ErrorMessage)

	return outcome.Results[0].ErrorMessage
}

// rows returns the stored rows of a call in the current turn's step.
func (b *bundle) rows(result crud.Result) []map[string]any {
	b.t.Helper()

	var rows []map[string]any
	raw := query[[]byte](b, `SELECT rows FROM turn_step_results WHERE turn_id = $1 AND step = $2 AND call = $3`, b.scope.TurnID, b.scope.Step, result.Call)
	require.NoError(b.t, json.Unmarshal(raw, &rows))

	return rows
}

func column[T any](rows []map[string]any, name string) []T {
	values := make([]T, 0, len(rows))
	for _, row := range rows {
		value, _ := row[name].(T)
		values = append(values, value)
	}

	return values
}

var hexID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}`)

// noIDs checks that no stored result of the turn contains anything that looks like a key.
func (b *bundle) noIDs() {
	b.t.Helper()

	text := query[string](b, `SELECT coalesce(string_agg(rows::text || coalesce(error_message, '') || array_to_string(refs, ' '), ' '), '')
		FROM turn_step_results WHERE turn_id = $1`, b.scope.TurnID)
	require.NotRegexp(b.t, hexID, text)
}

// user creates another user with one recipe and returns both ids.
func (b *bundle) user() (uuid.UUID, uuid.UUID) {
	b.t.Helper()

	user, recipe := uuid.New(), uuid.New()
	b.exec(`INSERT INTO users (id, name) VALUES ($1, $2)`, user, user.String())
	b.exec(`INSERT INTO kitchen.recipes (id, user_id, name) VALUES ($1, $2, 'Secret Stew')`, recipe, user)

	return user, recipe
}

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// longText exceeds the length limit of names.
var longText = strings.Repeat("x", 300)
