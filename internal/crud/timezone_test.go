package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// moveTo gives the user a time zone.
func (b *bundle) moveTo(zone string) {
	b.exec(`UPDATE users SET timezone = $2 WHERE id = $1`, b.scope.UserID, zone)
}

// A time without an offset is one on the user's clock, and rows show that clock.
func TestTimesAreTheUsers(t *testing.T) {
	t.Parallel()

	b := setupLab(t)
	b.moveTo("Europe/Berlin")
	b.ok("write", vocab.ToolCreate, `{"table": "people", "data": [
		{"name": "local", "at": "2026-07-03T00:30", "met": "2026-07-03 18:30", "calls": ["2026-07-03T18:30", "2026-01-03T18:30:00Z"]},
		{"name": "elsewhere", "at": "2026-07-03T20:30:00.5-04:00"},
		{"name": "as shown", "at": "2026-07-03T18:30:00+02:00 (Fri)"},
		{"name": "winter", "at": "Mon, 2026-01-05"}]}`)
	read := b.rows(b.ok("read", vocab.ToolRead, `{"table": "people", "order_by": "name"}`))
	require.Equal(t, "2026-07-03T18:30:00+02:00", read[0]["at"])
	require.Equal(t, "2026-07-04T02:30:00.5+02:00", read[1]["at"])
	require.Equal(t, "2026-07-03T00:30:00+02:00", read[2]["at"])
	require.Equal(t, "2026-07-03T18:30:00", read[2]["met"])
	require.Equal(t, []any{"2026-07-03T18:30:00+02:00", "2026-01-03T19:30:00+01:00"}, read[2]["calls"])
	require.Equal(t, "2026-01-05T00:00:00+01:00", read[3]["at"])
	require.Equal(t, 1, query[int](b, `SELECT count(*)::int FROM lab.people WHERE at = '2026-07-02 22:30Z'`))

	day := b.rows(b.ok("read", vocab.ToolRead, `{"table": "people", "filters": [{"field": "at", "op": ">=", "value": "2026-07-03"}, {"field": "at", "op": "<", "value": "2026-07-04 (Sat)"}]}`))
	require.Len(t, day, 2)
	for filter, found := range map[string]int{
		`"op": "=", "value": "2026-07-03"`: 2, `"op": "!=", "value": "2026-07-03 (Fri)"`: 2, `"op": "in", "value": ["2026-07-03", "2026-01-05"]`: 3,
		`"op": "<=", "value": "2026-07-03"`: 3, `"op": ">", "value": "2026-07-03"`: 1, `"op": "not_in", "value": ["2026-07-03"]`: 2,
		`"op": "in", "value": ["2026-07-03", "2026-07-03T00:30"]`: 1,
	} {
		require.Len(t, b.rows(b.ok("read", vocab.ToolRead, `{"table": "people", "filters": [{"field": "at", `+filter+`}]}`)), found, filter)
	}
	require.Len(t, b.rows(b.ok("read", vocab.ToolRead, `{"table": "people", "filters": [{"field": "at", "op": "=", "value": "2026-07-03T18:30"}]}`)), 1)
	hours := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "people", "group_by": ["at:hour"], "aggregates": [{"fn": "count", "as": "n"}], "order_by": "at:hour"}`))
	require.Equal(t, []string{"00", "02", "18"}, column[string](hours, "at:hour"))
	result := b.decide("write", call(vocab.ToolUpdate, `{"table": "people", "filters": [{"field": "name", "op": "=", "value": "local"}], "data": {"at": "2026-07-04T10:00 (Fri)"}}`)).Results[0]
	require.Equal(t, "at: 2026-07-04 is a Saturday.", result.ErrorMessage)
}

// Databases without a type for days keep them as texts. The weekday that prompts print beside them was written into the rows, and
// nothing could be added up by month.
func TestDaysInTexts(t *testing.T) {
	t.Parallel()

	b := setupLab(t)
	b.ok("write", vocab.ToolCreate, `{"table": "people", "data": [{"name": "2026-11-27 (Fri)"}, {"name": "2026-11-28T08:00"}, {"name": "2026-12-01"}, {"name": "On 2026-11-27 (Fri)"}]}`)
	require.Equal(t, "2026-11-27|2026-11-28T08:00|2026-12-01|On 2026-11-27 (Fri)", query[string](b, `SELECT string_agg(name, '|' ORDER BY name) FROM lab.people`))
	require.Len(t, b.rows(b.ok("read", vocab.ToolRead, `{"table": "people", "filters": [{"field": "name", "op": "=", "value": "2026-11-27 (Fri)"}]}`)), 2)
	require.Equal(t, "name: 2026-11-28 is a Saturday.", b.refused("write", vocab.ToolCreate, `{"table": "people", "data": {"name": "2026-11-28 (Fri)"}}`, crud.CodeBadValue))
	months := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "people", "group_by": ["name:month"], "aggregates": [{"fn": "count", "as": "n"}], "order_by": "n desc"}`))
	require.Equal(t, []string{"2026-11", "2026-12"}, column[string](months[:2], "name:month"))
}

