package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"alfred/cmd/internal/program"
	"alfred/internal/directory"
	"alfred/internal/mover"
	"alfred/internal/pg"
)

type directoryRebalanceCommand struct {
	Plan bool          `help:"Print the moves as commands; nothing is moved." required:""`
	Over time.Duration `default:"24h" help:"How far back to look."`
	Top  int           `default:"1000" help:"How many users to look at in each database, those with most to do first."`
	JSON bool          `help:"Print JSON."`
}

const loadSQL = `
	SELECT u.name, t.turns, coalesce((
	    SELECT sum(c.input_tokens + c.output_tokens) FROM sessions AS s JOIN llm_calls AS c ON c.session_id = s.id AND c.id >= uuid_v7_floor(now() - $1::interval) AND c.user_id = s.user_id
	    WHERE s.user_id = t.user_id AND s.last_activity_at >= now() - $1::interval), 0)::bigint
	FROM (SELECT t.user_id, count(*) AS turns FROM turns AS t WHERE t.id >= uuid_v7_floor(now() - $1::interval) GROUP BY 1 ORDER BY 2 DESC LIMIT $2) AS t
	JOIN users AS u ON u.id = t.user_id
	ORDER BY t.turns DESC, t.user_id`

// Run plans, for the databases that answer. What a turn costs a database hardly depends on how long its texts are, so turns are the measure; tokens are
// shown beside.
func (c *directoryRebalanceCommand) Run(ctx context.Context, known *directory.Directory, console *program.Console) error {
	rows, err := known.Databases(ctx)
	if err != nil {
		return err
	}
	var loads []mover.Load
	silent := map[string]string{}
	for _, row := range rows {
		load := mover.Load{Database: row.Name}
		switch err = c.measure(ctx, row.URL, &load); {
		case err == nil:
			loads = append(loads, load)
		case ctx.Err() == nil && errors.Is(err, pg.ErrNoAnswer):
			silent[row.Name] = strings.Join(strings.Fields(err.Error()), " ")
		default:
			return fmt.Errorf("database %s: %w", row.Name, err)
		}
	}
	if len(loads) == 0 && err != nil {
		return err
	}
	before := mover.Unevenness(loads)
	plan := mover.Plan(loads)
	after := mover.Unevenness(loads)
	if c.JSON {
		return program.PrintJSON(console.Out, map[string]any{"moves": plan, "busiest_to_mean_before": before, "busiest_to_mean_after": after, "left_out": silent})
	}
	for _, name := range slices.Sorted(maps.Keys(silent)) {
		fmt.Fprintf(console.Out, "# %s is left out: %s\n", name, silent[name])
	}
	fmt.Fprintf(console.Out, "# the busiest database has %.2f times the mean; after these %d moves %.2f\n", before, len(plan), after)
	for _, m := range plan {
		fmt.Fprintf(console.Out, "worker user move %s --to %s   # from %s: %d turns, %d tokens\n", shellWord(m.User), m.To, m.From, m.Turns, m.Tokens)
	}

	return nil
}

// measure reads the busiest users and how many turns there were in all.
func (c *directoryRebalanceCommand) measure(ctx context.Context, address string, into *mover.Load) error {
	pool, err := pg.Open(ctx, pg.Config{URL: address, AppName: "alfred rebalance", MaxConns: 1})
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := pool.QueryRow(ctx, `SELECT count(*) FROM turns WHERE id >= uuid_v7_floor(now() - $1::interval)`, c.Over).Scan(&into.Turns); err != nil {
		return fmt.Errorf("count turns: %w", err)
	}
	rows, _ := pool.Query(ctx, loadSQL, c.Over, c.Top) // a failed query shows when its rows are collected
	if into.Users, err = pgx.CollectRows(rows, pgx.RowToStructByPos[mover.UserLoad]); err != nil {
		return fmt.Errorf("count each user's turns: %w", err)
	}

	return nil
}

// shellWord quotes a name as a shell reads it.
func shellWord(name string) string { return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'" }
