package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// A row that points at one with a composite key names that row; the key's columns are filled from it, also where the
// row is created together with what it points at.
func TestRowsBelowCompositeKeysAreCreated(t *testing.T) {
	t.Parallel()
	b := setupQuay(t, "\n  - type: trip\n", "\n  - type: trip\n    writes: [create]\n    columns: [boat_key, note]\n")
	b.ok("write", vocab.ToolCreate, `{"table": "boats", "data": {"club": "c", "number": 9, "name": "Tern", "trips": [{"note": "out"}, {"note": "back"}]}}`)
	require.Equal(t, "c 9 out, c 9 back", query[string](b, `SELECT string_agg(club || ' ' || number || ' ' || note, ', ' ORDER BY nth) FROM quay.trips WHERE club = 'c'`))
	b.scope.Call++
	b.ok("write", vocab.ToolCreate, `{"table": "trips", "data": {"boat_key": "boat_1", "note": "alone"}}`)
	b.scope.Call++
	require.Contains(t, b.refused("write", vocab.ToolCreate, `{"table": "trips", "data": {"note": "nowhere"}}`, crud.CodeViolation), "boat_key needs a value.")
	require.Contains(t, b.kit.ByType("trip").Describe(), "- boat_key: ref (boat_1), required")
	require.NotContains(t, b.kit.ByType("trip").Describe(), "- number", "boat_key says it")
	require.Contains(t, b.kit.ByType("boat").Describe(), "- number: whole number")
	require.Equal(t, 2, b.ok("read", vocab.ToolRead, `{"table": "trips", "filters": [{"field": "boat_key.number", "op": "=", "value": 9}, {"field": "note", "op": "!=", "value": "alone"}]}`).RowCount)
}
