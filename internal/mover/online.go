package mover

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"alfred/internal/directory"
	"alfred/internal/pg"
)

const (
	// slotPatience is how long a slot may wait for the transactions that are open on the server, and how long it may take, once
	// all is copied, to read what was written by then. The user is served meanwhile.
	slotPatience = 5 * time.Minute
	// readPatience is how long the user may wait until what is written already has been read; then they are served again.
	readPatience = 20 * time.Second
	// comparedRows are compared in less than a second on a core of their own.
	comparedRows = 50_000
)

// publish makes the source publish what is written for the user from now on.
func (u *move) publish(ctx context.Context) error {
	if err := u.identify(ctx); err != nil {
		return err
	}
	if err := pg.InTx(ctx, u.source, func(tx pgx.Tx) error { return u.createPublication(ctx, tx) }); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, slotPatience)
	defer cancel()
	var err error
	if u.changes, err = follow(waiting, u.source, u.publication(), u.tables); err != nil {
		if waiting.Err() != nil && ctx.Err() == nil {
			err = errors.Join(ErrSlotWaits, err)
		}

		return err
	}
	// A commit is in the WAL before others see it (while a synchronous standby does not answer), and the slot reports none that was
	// there before the slot: the copy must see all of those.
	return u.setPlace(ctx, u.source, u.Epoch, placeHere)
}

// unpublish ends what publish began, by whichever process. A slot ends with its connection, which may outlive a mover's machine.
func (u *move) unpublish(ctx context.Context) error {
	if u.changes != nil {
		u.changes.stop(ctx)
		u.changes = nil
	}
	if err := exec(ctx, u.source, "end the replication slot", `SELECT pg_terminate_backend(s.active_pid, 5000) FROM pg_replication_slots AS s WHERE s.slot_name = $1 AND s.active_pid IS NOT NULL`, u.publication()); err != nil {
		return err
	}

	return exec(ctx, u.source, "drop the publication", `DROP PUBLICATION IF EXISTS `+u.publication())
}

// resume goes back to the first step if the mover that died had followed the source's changes: that stream ended with it.
func (u *move) resume(ctx context.Context) error {
	switch u.Step {
	case directory.StepCopied, directory.StepSwitched, directory.StepOpened:
		return nil
	case directory.StepPublished, directory.StepFollowed:
		return u.retreat(ctx)
	case directory.StepClosed:
		if !u.Off {
			return u.retreat(ctx)
		}
	default:
	}

	return u.unpublish(ctx)
}

// retreat lets the source serve the user again, and goes back to the first step. The directory comes first: if it has the
// step that failed as done, or as taken over, the source stays closed.
func (u *move) retreat(ctx context.Context) error {
	if err := u.Directory.Advance(ctx, u.Move, directory.StepBegun); err != nil {
		return err
	}

	return errors.Join(u.setPlace(ctx, u.source, u.Epoch, placeHere), u.unpublish(ctx))
}

// copyWhileServed copies while the user is served, and reads what has changed meanwhile.
func (u *move) copyWhileServed(ctx context.Context) error {
	err := u.transfer(ctx, func(from, to pgx.Tx) error {
		if err := u.bringAll(ctx, from, to); err != nil {
			return err
		}

		return advanceSequences(ctx, from, to, u.tables) // the target's other users go on taking numbers
	})
	if err != nil {
		return err
	}
	reading, cancel := context.WithTimeout(ctx, slotPatience)
	defer cancel()

	return u.changes.read(reading)
}

// bringRest brings what has changed since it was copied. Whatever that does not bring over as it is, the whole copy does, for
// which the user waits longer.
func (u *move) bringRest(ctx context.Context) error {
	reading, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	if err := u.changes.read(reading); err != nil {
		return err
	}
	u.changes.noteInTables()
	u.changes.stop(ctx)
	lost, err := u.changes.lost, errDiffers
	u.changes = nil
	if !lost {
		copied := u.report.Rows
		err = u.transfer(ctx, func(from, to pgx.Tx) error {
			if err := u.bringChanged(ctx, from, to); err != nil {
				return err
			}
			if err := u.verify(ctx, from, to, u.rowsToCompare(copied)); err != nil {
				return err
			}

			return u.settle(ctx, from, to)
		})
	}
	if _, ok := errors.AsType[*RefusedError](err); !ok && !errors.Is(err, errDiffers) {
		return err
	}
	u.Logger.WarnContext(ctx, "what changed while rows were copied cannot be brought alone: all are copied again", slog.String("user", u.User.Name), slog.Any("error", err))
	u.report.Again = true

	return u.copy(ctx)
}

// rowsToCompare says which rows the pause has time to compare by what they hold. If there are many, it skips the engine's unchanged
// ones, which were compared when they were copied. It never skips the domain's, as their triggers and foreign keys may touch more
// rows than those that changed.
func (u *move) rowsToCompare(copied int64) func(*table) string {
	limit := cmp.Or(u.ComparedRows, comparedRows)
	if copied <= limit {
		return everyRow
	}

	return func(t *table) string {
		switch {
		case t.entity != nil:
			return t.rows
		case t.changed == "":
			return "false"
		default:
			return t.among("x")
		}
	}
}
