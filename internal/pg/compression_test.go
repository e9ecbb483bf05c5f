package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// Long values in the record tables are compressed with lz4, in their partitions too, if the server supports it.
func TestRecordsAreCompressedFast(t *testing.T) {
	t.Parallel()
	tx := dbtest.OwnTx(t)
	var has bool
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'`).Scan(&has))
	if !has {
		t.Skip("this server was built without lz4")
	}
	_, err := tx.Exec(t.Context(), `SELECT alfred.start_session('long')`)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `INSERT INTO alfred.llm_calls (session_id, node, call, attempt, provider, model, request, response, context, latency_ms)
		SELECT id, 'think', 1, 1, 'p', 'm', jsonb_build_object('text', repeat('a prompt ', 2000)), '{}', '[]', 1 FROM alfred.sessions`)
	require.NoError(t, err)
	var method string
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT pg_column_compression(request) FROM alfred.llm_calls`).Scan(&method))
	require.Equal(t, "lz4", method)
}
