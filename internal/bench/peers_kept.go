package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/pg"
)

// nodesOfTurn are the peers' nodes, one for each decision of the turn.
func nodesOfTurn() []string {
	return []string{"understand", "think", "read", "write", "reply", "summarize"}
}

// kept is how much is stored of turns besides what runs them: model calls, parts of prompts, results, events. Bytes
// count the texts before compression.
type kept struct{ Rows, Bytes float64 }

func (k kept) minus(o kept) kept { return kept{k.Rows - o.Rows, k.Bytes - o.Bytes} }

func (k kept) per(turns int) kept { return kept{k.Rows / float64(turns), k.Bytes / float64(turns)} }

// slack is how far a peer's turns may stay below Alfred's, because they are those of one of its sessions.
const slack = 0.01

// least returns an error if a peer stores less than Alfred.
func (k kept) least(alfred kept) error {
	if k.Rows < alfred.Rows*(1-slack) || k.Bytes < alfred.Bytes*(1-slack) {
		return fmt.Errorf("keeps %.1f rows and %.0f bytes of a turn, Alfred %.1f and %.0f", k.Rows, k.Bytes, alfred.Rows, alfred.Bytes)
	}

	return nil
}

const (
	keptByAlfred = `
		SELECT sum(n)::float8, coalesce(sum(size), 0)::float8 FROM (
			SELECT count(*) AS n, sum(octet_length(outline) + coalesce(octet_length(response::text), 0)) AS size FROM alfred.llm_calls
			UNION ALL SELECT count(*), sum(octet_length(text)) FROM alfred.prompt_parts
			UNION ALL SELECT count(*), sum(octet_length(text)) FROM alfred.prompt_parts_shared
			UNION ALL SELECT count(*), sum(octet_length(params::text) + octet_length(rows::text)) FROM alfred.turn_step_results
			UNION ALL SELECT count(*), sum(octet_length(data::text)) FROM alfred.turn_events) AS t`
	keptByPeer = `
		SELECT sum(n)::float8, coalesce(sum(size), 0)::float8 FROM (
			SELECT count(*) AS n, sum(octet_length(outline) + octet_length(response::text)) AS size FROM kept_calls
			UNION ALL SELECT count(*), sum(octet_length(text)) FROM kept_parts
			UNION ALL SELECT count(*), sum(octet_length(text)) FROM kept_parts_shared
			UNION ALL SELECT count(*), sum(octet_length(params::text) + octet_length(rows::text)) FROM kept_results
			UNION ALL SELECT count(*), sum(octet_length(data::text)) FROM kept_events) AS t`
)

// fixture is what peers store for each turn, in the form that package work reads: what Alfred stored in one session,
// turn by turn. Prompts are in pieces, so that peers store shared parts once, as Alfred does.
type fixture struct {
	Texts []string              `json:"texts"`
	Turns []map[string][]*entry `json:"turns"` // by node

	places map[string]int // in Texts
}

// entry is what one statement stores.
type entry struct {
	N        int     `json:"n"` // of the turn's calls
	Outline  *string `json:"outline"`
	Parts    []piece `json:"parts"`
	Response *string `json:"response"`
	Results  string  `json:"results"`
	Events   string  `json:"events"`
}

// piece is a part of a prompt.
type piece struct {
	Shared bool `json:"shared"` // by all sessions
	Text   int  `json:"text"`   // which of Texts
}

// past is what a session stored.
type past struct {
	calls           []pastCall
	results, events []pastRows
	parts           map[uuid.UUID]pastPart
}

// pastPart is a part of prompts.
type pastPart struct {
	Hash   uuid.UUID
	Text   string
	Shared bool
}

// pastCall is a model call.
type pastCall struct {
	Turn, Position    int
	Outline, Response string
	Parts             []uuid.UUID
}

// pastRows are a decision's results or events, as JSON.
type pastRows struct {
	Turn, Position int
	Rows           string
}

// newFixture makes the fixture of the measured turns, which follow the history. The measured turns also stand in for
// the history: they repeat as earlier laps, with parts of their own where Alfred had new ones.
func newFixture(p *past, history, measured int) *fixture {
	f := &fixture{places: map[string]int{}}
	for n := 1; len(f.Turns) < history; n++ {
		f.Turns = append(f.Turns, f.lap(p, history, measured, fmt.Sprintf("lap %d: ", n))...)
	}
	f.Turns = append(f.Turns[:history], f.lap(p, history, measured, "")...)

	return f
}

// lap are the measured turns. The texts of the parts that are new in them begin with a mark.
func (f *fixture) lap(p *past, history, measured int, mark string) []map[string][]*entry {
	turns := make([]map[string][]*entry, measured)
	for i := range turns {
		turns[i] = map[string][]*entry{}
	}
	known := map[uuid.UUID]bool{}
	for _, c := range p.calls {
		for _, part := range c.Parts {
			known[part] = known[part] || c.Turn <= history
		}
	}
	part := func(hash uuid.UUID) pastPart {
		part := p.parts[hash]
		if !part.Shared && !known[hash] {
			part.Text = mark + part.Text
		}

		return part
	}
	for _, c := range p.calls {
		if turn := c.Turn - history - 1; turn >= 0 && turn < measured {
			f.call(turns[turn], c, part)
		}
	}
	attach(turns, history, p.results, func(e *entry) *string { return &e.Results })
	attach(turns, history, p.events, func(e *entry) *string { return &e.Events })

	return turns
}

