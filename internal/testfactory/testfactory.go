package testfactory

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/db"
)

// Epoch is when turn 0 would have ended; turn n runs n minutes later.
func Epoch() time.Time { return time.Date(2026, time.January, 13, 11, 0, 0, 0, time.UTC) }

// User makes a user.
func User(t testing.TB, tx pgx.Tx, timezone string) uuid.UUID {
	t.Helper()
	var id uuid.UUID
	require.NoError(t, tx.QueryRow(t.Context(), `INSERT INTO users (name, timezone) VALUES ($1, $2) RETURNING id`,
		"user "+uuid.NewString(), cmp.Or(timezone, "UTC")).Scan(&id))

	return id
}

// Session makes a session of the user.
func Session(t testing.TB, tx pgx.Tx, user uuid.UUID) uuid.UUID {
	t.Helper()
	var id uuid.UUID
	require.NoError(t, tx.QueryRow(t.Context(), `INSERT INTO sessions (user_id) VALUES ($1) RETURNING id`, user).Scan(&id))

	return id
}

// TurnOpts is what a test cares about in a turn.
type TurnOpts struct {
	Number  int
	Message string        // "message n"
	Status  db.TurnStatus // succeeded
	Reply   string        // "reply n"; of succeeded turns
	Goal    string
	Error   string // the sentence of a failed turn
}

// Turn makes a turn. A finished one began at Epoch plus its number in minutes
// and took half a minute.
func Turn(t testing.TB, tx pgx.Tx, session uuid.UUID, o TurnOpts) *db.Turns {
	t.Helper()
	o.Status = cmp.Or(o.Status, db.TurnStatusSucceeded)
	started := Epoch().Add(time.Duration(o.Number) * time.Minute)
	ended := started.Add(30 * time.Second)
	var finished, replied *time.Time
	var reply, code, message *string
	if o.Status != db.TurnStatusRunning && o.Status != db.TurnStatusQueued {
		finished = &ended
	}
	if o.Status == db.TurnStatusSucceeded {
		text := cmp.Or(o.Reply, "reply "+strconv.Itoa(o.Number))
		reply, replied = &text, &ended
	}
	if o.Status == db.TurnStatusFailed {
		text := "internal"
		code, message = &text, &o.Error
	}
	rows, _ := tx.Query(t.Context(), `
		INSERT INTO turns (session_id, user_id, number, message, mode, status, goal, reply, replied_at, summarized_at, error_code, error_message, started_at, finished_at)
		SELECT id, user_id, $2, $3, $4, $5, nullif($6, ''), $7, $8, $8, $9, $10, $11, $12 FROM sessions WHERE id = $1 RETURNING *`,
		session, o.Number, cmp.Or(o.Message, "message "+strconv.Itoa(o.Number)), "plan", o.Status, o.Goal,
		reply, replied, code, message, started, finished)
	turn, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[db.Turns])
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `UPDATE sessions SET last_turn = greatest(last_turn, $2) WHERE id = $1`, session, o.Number)
	require.NoError(t, err)

	return turn
}

// RefOpts is what a test cares about in a ref.
type RefOpts struct {
	Ref      string
	Label    string
	Action   string      // read, or generated for gen_ refs
	State    db.RefState // stored, or pending for gen_ refs
	ID       string      // a new UUID for rows
	Created  int         // turn 1
	LastRef  int         // Created
	Promoted int         // 0: not
	Retained string      // reason
	Excluded string      // reason
	Demoted  int         // turn, 0: not
}

// Ref registers an entity. Its type is what stands before the number.
func Ref(t testing.TB, tx pgx.Tx, session uuid.UUID, o RefOpts) {
	t.Helper()
	stem := o.Ref[:strings.LastIndexByte(o.Ref, '_')]
	kind, draft := strings.CutPrefix(stem, "gen_")
	o.Created = max(1, o.Created)
	o.LastRef = max(o.Created, o.LastRef)
	if o.State == "" {
		o.State = map[bool]db.RefState{true: db.RefStatePending, false: db.RefStateStored}[draft]
	}
	if o.Action == "" {
		o.Action = map[bool]string{true: "generated", false: "read"}[draft]
	}
	if o.ID == "" && o.State != db.RefStatePending {
		o.ID = uuid.NewString()
	}
	_, err := tx.Exec(t.Context(), `
		INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref, turn_promoted, active_reason, excluded_reason, demoted_at_turn)
		VALUES ($1, $2, $3, nullif($4, ''), $5, $6, $7, $8, $9, nullif($10, 0), nullif($11, ''), nullif($12, ''), nullif($13, 0))`,
		session, o.Ref, kind, o.ID, o.State, o.Action, cmp.Or(o.Label, o.Ref), o.Created, o.LastRef, o.Promoted, o.Retained, o.Excluded, o.Demoted)
	require.NoError(t, err)
}

