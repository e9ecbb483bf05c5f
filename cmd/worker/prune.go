package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/db"
	"alfred/internal/pg"
)

type pruneCommand struct {
	DryRun bool           `help:"Print what would be deleted; delete nothing."`
	JSON   bool           `help:"Print JSON."`
	Months *int           `help:"Whole months to keep besides the current one, at least 1, in every table that is not kept forever. Default: each table's own."`
	Keep   map[string]int `help:"Months for one table, as in --keep turn_events=6; 0 keeps forever. Defaults: turn_step_results 3, row_changes 3, row_events 3, turn_events 1, llm_calls 1, node_runs 3, api_keys 12, sessions 0." mapsep:","`
}

// retention says which of a table's rows are old, and how they are deleted: by partition, or in batches that hold no
// lock for long.
type retention struct {
	table      string
	months     int      // whole ones, besides the current one; 0: forever
	partitions []string // in this order
	old        string   // query for the keys of old rows
	batch      string   // deletes some of them; nil if they are deleted otherwise
	then       string   // updates some of what depended on old rows
}

// servedHere is a condition: rows of users who move are another database's to prune, and this one refuses the writing.
func servedHere(user string) string {
	return `NOT EXISTS (SELECT FROM user_places AS p WHERE p.state IN ('away', 'coming') AND p.user_id = ` + user + `)`
}

