package alfred_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"alfred"
	"alfred/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// host is a program with a pool of its own, whose connections know nothing of Alfred.
func host(t *testing.T, address string) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(address)
	require.NoError(t, err)
	config.ConnConfig.RuntimeParams["search_path"] = "public"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	return pool
}

func open(t *testing.T, config alfred.Config) *alfred.Assistant {
	t.Helper()
	config.Logger = slog.New(slog.DiscardHandler)
	assistant, err := alfred.Open(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, assistant.Close()) })

	return assistant
}

func enqueue(t *testing.T, pool *pgxpool.Pool, params alfred.EnqueueParams) *alfred.Enqueued {
	t.Helper()
	var turn *alfred.Enqueued
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) (err error) {
		if params.SessionID, err = alfred.StartSession(t.Context(), tx, "ada", "Orders"); err != nil {
			return err
		}
		turn, err = alfred.Enqueue(t.Context(), tx, params)

		return err
	}))

	return turn
}

func TestTurnOfAHostProgram(t *testing.T) {
	t.Parallel()

	address := dbtest.EmptyURL(t)
	assistant := open(t, alfred.Config{URL: address, Migrate: true, Worker: &alfred.Worker{}})
	turn := enqueue(t, host(t, address), alfred.EnqueueParams{Message: "What is in my pantry?", Limits: alfred.Limits{Turns: 9}})
	var types []string
	for event, err := range assistant.Follow(t.Context(), turn.TurnID) {
		require.NoError(t, err)
		types = append(types, event.Type)
	}
	require.Equal(t, "turn.finished", types[len(types)-1])
	done, err := assistant.Wait(t.Context(), turn.TurnID)
	require.NoError(t, err)
	require.EqualValues(t, "succeeded", done.Status)
	require.NotEmpty(t, done.Reply)
}

func TestCancelByAHostProgram(t *testing.T) {
	t.Parallel()

	address := dbtest.URL(t)
	assistant, pool := open(t, alfred.Config{URL: address}), host(t, address)
	turn := enqueue(t, pool, alfred.EnqueueParams{Message: "What is in my pantry?"})
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		cancelled, err := alfred.Cancel(t.Context(), tx, turn.TurnID)
		require.True(t, cancelled)

		return err
	}))
	done, err := assistant.Turn(t.Context(), turn.TurnID)
	require.NoError(t, err)
	require.EqualValues(t, "cancelled", done.Status)

	_, err = assistant.Wait(t.Context(), uuid.New())
	require.ErrorIs(t, err, alfred.ErrTurnNotFound)
	for _, err := range assistant.Follow(t.Context(), uuid.New()) {
		require.ErrorIs(t, err, alfred.ErrTurnNotFound)
	}
}

// refusing declines every request, as a provider may.
type refusing struct{ asked chan string }

func (r refusing) Generate(_ context.Context, req *alfred.Request) (*alfred.Response, error) {
	r.asked <- req.Node

	return nil, &alfred.ModelError{Kind: alfred.KindRefusal, Provider: "own", Err: errors.New("not today")}
}

func TestOwnModelIsAsked(t *testing.T) {
	t.Parallel()

	address, model := dbtest.URL(t), refusing{asked: make(chan string, 100)}
	assistant := open(t, alfred.Config{URL: address, Worker: &alfred.Worker{Model: model}})
	turn := enqueue(t, host(t, address), alfred.EnqueueParams{Message: "What is in my pantry?"})
	done, err := assistant.Wait(t.Context(), turn.TurnID)
	require.NoError(t, err)
	require.EqualValues(t, "failed", done.Status)
	require.Equal(t, "understand", <-model.asked)
}

// overloaded is a server that never answers.
type overloaded struct{}

func (overloaded) Generate(context.Context, *alfred.Request) (*alfred.Response, error) {
	return nil, &alfred.ModelError{Kind: alfred.KindOverloaded, Provider: "own", Err: errors.New("busy")}
}

