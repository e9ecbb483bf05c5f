package main

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"alfred/internal/pg"
)

// grownTurns are measured in each session, after warmUp others.
const grownTurns = 30

// behind are how many turns a session has had before the measured ones.
func behind() []int { return []int{10, 100, 1_000, 10_000} }

// grown is what a turn costs after so many others, including its background.
type grown struct {
	Behind, Refs        int
	Queries, RoundTrips float64
	Rows                int
	Tokens              float64 // of all prompts, as the model's side counts them
	Replied             time.Duration
}

// measureGrowth runs turns in sessions of all ages.
func measureGrowth(ctx context.Context, address string) ([]*grown, error) {
	var all []*grown
	for _, n := range behind() {
		g := &grown{Behind: n}
		if err := g.measure(ctx, address); err != nil {
			return nil, fmt.Errorf("after %d turns: %w", n, err)
		}
		all = append(all, g)
	}

	return all, nil
}

func (g *grown) measure(ctx context.Context, address string) error {
	return onRig(ctx, address, answers{}, 1, func(r *rig, sessions []uuid.UUID) error {
		if err := seedTurns(ctx, r.pool, sessions[0], g.Behind); err != nil {
			return err
		}
		if err := analyze(ctx, r.pool); err != nil {
			return err
		}
		if err := r.playOut(ctx, sessions, warmUp); err != nil {
			return err
		}
		p, err := r.playCounted(ctx, sessions, grownTurns)
		if err != nil {
			return err
		}
		g.Queries, g.RoundTrips = float64(p.sent.Queries)/grownTurns, float64(p.sent.RoundTrips)/grownTurns
		g.Replied = percentile(p.replied, 0.5)
		changes, err := recorded(ctx, r.pool, func() error { return r.playOut(ctx, sessions, 1) })
		if err != nil {
			return err
		}
		g.Rows = len(changes)

		return g.read(ctx, r.pool, sessions[0])
	})
}