// retentions are the tables that would grow forever. Turns, summaries, refs and domain rows are deleted only with their
// session. Half of what a turn writes is prompts and answers, which matter only for recent problems; what an undo
// needs, or what shows a turn's rows, is small and kept longer.
var retentions = []retention{
	{table: "turn_step_results", months: 3, partitions: []string{"turn_step_results"}},
	{
		table: "row_changes", months: 3, partitions: []string{"row_changes"},
		// Nobody is offered an undo that is no longer possible.
		then: `UPDATE turns SET undo = 'impossible', undo_reason = 'What it wrote is no longer kept.' WHERE id IN (
			SELECT t.id FROM turns AS t WHERE t.id < uuid_v7_floor($1) AND t.undo = 'possible' AND NOT EXISTS (SELECT FROM row_changes AS c WHERE c.turn_id = t.id)
			  AND ` + servedHere("t.user_id") + `
			LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
	},
	{table: "turn_events", months: 1, partitions: []string{"turn_events"}},
	{table: "llm_calls", months: 1, partitions: []string{"llm_calls", "prompt_parts", "prompt_parts_shared"}},
	{
		table: "node_runs", months: 3,
		old:   `SELECT r.turn_id, r.position FROM node_runs AS r WHERE r.turn_id < uuid_v7_floor($1)`,
		batch: `DELETE FROM node_runs WHERE (turn_id, position) IN (%s LIMIT 1000)`,
	},
	{
		table: "row_events", months: 3,
		old:   `SELECT v.id FROM row_events AS v WHERE v.id < uuid_v7_floor($1)`,
		batch: `DELETE FROM row_events WHERE id IN (%s LIMIT 1000)`,
	},
	{
		table: "api_keys", months: 12, // revoked ones
		old:   `SELECT k.id FROM api_keys AS k WHERE k.revoked_at < $1 AND ` + servedHere("k.user_id"),
		batch: `DELETE FROM api_keys WHERE id IN (%s LIMIT 1000)`,
	},
	{
		table: "sessions", // without any message
		old:   `SELECT s.id FROM sessions AS s WHERE s.last_activity_at < $1 AND ` + servedHere("s.user_id"),
	},
}

// pruned is what a run deleted, or would delete.
type pruned struct {
	Dropped []string       `json:"dropped"` // partitions
	Deleted map[string]int `json:"deleted"` // rows, by table
	DryRun  bool           `json:"dry_run"`
}

// mostMonths is a century: a date that no calendar has might lie in the future.
const mostMonths = 1200

// Validate implements kong's hook.
func (c *pruneCommand) Validate() error {
	if c.Months != nil && (*c.Months < 1 || *c.Months > mostMonths) {
		return fmt.Errorf("%w: --months is %d; use 1 to %d", settings.ErrBad, *c.Months, mostMonths)
	}
	for table, months := range c.Keep {
		if months < 0 || months > mostMonths || !slices.ContainsFunc(retentions, func(r retention) bool { return r.table == table }) {
			return fmt.Errorf("%w: --keep %s=%d; use one of the tables in worker prune --help, and 0 to %d", settings.ErrBad, table, months, mostMonths)
		}
	}

	return nil
}

// Run deletes old rows. It never makes a running turn wait for more than a moment.
func (c *pruneCommand) Run(ctx context.Context, pool *pgxpool.Pool, console *program.Console) error {
	done := &pruned{Dropped: []string{}, Deleted: map[string]int{}, DryRun: c.DryRun}
	now, err := db.New().Clock(ctx, pool)
	if err != nil {
		return fmt.Errorf("read the database's clock: %w", err)
	}
	for _, r := range retentions {
		months := c.monthsOf(&r)
		if months == 0 {
			continue
		}
		if err := done.prune(ctx, pool, &r, firstKept(now, months)); err != nil {
			return fmt.Errorf("prune %s: %w", r.table, err)
		}
	}

	return console.Answer(c.JSON, done, done.text())
}

func (c *pruneCommand) monthsOf(r *retention) int {
	if own, ok := c.Keep[r.table]; ok {
		return own
	}
	if c.Months != nil && r.months > 0 {
		return *c.Months
	}

	return r.months
}

// firstKept is the beginning of the oldest whole month to keep.
func firstKept(now time.Time, months int) time.Time {
	year, month, _ := now.UTC().Date()

	return time.Date(year, month-time.Month(months), 1, 0, 0, 0, 0, time.UTC)
}

func (p *pruned) prune(ctx context.Context, pool *pgxpool.Pool, r *retention, before time.Time) error {
	for _, parent := range r.partitions {
		if err := p.dropPartitions(ctx, pool, parent, before); err != nil {
			return err
		}
	}
	if p.DryRun {
		return p.foresee(ctx, pool, r, before)
	}
	if r.then != "" {
		if _, err := untilNone(ctx, pool, r.then, before); err != nil {
			return err
		}
	}
	var rows int
	var err error
	switch {
	case r.old == "":
	case r.batch == "":
		rows, err = forgetSessions(ctx, pool, r.old, before)
	default:
		rows, err = untilNone(ctx, pool, fmt.Sprintf(r.batch, r.old), before)
	}
	p.count(r.table, rows)

	return err
}

// foresee counts the rows that would be deleted.
func (p *pruned) foresee(ctx context.Context, pool *pgxpool.Pool, r *retention, before time.Time) error {
	if r.old == "" {
		return nil
	}
	var rows int
	err := pool.QueryRow(ctx, `SELECT count(*) FROM (`+r.old+`) AS old`, before).Scan(&rows)
	p.count(r.table, rows)

	return err
}

// untilNone runs a batch statement until it affects no more rows, and returns how many it did.
func untilNone(ctx context.Context, pool *pgxpool.Pool, sql string, before time.Time) (rows int, err error) {
	for {
		tag, err := pool.Exec(ctx, sql, before)
		if err != nil || tag.RowsAffected() == 0 {
			return rows, err
		}
		rows += int(tag.RowsAffected())
	}
}

func (p *pruned) count(table string, rows int) {
	if rows > 0 {
		p.Deleted[table] += rows
	}
}

const (
	// dropTries times dropPause is how long a partition may be in use before prune leaves it to its next run.
	dropTries = 300
	dropPause = 100 * time.Millisecond
)

var errBusy = errors.New("the table was in use all the time; run prune again")

func (p *pruned) dropPartitions(ctx context.Context, pool *pgxpool.Pool, parent string, before time.Time) error {
	old, err := pg.Collect(ctx, pool, pgx.RowTo[string], "list old partitions", `SELECT partitions_old($1, $2)`, parent, before)
	if err != nil {
		return err
	}
	for _, part := range old {
		if !p.DryRun {
			if err := dropPartition(ctx, pool, part); err != nil {
				return fmt.Errorf("drop %s: %w", part, err)
			}
		}
		p.Dropped = append(p.Dropped, part)
	}

	return nil
}

// dropPartition retries until nobody holds the table.
func dropPartition(ctx context.Context, pool *pgxpool.Pool, part string) error {
	for range dropTries {
		_, err := pool.Exec(ctx, `SELECT partition_drop($1)`, part)
		if code := pg.Code(err); code != pgerrcode.LockNotAvailable && code != pgerrcode.DeadlockDetected {
			return err
		}
		if err := pg.Pause(ctx, dropPause); err != nil {
			return err
		}
	}

	return errBusy
}

func (p *pruned) text() string {
	lines := slices.Clone(p.Dropped)
	for _, r := range retentions {
		if rows := p.Deleted[r.table]; rows > 0 {
			lines = append(lines, fmt.Sprintf("%d of %s", rows, r.table))
		}
	}
	if len(lines) == 0 {
		lines = []string{"nothing is old enough"}
	}

	return strings.Join(lines, "\n") + "\n"
}
