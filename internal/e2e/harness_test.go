package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/auth"
	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/follow"
	"alfred/internal/httpapi"
	"alfred/internal/llm"
	"alfred/internal/llm/lexical"
	"alfred/internal/llm/script"
	"alfred/internal/llm/wiretest"
	"alfred/internal/pg"
	"alfred/internal/preview"
	"alfred/internal/prompt"
	"alfred/internal/recall"
	"alfred/internal/testfactory"
	"alfred/jobs"
)

func TestMain(m *testing.M) { dbtest.Main(m, theBrowser.close) }

// house is a whole Alfred: a database, an API and a worker.
type house struct {
	t      *testing.T
	pool   *pgxpool.Pool
	url    string
	client *http.Client

	jobs       jobs.Config
	stopWorker func()
}

// fixtures configure a house; the zero value of each field is the default.
type fixtures struct {
	embedder llm.Embedder
	model    func(*domain.Domain) llm.Model
	pool     *pgxpool.Pool  // of a migrated database
	domain   *domain.Domain // the kitchen unless given
	apart    bool           // ask Understand and Think separately
	host     string         // a site whose pages and signed tokens are accepted
}

// everyApart makes all conversations use a separate call for each decision.
var everyApart = flag.Bool("apart", false, "ask Understand and Think one after the other")

// openHouse starts everything on a fresh database and stops it when the test ends.
func openHouse(t *testing.T, f fixtures) *house {
	t.Helper()
	dbtest.Whole(t)
	pool := f.pool
	if pool == nil {
		pool = dbtest.Pool(t)
	}
	logger := testLogger(t)
	d := f.domain
	if d == nil {
		d = testfactory.Kitchen(t)
	}
	if f.embedder == nil {
		f.embedder = lexical.Embedder{}
	}
	search := recall.New(d, f.embedder)
	tools, config := crud.New(d, search), prompt.DefaultConfig()
	config.Apart = f.apart || *everyApart
	model := wiretest.Checked(t, f.model(d))

	h := &house{t: t, pool: pool, jobs: jobs.Config{
		Pool: pool, Domain: d, Windows: config.Windows, Prompts: prompt.New(d, config), Tools: tools, Index: recall.NewIndex(search, pool), Logger: logger,
		Models:              func(string) llm.Model { return model },
		RetentionDecayTurns: 20, Version: "e2e", StrictGate: true, CompareCarried: true,
	}}
	h.startWorker()
	t.Cleanup(func() { h.stopWorker() })

	listener := pg.NewListener(pool.Config().ConnConfig, logger)
	listening, stopListening := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { _ = listener.Run(listening) })
	serving := httpapi.Config{
		Pool: pool, Listener: listener, Rows: tools, Search: search, Preview: preview.New(d, config), Domain: d, Logger: logger, Version: "e2e",
	}
	if f.host != "" {
		serving.Origins = []string{f.host}
		serving.Tokens = auth.NewTokens(auth.TokenConfig{JWKSURL: f.host + "/.well-known/jwks.json", Issuer: f.host, Audience: "alfred", UserClaim: "sub"}, slog.New(slog.DiscardHandler))
	}
	server := httptest.NewServer(httpapi.New(serving))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		stopListening()
		wait.Wait()
	})

	h.url, h.client = server.URL, server.Client()

	return h
}

func (h *house) startWorker() {
	h.t.Helper()
	runner, err := jobs.NewRunner(h.jobs)
	require.NoError(h.t, err)
	require.NoError(h.t, runner.Start(h.t.Context()))
	h.stopWorker = func() {
		ctx, cancel := context.WithTimeout(context.Background(), dbtest.Patience)
		defer cancel()
		require.NoError(h.t, runner.Stop(ctx))
	}
}

// shared is the same house for a subtest.
func (h *house) shared(t *testing.T) *house {
	t.Helper()
	same := *h
	same.t = t

	return &same
}

// scripted opens a house whose model plays a script.
func scripted(t *testing.T, yaml string) *house {
	t.Helper()

	return openHouse(t, fixtures{model: playing(t, yaml)})
}

// playing makes a model that plays a script, whatever the domain.
func playing(t *testing.T, yaml string) func(*domain.Domain) llm.Model {
	t.Helper()
	model, err := script.Parse([]byte(yaml))
	require.NoError(t, err)

	return func(*domain.Domain) llm.Model { return model }
}

// testLogger shows the log of a test that failed.
func testLogger(t *testing.T) *slog.Logger {
	t.Helper()
	log := &lockedBuffer{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("log:\n" + log.String())
		}
	})

	return slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.buf.String()
}

// person is a user with a key.
type person struct {
	*house

	key  string
	user uuid.UUID
}

// resident is a user with the demo's rows: three recipes and twelve things at home.
func (h *house) resident(name string) *person {
	h.t.Helper()
	p := h.guest(name)
	_, err := h.pool.Exec(h.t.Context(), `SELECT kitchen.seed_demo($1)`, p.user)
	require.NoError(h.t, err)

	return p
}