// call adds a call to its node.
func (f *fixture) call(turn map[string][]*entry, c pastCall, part func(hash uuid.UUID) pastPart) {
	e := &entry{N: 1, Outline: &c.Outline, Response: &c.Response, Results: "[]", Events: "[]"}
	for _, entries := range turn {
		e.N += len(entries)
	}
	for _, hash := range c.Parts {
		said := part(hash)
		place, there := f.places[said.Text]
		if !there {
			place = len(f.Texts)
			f.places[said.Text], f.Texts = place, append(f.Texts, said.Text)
		}
		e.Parts = append(e.Parts, piece{Shared: said.Shared, Text: place})
	}
	node := nodesOfTurn()[c.Position-1]
	turn[node] = append(turn[node], e)
}

// attach adds rows to the first entry of their node, which may not have asked a model.
func attach(turns []map[string][]*entry, history int, all []pastRows, field func(*entry) *string) {
	for _, rows := range all {
		turn := rows.Turn - history - 1
		if turn < 0 || turn >= len(turns) {
			continue
		}
		node := nodesOfTurn()[rows.Position-1]
		if turns[turn][node] == nil {
			turns[turn][node] = []*entry{{Parts: []piece{}, Results: "[]", Events: "[]"}}
		}
		*field(turns[turn][node][0]) = rows.Rows
	}
}

// recordFixture reads what Alfred stored in the session that stored most.
func recordFixture(ctx context.Context, address string, c contest) (*fixture, error) {
	pool, err := openPool(ctx, address, 1, nil)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	var session uuid.UUID
	err = pool.QueryRow(ctx, `SELECT session_id FROM llm_calls GROUP BY session_id ORDER BY sum(octet_length(outline)) DESC LIMIT 1`).Scan(&session)
	if err != nil {
		return nil, fmt.Errorf("find a session: %w", err)
	}
	p, err := readPast(ctx, pool, session)
	if err != nil {
		return nil, err
	}

	return newFixture(p, c.History, c.Turns), nil
}

const (
	// pastCalls assigns a call without a turn, which compresses older turns, to the turn that ran at that time.
	pastCalls = `
		SELECT (SELECT max(t.number) FROM turns AS t WHERE t.session_id = c.session_id AND t.id <= coalesce(c.turn_id, c.id)) AS turn,
			least(coalesce(c.position, 6), 6) AS position, c.outline, coalesce(c.response, 'null')::text AS response, c.parts
		FROM llm_calls AS c WHERE c.session_id = $1 ORDER BY c.id`
	pastResults = `
		SELECT t.number, least(2 + r.step, 6),
			jsonb_agg(jsonb_build_object('step', r.step, 'call', r.call, 'tool', r.tool, 'params', r.params, 'rows', r.rows) ORDER BY r.call)::text
		FROM turns AS t JOIN turn_step_results AS r ON r.turn_id = t.id
		WHERE t.session_id = $1 GROUP BY 1, 2`
	// pastEvents gives a node the events up to its end.
	pastEvents = `
		SELECT e.number, least(1 + e.finished, 6), jsonb_agg(jsonb_build_object('seq', e.seq, 'data', e.data) ORDER BY e.seq)::text
		FROM (SELECT t.number, v.seq, v.data, count(*) FILTER (WHERE v.type = 'node.finished') OVER (
				PARTITION BY t.id ORDER BY v.seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS finished
			FROM turns AS t JOIN turn_events AS v ON v.turn_id = t.id WHERE t.session_id = $1) AS e
		GROUP BY 1, 2`
	pastParts = `
		SELECT hash, text, false FROM prompt_parts WHERE session_id = $1
		UNION ALL SELECT hash, text, true FROM prompt_parts_shared`
)

func readPast(ctx context.Context, pool *pgxpool.Pool, session uuid.UUID) (p *past, err error) {
	p = &past{parts: map[uuid.UUID]pastPart{}}
	if p.calls, err = pg.Collect(ctx, pool, pgx.RowToStructByPos[pastCall], "read the calls", pastCalls, session); err != nil {
		return nil, err
	}
	if p.results, err = pg.Collect(ctx, pool, pgx.RowToStructByPos[pastRows], "read the results", pastResults, session); err != nil {
		return nil, err
	}
	if p.events, err = pg.Collect(ctx, pool, pgx.RowToStructByPos[pastRows], "read the events", pastEvents, session); err != nil {
		return nil, err
	}
	parts, err := pg.Collect(ctx, pool, pgx.RowToStructByPos[pastPart], "read the parts", pastParts, session)
	for _, part := range parts {
		p.parts[part.Hash] = part
	}

	return p, err
}

// write writes the fixture to a file.
func (f *fixture) write(name string) error {
	text, err := json.Marshal(f)
	if err == nil {
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write what is kept: %w", err)
	}

	return nil
}