// read queries what the rows show.
func (g *grown) read(ctx context.Context, pool *pgxpool.Pool, session uuid.UUID) error {
	err := pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM entity_refs WHERE session_id = $1),
		(SELECT sum(c.input_tokens) / $3::float8 FROM llm_calls AS c JOIN turns AS t ON t.id = c.turn_id WHERE t.session_id = $1 AND t.number BETWEEN $2 + 1 AND $2 + $3)`,
		session, g.Behind+warmUp, grownTurns).Scan(&g.Refs, &g.Tokens)
	if err != nil {
		return fmt.Errorf("read what the turns left: %w", err)
	}

	return nil
}

// seedTurns writes the rows of past turns: each turn and its summary, the result of one read with ten rows, ten refs
// with their events that have left the view, and after each turn two summaries of everything older than the newest
// three.
func seedTurns(ctx context.Context, pool *pgxpool.Pool, session uuid.UUID, n int) error {
	for _, sql := range []string{
		`INSERT INTO turns (session_id, user_id, number, message, mode, status, reply, replied_at, started_at, finished_at, summarized_at)
		 SELECT s.id, s.user_id, i, 'Show recipes with lentils for ' || i % 9 + 1 || ' people', 'plan', 'succeeded', 'Here are ten recipes, number ' || i, at, at, at, at
		 FROM sessions AS s, generate_series(1, $2::integer) AS i, LATERAL (SELECT clock_timestamp() - make_interval(secs => $2 - i)) AS x (at) WHERE s.id = $1`,
		`SELECT turn_summary_write_facts(id) FROM turns WHERE session_id = $1 AND number <= $2`,
		`INSERT INTO turn_step_results (turn_id, step, call, tool, entity_type, params, rows, row_count, refs)
		 SELECT t.id, 1, 1, 'db_read', 'recipe', '{"table": "recipes"}', x.rows, 10, x.refs
		 FROM turns AS t, LATERAL (SELECT jsonb_agg(jsonb_build_object('id', 'recipe_' || r, 'name', 'Recipe ' || r) ORDER BY r), array_agg('recipe_' || r ORDER BY r)
			FROM generate_series(t.number * 10 - 9, t.number * 10) AS r) AS x (rows, refs)
		 WHERE t.session_id = $1 AND t.number <= $2`,
		`INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
		 SELECT $1, 'recipe_' || r, 'recipe', gen_random_uuid()::text, 'stored', 'read', 'Recipe ' || r, (r + 9) / 10, (r + 9) / 10 FROM generate_series(1, $2 * 10) AS r`,
		`INSERT INTO ref_counters (session_id, kind, entity_type, last_number) VALUES ($1, 'row', 'recipe', $2 * 10)`,
		`INSERT INTO entity_events (session_id, ref, turn_number, step, action, actor, data)
		 SELECT r.session_id, r.ref, r.turn_created, 1, r.action, 'assistant', to_jsonb(r) FROM entity_refs AS r WHERE r.session_id = $1 AND r.turn_created <= $2`,
		`INSERT INTO history_summaries (session_id, kind, from_turn, to_turn, text, model, prompt_version)
		 SELECT $1, kind, 1, i, repeat('The user looked at recipes with lentils. ', 20), 'none', '1'
		 FROM unnest(ARRAY['conversation', 'narrative']) AS kind, generate_series(1, $2 - 3) AS i`,
		`UPDATE sessions SET last_turn = $2 WHERE id = $1`,
	} {
		args := []any{session, n}
		if _, err := pool.Exec(ctx, sql, args...); err != nil {
			return fmt.Errorf("seed turns: %.50s: %w", strings.Join(strings.Fields(sql), " "), err)
		}
	}

	return nil
}

// analyze tells the planner what is stored, as autovacuum does within a minute.
func analyze(ctx context.Context, pool *pgxpool.Pool) error {
	if _, err := pool.Exec(ctx, `ANALYZE`); err != nil {
		return fmt.Errorf("analyze: %w", err)
	}

	return nil
}

// oldRows is how many rows of turn_step_results are in months that are pruned.
const oldRows = 10_000_000

// pruned is how pruning affects running turns.
type pruned struct {
	Rows            int
	Alone, Meantime []time.Duration // enqueued to replied
	Took            time.Duration
}

// measurePruning fills three past months, and drops them while turns run.
func measurePruning(ctx context.Context, address string, prune func(context.Context) error) (*pruned, error) {
	p := &pruned{Rows: oldRows}

	return p, onRig(ctx, address, answers{}, 1, func(r *rig, sessions []uuid.UUID) (err error) {
		if err := seedOld(ctx, r.pool, oldRows); err != nil {
			return err
		}
		if err := r.playOut(ctx, sessions, warmUp); err != nil {
			return err
		}
		alone := 0
		if p.Alone, err = r.replies(ctx, sessions[0], func() bool { alone++; return alone <= grownTurns }); err != nil {
			return err
		}
		start := time.Now()
		pruning, pruneCtx := errgroup.WithContext(ctx)
		over, end := context.WithCancel(ctx)
		pruning.Go(func() error {
			defer end()
			defer func() { p.Took = time.Since(start) }()

			return prune(pruneCtx)
		})
		p.Meantime, err = r.replies(ctx, sessions[0], func() bool { return over.Err() == nil })

		return errors.Join(err, pruning.Wait())
	})
}

// replies runs turns for as long as more returns true, and returns how long each reply took.
func (r *rig) replies(ctx context.Context, session uuid.UUID, more func() bool) ([]time.Duration, error) {
	var all []time.Duration
	for more() {
		took, err := r.turn(ctx, session, looking)
		if err != nil {
			return nil, err
		}
		all = append(all, took.replied)
	}

	return all, nil
}

// seedOld writes so many results of turns in the three months before last month. It skips the row-by-row check of
// foreign keys, which would take an hour, and with it the triggers that fill in owners; the keys are valid.
func seedOld(ctx context.Context, pool *pgxpool.Pool, rows int) error {
	const turns = 10_000
	var session uuid.UUID
	if err := pool.QueryRow(ctx, `SELECT start_session('bench of old')`).Scan(&session); err != nil {
		return fmt.Errorf("make a session: %w", err)
	}
	err := pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		return tx.SendBatch(ctx, batchOf([]statement{
			{sql: oldPartitions},
			{`INSERT INTO turns (id, session_id, user_id, number, message, mode, status, reply, created_at, replied_at, started_at, finished_at, summarized_at)
				SELECT uuid_v7(at), s.id, s.user_id, i, 'old', 'plan', 'succeeded', 'old', at, at, at, at, at
				FROM sessions AS s, generate_series(1, $2::integer) AS i,
					LATERAL (SELECT date_trunc('month', now()) - interval '4 months' + i * (interval '85 days' / $2)) AS x (at) WHERE s.id = $1`, []any{session, turns}},
			{`UPDATE sessions SET last_turn = $2 WHERE id = $1`, []any{session, turns}},
			{sql: `SET LOCAL session_replication_role = replica`},
			{`INSERT INTO turn_step_results (user_id, turn_id, step, call, tool, entity_type, rows, row_count, refs)
				SELECT t.user_id, t.id, 1, n, 'db_read', 'recipe', '[{"id": "recipe_1", "name": "Lentil soup"}]', 1, '{recipe_1}'
				FROM turns AS t, generate_series(1, $2::integer) AS n WHERE t.session_id = $1`, []any{session, rows / turns}},
		})).Close()
	})
	if err != nil {
		return fmt.Errorf("seed old results: %w", err)
	}
	for _, sql := range []string{`VACUUM (ANALYZE) turn_step_results`, `CHECKPOINT`} { // old rows have had both
		if _, err := pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}

	return nil
}

// oldPartitions creates the partitions that workers would have created.
const oldPartitions = `
DO $$
DECLARE month timestamptz;
BEGIN
	FOR month IN SELECT date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - make_interval(months => m) FROM generate_series(1, 4) AS m LOOP
		EXECUTE format('CREATE TABLE turn_step_results_%s PARTITION OF turn_step_results FOR VALUES FROM (%L) TO (%L)',
			to_char(month AT TIME ZONE 'UTC', '"y"YYYY"m"MM'), uuid_v7_floor(month), uuid_v7_floor(month + interval '1 month'));
	END LOOP;