// Drafts keep a local time, which a save stores.
func TestDraftsKeepLocalTimes(t *testing.T) {
	t.Parallel()

	b := setupLab(t)
	b.moveTo("America/New_York")
	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "person", "content": {"name": "Ada", "at": "2026-07-03T18:30"}}]}`)
	b.ok("write", vocab.ToolCreate, `{"table": "people", "from_ref": "gen_person_1"}`)
	require.Equal(t, 1, query[int](b, `SELECT count(*)::int FROM lab.people WHERE at = '2026-07-03 22:30Z'`))
}

// Whoever travels can still undo: the row is the same at another clock.
func TestUndoAfterAMoveToAnotherTimeZone(t *testing.T) {
	t.Parallel()

	b := setupLab(t)
	b.moveTo("Europe/Berlin")
	b.ok("write", vocab.ToolCreate, `{"table": "people", "data": {"name": "Ada", "at": "2026-07-03T18:30", "calls": ["2026-07-03T18:30"]}}`)
	b.nextTurn()
	turn, number := b.scope.TurnID, b.scope.Turn
	b.ok("write", vocab.ToolUpdate, `{"table": "people", "filters": [{"field": "id", "op": "=", "value": "person_1"}], "data": {"at": "2026-07-04T18:30", "calls": ["2026-07-04T18:30"]}}`)
	b.moveTo("Asia/Tokyo")
	b.nextTurn()
	b.undone(turn, number)
	require.Equal(t, 1, query[int](b, `SELECT count(*)::int FROM lab.people WHERE at = '2026-07-03 16:30Z' AND calls = ARRAY[at]`))
}

// A question names times as people read them, on the user's clock: "2026-07-03T16:30:00Z" is half past six in Berlin.
func TestQuestionsNameTimesOnTheUsersClock(t *testing.T) {
	t.Parallel()

	b := setupLab(t)
	b.moveTo("Europe/Berlin")
	b.exec(`INSERT INTO lab.people (user_id, name) SELECT $1, 'Guest ' || n FROM generate_series(1, 30) AS n`, b.scope.UserID)
	for written, read := range map[string]string{"2026-07-03T16:30:00Z": "Fri Jul 3, 2026 18:30", "2026-07-03T18:30": "Fri Jul 3, 2026 18:30", "2026-01-05": "Mon Jan 5, 2026 00:00"} {
		asked := b.decide(vocab.StepWrite, call(vocab.ToolUpdate, `{"table": "people", "filters": [{"field": "name", "op": "ilike", "value": "Guest%"}], "data": {"at": "`+written+`"}}`)).Approval
		require.NotNil(t, asked, written)
		require.Contains(t, asked.Text, "(at: "+read+")")
	}
}