func TestTurnFailsAtItsDeadline(t *testing.T) {
	t.Parallel()

	address, spans := dbtest.URL(t), tracetest.NewSpanRecorder()
	reader := metric.NewManualReader()
	assistant := open(t, alfred.Config{URL: address, Worker: &alfred.Worker{
		Model: overloaded{}, Deadline: time.Millisecond, Grace: time.Second,
		Traces: trace.NewTracerProvider(trace.WithSpanProcessor(spans)), Metrics: metric.NewMeterProvider(metric.WithReader(reader)),
	}})
	turn := enqueue(t, host(t, address), alfred.EnqueueParams{Message: "What is in my pantry?"})
	done, err := assistant.Wait(t.Context(), turn.TurnID)
	require.NoError(t, err)
	require.Equal(t, alfred.TurnFailed, done.Status)
	require.NoError(t, assistant.Close())
	require.NotEmpty(t, spans.Ended())
	var told metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &told))
	require.NotEmpty(t, told.ScopeMetrics)
}

const lendingSQL = `
	CREATE SCHEMA lending;
	GRANT USAGE ON SCHEMA lending TO alfred_tenant;
	CREATE TABLE lending.loans (
		id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id uuid NOT NULL DEFAULT alfred.tenant_id() REFERENCES alfred.users (id), title text NOT NULL);
	ALTER TABLE lending.loans ENABLE ROW LEVEL SECURITY;
	CREATE POLICY tenant ON lending.loans TO alfred_tenant USING (user_id = (SELECT alfred.tenant_id()));
	GRANT SELECT ON lending.loans TO alfred_tenant;
	INSERT INTO alfred.users (name) VALUES ('ada'), ('bob');
	INSERT INTO lending.loans (user_id, title) SELECT id, CASE name WHEN 'ada' THEN 'Dune' ELSE 'Emma' END FROM alfred.users WHERE name IN ('ada', 'bob')`

// A program brings its types along, and has them tried where it runs first.
func TestOwnTypesAreTriedFirst(t *testing.T) {
	t.Parallel()

	address := dbtest.URL(t)
	pool := host(t, address)
	_, err := pool.Exec(t.Context(), lendingSQL)
	require.NoError(t, err)
	config := alfred.Config{URL: address, Logger: slog.New(slog.DiscardHandler), Worker: &alfred.Worker{Types: "lending.yaml", Files: fstest.MapFS{"lending.yaml": {Data: []byte(`
name: lending
schema: lending
owner: user_id
persona: You are brief.
entities:
  - {type: loan, table: loans, label: "{title}"}
subdomains:
  - {name: loans, description: What was lent., tables: [loans]}
`)}}}}
	_, err = alfred.Open(t.Context(), config)
	require.ErrorContains(t, err, "Worker.Probe")

	config.Worker.Probe = true
	assistant := open(t, config)
	turn := enqueue(t, pool, alfred.EnqueueParams{Message: "Show my loans"})
	done, err := assistant.Wait(t.Context(), turn.TurnID)
	require.NoError(t, err)
	require.Contains(t, done.Text(), "Dune")
	require.NotContains(t, done.Text(), "Emma")

	_, err = pool.Exec(t.Context(), `ALTER POLICY tenant ON lending.loans USING (true)`)
	require.NoError(t, err)
	_, err = alfred.Open(t.Context(), config)
	require.ErrorContains(t, err, "does not keep users apart")
}

func TestWhatCannotWorkIsRefusedAtOnce(t *testing.T) {
	t.Parallel()

	address := dbtest.URL(t)
	shop := fstest.MapFS{"shop.yaml": {Data: []byte("domain: shop\n")}}
	for what, config := range map[string]alfred.Config{
		"NoSchema":   {URL: dbtest.EmptyURL(t)},
		"NoDatabase": {URL: unreachable(t, address)},
		"NoKey":      {URL: address, Worker: &alfred.Worker{Provider: alfred.Provider{Name: "openai"}}},
		"NoTypes":    {URL: address, Worker: &alfred.Worker{Types: "nowhere.yaml"}},
		"OddTypes":   {URL: address, Worker: &alfred.Worker{Types: "shop.yaml", Files: shop}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()

			_, err := alfred.Open(t.Context(), config)
			require.Error(t, err)
		})
	}
}

func unreachable(t *testing.T, address string) string {
	t.Helper()
	at, err := url.Parse(address)
	require.NoError(t, err)
	at.Host = "127.0.0.1:1"

	return at.String()
}