// Event records that a turn touched a ref.
func Event(t testing.TB, tx pgx.Tx, session uuid.UUID, turn int, ref, action string) {
	t.Helper()
	_, err := tx.Exec(t.Context(), `INSERT INTO entity_events (session_id, ref, turn_number, action, actor, data) VALUES ($1, $2, $3, $4, 'assistant', '{}')`,
		session, ref, turn, action)
	require.NoError(t, err)
}

// Artifact stores the content of a draft, made in turn 1, step 1.
func Artifact(t testing.TB, tx pgx.Tx, session uuid.UUID, ref, content string) {
	t.Helper()
	_, err := tx.Exec(t.Context(), `INSERT INTO artifacts (session_id, ref, version, content, turn_number, step) VALUES ($1, $2, 1, $3, 1, 1)`,
		session, ref, json.RawMessage(content))
	require.NoError(t, err)
}

// StepOpts is what a test cares about in a step.
type StepOpts struct {
	Step        int             // 1
	Type        db.StepType     // read
	Subdomain   string          // recipes
	Description string          // "step n"
	Outcome     *db.StepOutcome // nil: not ended
	Summary     string
	Conclusions string
	Note        string
	Refs        []string
}

// Step plans a step.
func Step(t testing.TB, tx pgx.Tx, turn *db.Turns, o StepOpts) {
	t.Helper()
	o.Step = max(1, o.Step)
	o.Type = cmp.Or(o.Type, db.StepTypeRead)
	if o.Refs == nil {
		o.Refs = []string{}
	}
	_, err := tx.Exec(t.Context(), `
		INSERT INTO turn_steps (turn_id, step, step_type, subdomain, description, refs, outcome, summary, conclusions, note)
		VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8, ''), nullif($9, ''), nullif($10, ''))`,
		turn.ID, o.Step, o.Type, cmp.Or(o.Subdomain, "recipes"), cmp.Or(o.Description, "step "+strconv.Itoa(o.Step)), o.Refs, o.Outcome, o.Summary, o.Conclusions, o.Note)
	require.NoError(t, err)
}

// ResultOpts is what a test cares about in a tool's result.
type ResultOpts struct {
	Step   int    // 0 is what the user did before the plan
	Call   int    // 1
	Tool   string // db_read
	Type   string // entity type
	Params string // {}
	Rows   string // JSON list of rows; their refs are taken from "id"
	Error  string // sentence; the code then is invalid_value
}

// StepResult stores what a tool returned.
func StepResult(t testing.TB, tx pgx.Tx, turn *db.Turns, o ResultOpts) {
	t.Helper()
	var rows []map[string]any
	require.NoError(t, json.Unmarshal([]byte(cmp.Or(o.Rows, "[]")), &rows))
	refs := []string{}
	for _, row := range rows {
		if ref, ok := row["id"].(string); ok {
			refs = append(refs, ref)
		}
	}
	code := ""
	if o.Error != "" {
		code = "invalid_value"
	}
	_, err := tx.Exec(t.Context(), `
		INSERT INTO turn_step_results (turn_id, step, call, tool, entity_type, params, rows, row_count, refs, error_code, error_message)
		VALUES ($1, $2, $3, $4, nullif($5, ''), $6, $7, $8, $9, nullif($10, ''), nullif($11, ''))`,
		turn.ID, o.Step, max(1, o.Call), cmp.Or(o.Tool, "db_read"), o.Type, json.RawMessage(cmp.Or(o.Params, "{}")), json.RawMessage(cmp.Or(o.Rows, "[]")),
		len(rows), refs, code, o.Error)
	require.NoError(t, err)
}

// Run records a node's decision; step is 0 outside act.
func Run(t testing.TB, tx pgx.Tx, turn *db.Turns, position int, node string, step int, output string) {
	t.Helper()
	_, err := tx.Exec(t.Context(), `INSERT INTO node_runs (turn_id, position, node, step, output) VALUES ($1, $2, $3, nullif($4, 0), $5)`,
		turn.ID, position, node, step, json.RawMessage(output))
	require.NoError(t, err)
}

// Summary writes a turn's summary from its rows, as if a model had not worded it.
func Summary(t testing.TB, tx pgx.Tx, turn *db.Turns) {
	t.Helper()
	_, err := tx.Exec(t.Context(), `SELECT turn_summary_write_facts($1)`, turn.ID)
	require.NoError(t, err)
}