// guest is a user without any rows.
func (h *house) guest(name string) *person {
	h.t.Helper()
	user, err := db.New().UserEnsure(h.t.Context(), h.pool, name)
	require.NoError(h.t, err)
	key, hash := auth.NewKey()
	_, err = db.New().ApiKeyInsert(h.t.Context(), h.pool, &db.ApiKeyInsertParams{UserID: user, Name: "e2e", KeyHash: hash, Scopes: []string{"chat"}})
	require.NoError(h.t, err)

	return &person{house: h, key: key, user: user}
}

// call makes a request and decodes its answer into out, unless that is nil. It returns the status.
func (p *person) call(method, path string, body, out any, headers ...string) int {
	p.t.Helper()
	var payload io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		require.NoError(p.t, err)
		payload = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, payload)
	require.NoError(p.t, err)
	req.Header.Set("Authorization", "Bearer "+p.key)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := p.client.Do(req)
	require.NoError(p.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(p.t, err)
	if out != nil {
		require.NoError(p.t, json.Unmarshal(data, out), "%s %s: %d %s", method, path, resp.StatusCode, data)
	}

	return resp.StatusCode
}

// talk is one conversation.
type talk struct {
	*person

	session uuid.UUID
}

// converseApart is converse with separate calls, for tests in which Think must see what Understand left.
func converseApart(t *testing.T, yaml string) *talk {
	t.Helper()

	return openHouse(t, fixtures{apart: true, model: playing(t, yaml)}).resident("ada").talk()
}

// converse starts a conversation of a resident in a house with a scripted model, and at the end of the test checks what
// every conversation must leave.
func converse(t *testing.T, yaml string) *talk {
	t.Helper()

	return scripted(t, yaml).resident("ada").talk()
}

func (p *person) talk() *talk {
	p.t.Helper()
	var made struct {
		ID uuid.UUID `json:"id"`
	}
	require.Equal(p.t, http.StatusCreated, p.call(http.MethodPost, "/v1/sessions", map[string]string{}, &made))
	c := &talk{person: p, session: made.ID}
	p.t.Cleanup(func() {
		if !p.t.Failed() {
			c.checkCommon()
		}
	})

	return c
}

// turn is the part of the API's turn that tests look at.
type turn struct {
	ID       uuid.UUID `json:"id"`
	Number   int       `json:"number"`
	Status   string    `json:"status"`
	Goal     *string   `json:"goal"`
	Reply    string    `json:"reply"`
	Question *struct {
		Kind    string `json:"kind"`
		Status  string `json:"status"`
		Text    string `json:"text"`
		Options []struct {
			Label string `json:"label"`
			Ref   string `json:"ref"`
		} `json:"options"`
	} `json:"question"`
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Steps []struct {
		StepType string  `json:"step_type"`
		Outcome  string  `json:"outcome"`
		Summary  string  `json:"summary"`
		Note     *string `json:"note"`
	} `json:"steps"`
	Usage struct {
		Calls int `json:"calls"`
	} `json:"usage"`
	Unwritten bool           `json:"unwritten"`
	Wrote     []follow.Wrote `json:"wrote"`
}

// outcomes are the outcomes of the turn's steps: "read ok, write partial".
func (tn *turn) outcomes() string {
	var b bytes.Buffer
	for i, s := range tn.Steps {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(s.StepType + " " + s.Outcome)
	}

	return b.String()
}

// message is the body of a turn.
type message map[string]any

// say sends a message, waits for everything that follows from it and requires a reply.
func (c *talk) say(text string) *turn {
	c.t.Helper()

	return c.send(message{"message": text})
}

// waiting asks for a turn once all that follows from it has happened.
var waiting = "?until=summarized&wait=" + dbtest.Patience.String()

func (c *talk) send(body message) *turn {
	c.t.Helper()
	got := c.end(c.enqueue(body))
	require.Equal(c.t, "succeeded", got.Status, "turn %d: %+v", got.Number, got.Error)

	return got
}

// enqueue sends a message without waiting.
func (c *talk) enqueue(body message) *turn {
	c.t.Helper()
	made := &turn{}
	status := c.call(http.MethodPost, c.path("/turns"), body, made)
	require.Equal(c.t, http.StatusAccepted, status)

	return made
}

// end waits until a turn has ended and is summarized.
func (c *talk) end(made *turn) *turn {
	c.t.Helper()
	got := &turn{}
	require.Equal(c.t, http.StatusOK, c.call(http.MethodGet, "/v1/turns/"+made.ID.String()+waiting, nil, got))

	return got
}

// fail sends a message whose turn must fail, and returns it.
func (c *talk) fail(text string) *turn {
	c.t.Helper()
	got := c.end(c.enqueue(message{"message": text}))
	require.Equal(c.t, "failed", got.Status)
	require.NotNil(c.t, got.Error)

	return got
}

func (c *talk) path(rest string) string { return "/v1/sessions/" + c.session.String() + rest }
