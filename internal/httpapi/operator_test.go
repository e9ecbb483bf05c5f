package httpapi_test

import (
	"encoding/base64"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/httpapi"
	"alfred/internal/telemetry"
)

func operated(t *testing.T) *bundle {
	t.Helper()

	return setup(t, func(config *httpapi.Config) {
		told, err := telemetry.Open(t.Context(), telemetry.Config{Service: "alfred-api"})
		require.NoError(t, err)
		require.NoError(t, httpapi.ObserveRows(told.Metrics, config.Pool, config.Logger))
		config.Telemetry = told
		config.RiverUI, err = httpapi.RiverUI(t.Context(), config.Pool, config.Logger)
		require.NoError(t, err)
	})
}

// Pages that show all users' work are for operators.
func TestOperatorPagesAreForAdmins(t *testing.T) {
	t.Parallel()

	b := operated(t)
	_, admin := b.newUser(t, "root", "admin")
	basic := func(key string) header {
		return header{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("any:"+key))}
	}
	for _, path := range []string{"/metrics", "/riverui/", "/riverui/api/jobs?state=available"} {
		a := send(t, b.url, http.MethodGet, path, nil, nil)
		a.requireProblem(t, http.StatusUnauthorized, "unauthorized")
		require.Contains(t, a.header.Get("WWW-Authenticate"), "Basic", "a browser must know what to ask for")
		send(t, b.url, http.MethodGet, path, nil, basic("alf_none")).requireProblem(t, http.StatusUnauthorized, "unauthorized")
		send(t, b.url, http.MethodGet, path, nil, basic(b.key)).requireProblem(t, http.StatusForbidden, "forbidden")
		require.Equal(t, http.StatusOK, send(t, b.url, http.MethodGet, path, nil, basic(admin)).status, path)
		require.Equal(t, http.StatusOK, send(t, b.url, http.MethodGet, path, nil, header{"Authorization": "Bearer " + admin}).status, path)
	}
	other := basic(admin)
	other["Sec-Fetch-Site"] = "cross-site"
	send(t, b.url, http.MethodPost, "/riverui/api/jobs/cancel", nil, other).requireProblem(t, http.StatusForbidden, "forbidden")
}

// Any API process reports what all workers do, because it is stored as rows.
func TestMetricsTellRows(t *testing.T) {
	t.Parallel()

	b := operated(t)
	_, b.key = b.newUser(t, "ada", "admin")
	turn := b.message(t, b.session(t), "hello")
	b.exec(t, `INSERT INTO node_runs (turn_id, position, node, call, output, duration_ms) VALUES ($1, 1, 'understand', 1, '{}', 1500)`, turn)
	b.exec(t, `INSERT INTO llm_calls (session_id, turn_id, node, provider, model, request, response, input_tokens, cost_usd)
		SELECT session_id, id, 'understand', 'script', 'script', '{}', '{}', 7, 0.5 FROM turns WHERE id = $1`, turn)
	text := b.call(t, http.MethodGet, "/metrics", nil).raw
	for _, line := range []string{
		`alfred_workers 0`, `alfred_worker_clock_skew_seconds 0`, `alfred_queue_jobs{queue="turns",state="available"} 1`, `alfred_queue_age_seconds{queue="turns"}`,
		`alfred_recent_turns{status="running"} 1`, `alfred_recent_node_duration_seconds{node="understand",quantile="0.95"} 1.5`,
		`alfred_recent_tokens{kind="input",model="script",node="understand"} 7`, `alfred_recent_cost_usd{model="script",node="understand"} 0.5`,
		`http_server_request_duration_seconds_count{`, `http_route="/v1/sessions"`, `process_resident_memory_bytes`,
	} {
		require.Contains(t, text, line)
	}
}
