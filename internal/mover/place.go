package mover

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/internal/directory"
	"alfred/internal/pg"
)

// The states of a user in a database, as in user_places.
const (
	placeHere    = "here"
	placeLeaving = "leaving"
	placeAway    = "away"
	placeComing  = "coming"
)

// setPlace sets the user's state in a database. Errors: [directory.ErrTakenOver].
func (u *move) setPlace(ctx context.Context, tx db.DBTX, epoch int64, state string) error {
	done, err := db.New().UserPlaceSet(ctx, tx, &db.UserPlaceSetParams{UserID: u.User.ID, Epoch: epoch, Attempt: u.Attempt, State: state})
	if err != nil {
		return fmt.Errorf("set the user's place to %s: %w", state, err)
	}
	if !done {
		return directory.ErrTakenOver
	}

	return nil
}

const busyPause = 20 * time.Millisecond

// close lets the running turn end while new ones wait, and then makes the source refuse the user.
func (u *move) close(ctx context.Context) error {
	if err := u.setPlace(ctx, u.source, u.Epoch, placeLeaving); err != nil {
		return err
	}
	if err := u.awaitTurn(ctx); err != nil {
		return err
	}
	if err := u.keepJobs(ctx); err != nil {
		return err
	}
	u.closed = time.Now()

	return u.setPlace(ctx, u.source, u.Epoch, placeAway)
}

// awaitTurn waits for the end of the running turn. Errors: [ErrTurnRuns].
func (u *move) awaitTurn(ctx context.Context) error {
	for until := time.Now().Add(u.Patience); ; {
		if runs, err := u.turnRuns(ctx); err != nil || !runs {
			return err
		}
		if time.Now().After(until) {
			return ErrTurnRuns
		}
		if err := pg.Pause(ctx, busyPause); err != nil {
			return fmt.Errorf("wait for the running turn: %w", err)
		}
	}
}

// turnRuns: a turn runs, or its summary is being worded, for which the next turn would wait as long.
func (u *move) turnRuns(ctx context.Context) (busy bool, err error) {
	err = u.source.QueryRow(ctx, `SELECT EXISTS (SELECT FROM turns AS t WHERE t.user_id = $1 AND (t.status = 'running'
		OR t.status = 'succeeded' AND t.summarized_at IS NULL AND t.replied_at > clock_timestamp() - interval '3 seconds'))`, u.User.ID).Scan(&busy)
	if err != nil {
		err = fmt.Errorf("look for the running turn: %w", err)
	}

	return busy, err
}

// serve lets the target serve the user: unfinished jobs are inserted again, and waiting turns are started.
func (u *move) serve(ctx context.Context) error {
	err := pg.InTx(ctx, u.target, func(tx pgx.Tx) error {
		if err := u.setPlace(ctx, tx, u.Epoch+1, placeHere); err != nil {
			return err
		}
		for _, job := range u.Jobs {
			if _, err := tx.Exec(ctx, `SELECT job_insert($1, $2, $3)`, job.Kind, job.Args, job.Queue); err != nil {
				return fmt.Errorf("make the job anew: %w", err)
			}
		}
		_, err := tx.Exec(ctx, `SELECT turn_start_next(q.session_id) FROM (SELECT DISTINCT t.session_id FROM turns AS t WHERE t.user_id = $1 AND t.status = 'queued') AS q`, u.User.ID)

		return err
	})
	if err != nil {
		return fmt.Errorf("serve the user at %s: %w", u.Target.Name, err)
	}
	if !u.closed.IsZero() {
		u.report.Paused = time.Since(u.closed)
	}

	return nil
}

// keepJobs notes the jobs that are not done. What is done after that is done again at the target, which does no harm.
func (u *move) keepJobs(ctx context.Context) error {
	jobs, err := pg.Collect(ctx, u.source, pgx.RowToStructByPos[directory.Job], "look for the user's jobs", `SELECT kind, args, queue FROM jobs_of_user($1)`, u.User.ID)
	if err != nil {
		return err
	}

	return u.Directory.KeepJobs(ctx, u.Move, jobs)
}

// forget deletes what the source still has. Its place stays noted, so that it never takes the user for a new one.
func (u *move) forget(ctx context.Context) error {
	if u.source == nil {
		return u.sourceErr
	}
	if err := u.unpublish(ctx); err != nil {
		return err
	}
	if err := pg.Pause(ctx, u.Grace); err != nil {
		return fmt.Errorf("wait for readers: %w", err)
	}

	return u.leave(ctx, u.source, u.Source.Name)
}

// leave deletes what a database has of the user, and has it refuse them.
func (u *move) leave(ctx context.Context, pool *pgxpool.Pool, name string) error {
	err := pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		if err := u.setPlace(ctx, tx, u.Epoch+1, placeAway); err != nil {
			return err
		}

		return wipe(ctx, tx, u.tables, u.User.ID)
	})
	if err != nil {
		return fmt.Errorf("delete at %s: %w", name, err)
	}

	return nil
}

// abort lets the source serve the user again, and the target forget them.
func (u *move) abort(ctx context.Context) error {
	if u.Step != directory.StepAborting {
		if err := u.Directory.Advance(ctx, u.Move, directory.StepAborting); err != nil {
			return err
		}
	}
	if err := u.setPlace(ctx, u.source, u.Epoch, placeHere); err != nil {
		return err
	}
	if err := u.unpublish(ctx); err != nil {
		return err
	}
	if u.target == nil {
		return fmt.Errorf("the user is served at %s; give up again when the other database answers, which may have rows of theirs: %w", u.Source.Name, u.targetErr)
	}
	if err := u.leave(ctx, u.target, u.Target.Name); err != nil {
		return err
	}

	return u.Directory.Advance(ctx, u.Move, directory.StepAborted)
}

// wipe deletes a user's rows, those that refer to others first, and their jobs.
func wipe(ctx context.Context, tx pgx.Tx, tables []table, user uuid.UUID) error {
	if err := exec(ctx, tx, "say that a user moves", moving); err != nil {
		return err
	}
	if err := exec(ctx, tx, "delete jobs", `SELECT jobs_forget(ARRAY(SELECT t.id FROM turns AS t WHERE t.user_id = $1 UNION ALL SELECT s.id FROM sessions AS s WHERE s.user_id = $1))`, user); err != nil {
		return err
	}
	for _, t := range slices.Backward(tables) {
		if err := exec(ctx, tx, "delete from "+t.name, `DELETE FROM `+t.name+` AS x WHERE `+t.rows); err != nil {
			return err
		}
	}

	return nil
}

// moving lets a transaction write for a user whom the database does not serve. Rows are shown whole or not at all, and as
// text that does not depend on where the mover runs.
const moving = `SET LOCAL alfred.moving = 'on'; SET LOCAL row_security = off; SET LOCAL TimeZone = 'UTC'`
