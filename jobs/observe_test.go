package jobs_test

import (
	"cmp"
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"alfred/internal/dbtest"
	"alfred/internal/telemetry"
	"alfred/jobs"
)

// spans receives traces like a collector.
type spans struct {
	lock sync.Mutex
	all  []*otlp.Span
}

func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	request := &collector.ExportTraceServiceRequest{}
	if err != nil || r.URL.Path == "/v1/traces" && proto.Unmarshal(body, request) != nil {
		w.WriteHeader(http.StatusBadRequest)

		return
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			s.all = append(s.all, scope.GetSpans()...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// A turn is one trace, whichever process did which part, and its rows name it.
func TestTurnIsOneTrace(t *testing.T) {
	t.Parallel()

	h := setup(t, actScript(planRead, readCall, completed))
	h.real()
	seen := &spans{}
	server := httptest.NewServer(seen)
	t.Cleanup(server.Close)
	var told []*telemetry.Telemetry
	for _, name := range []string{"one", "two"} {
		open, err := telemetry.Open(t.Context(), telemetry.Config{Service: "alfred-worker", Instance: name, Collector: server.URL})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, open.Close(context.Background())) })
		told = append(told, open)
		h.config.Traces, h.config.Metrics = open.Traces, open.Metrics
		h.start()
	}
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	trace := strings.ReplaceAll(turn.ID.String(), "-", "")
	require.Equal(t, []string{trace}, column[string](h, `SELECT DISTINCT trace_id FROM llm_calls WHERE turn_id = $1`, turn.ID))
	require.Eventually(t, func() bool { return len(seen.of(t, turn.ID, told)) >= 11 }, dbtest.Patience, 50*time.Millisecond)
	all := seen.of(t, turn.ID, told)
	root := hex.EncodeToString(turn.ID[8:])
	for name, parent := range map[string]string{
		"turn": "", "understand": root, "think": root, "reply": root, "summarize": root,
		"execute_tool db_read": all["act"], "chat script": "any",
	} {
		require.Contains(t, all, name)
		if parent != "any" {
			require.Equal(t, parent, all[name+" parent"], name)
		}
	}
	require.Equal(t, root, all["turn"])
	var pages strings.Builder
	for _, open := range told {
		page := httptest.NewRecorder()
		open.Handler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		pages.WriteString(page.Body.String())
	}
	require.Regexp(t, `alfred_turn_duration_seconds_count\{status="succeeded"\} 1`, pages.String())
	require.Regexp(t, `alfred_node_duration_seconds_count\{node="think",outcome="done"\} 1`, pages.String())
	require.Regexp(t, `alfred_tokens_total\{.*kind="input",model="script",node="understand"\}`, pages.String())
}

// of maps the names of a turn's spans to their ids and, with " parent" appended, to those of their parents.
func (s *spans) of(t *testing.T, turn uuid.UUID, told []*telemetry.Telemetry) map[string]string {
	t.Helper()

	for _, open := range told {
		exporting, _ := open.Traces.(interface {
			ForceFlush(ctx context.Context) error
		})
		require.NoError(t, exporting.ForceFlush(t.Context()))
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	found := map[string]string{}
	slices.SortStableFunc(s.all, func(a, b *otlp.Span) int { return cmp.Compare(a.GetStartTimeUnixNano(), b.GetStartTimeUnixNano()) })
	for _, span := range s.all {
		if uuid.UUID(span.GetTraceId()) != turn {
			continue
		}
		if _, first := found[span.GetName()]; !first { // the first act is the one that calls a tool
			found[span.GetName()] = hex.EncodeToString(span.GetSpanId())
			found[span.GetName()+" parent"] = hex.EncodeToString(span.GetParentSpanId())
		}
	}

	return found
}