END
$$`

// sizes is the content of docs/growth.md.
type sizes struct {
	facts

	GrownTurns, InFlight, IdleStreams int

	Growth    []*grown
	Pruned    *pruned
	First     *first
	Footprint *footprint
}

// measureSizes measures everything.
func measureSizes(ctx context.Context, s *server, own string) (z *sizes, picture string, err error) {
	dir, err := os.MkdirTemp("", "alfred-bench-")
	if err != nil {
		return nil, "", fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	built, err := buildPrograms(ctx, dir, own)
	if err != nil {
		return nil, "", err
	}
	facts, err := s.facts(ctx)
	if err != nil {
		return nil, "", err
	}
	z = &sizes{facts: facts, GrownTurns: grownTurns, InFlight: inFlight, IdleStreams: idleStreams}
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{"first word", func() (err error) { z.First, err = measureFirst(ctx, own); return err }},
		{"growth", func() (err error) { z.Growth, err = measureGrowth(ctx, own); return err }},
		{"pruning", func() (err error) { z.Pruned, err = measurePruning(ctx, own, built.prune); return err }},
		{"footprint", func() (err error) { z.Footprint, err = measureFootprint(ctx, built); return err }},
	} {
		if err := part.measure(); err != nil {
			return nil, "", fmt.Errorf("%s: %w", part.name, err)
		}
		fmt.Fprintf(os.Stderr, "bench: %s measured\n", part.name)
	}
	picture, err = z.plot()

	return z, picture, err
}

// prune is worker prune, keeping last month and this one.
func (p *programs) prune(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, filepath.Join(p.dir, "worker"), "prune", "--months", "1")
	cmd.Env = append(os.Environ(), "DATABASE_URL="+p.address)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("worker prune: %s: %w", out, err)
	}

	return nil
}

func (z *sizes) plot() (string, error) {
	lines := []series{
		{name: "queries", color: color.RGBA{27, 108, 168, 255}}, {name: "prompt tokens", color: color.RGBA{181, 84, 28, 255}},
		{name: "rows written", color: color.RGBA{59, 125, 59, 255}}, {name: "time to the reply", color: color.RGBA{122, 59, 143, 255}},
	}
	var xs []int
	for _, g := range z.Growth {
		xs = append(xs, g.Behind)
		for i, v := range []float64{g.Queries, g.Tokens, float64(g.Rows), g.Replied.Seconds()} {
			lines[i].values = append(lines[i].values, v)
		}
	}

	return draw("turns before", xs, lines)
}
