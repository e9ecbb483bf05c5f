package mover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/directory"
	"alfred/internal/domain"
	"alfred/internal/pg"
)

// Mover moves users.
type Mover struct {
	Directory *directory.Directory
	// Domain finds the declaration whose rows move along.
	Domain func() (fs.FS, string)
	// Patience is how long the user's running turn may take to end; new ones wait meanwhile.
	Patience time.Duration
	// Grace is how long the source keeps its rows once the target serves, for readers that are still there.
	Grace time.Duration
	// Off copies while nothing is served, which needs no replication.
	Off bool
	// NewKeys, with Off, gives new keys to rows that a sequence numbers, if others' rows have their keys at the target.
	NewKeys bool
	// ComparedRows is up to how many rows are all compared by what they hold while nothing is served; 0 means 50,000. Of more, only
	// the domain's are, and the engine's that changed since all were copied and compared.
	ComparedRows int64
	Logger       *slog.Logger
	// At, if set, is called before each step: tests stop there.
	At func(directory.Step)
}

var (
	// ErrHere says that the user is there already.
	ErrHere = errors.New("the user is in this database already")

	// ErrNoWayBack says that a move has passed the point where it can be given up.
	ErrNoWayBack = errors.New("the user is the target's already: carry the move on, and move them back")

	// ErrNewKeys says that rows cannot get new keys while the conversations that know them are being served.
	ErrNewKeys = errors.New("rows get new keys only while nothing is served: say --off, too")

	// ErrOtherMove says that an open move leads elsewhere.
	ErrOtherMove = errors.New("an open move leads to another database: carry it on, or give it up with --abort")

	// ErrTurnRuns says that the user's turn did not end in time. They are served where they were.
	ErrTurnRuns = errors.New("a turn of this user did not end in time: try again")

	// ErrSlotWaits says that the source cannot be followed yet. The user is served where they were.
	ErrSlotWaits = errors.New("a transaction that is open on the source's server does not end, and a replication slot waits for all: try again, or move this user with --off")
)

// Report says what a move did.
type Report struct {
	Rows int64
	// Changed counts those of them that were brought again because they had changed since they were copied.
	Changed int64
	// Again: what had changed could not be brought alone, so all were copied again in the pause.
	Again bool
	// Renumbered counts the keys that rows have lost to others' at the target, those of deleted rows among them.
	Renumbered int64
	// Paused is how long nothing was served, from the end of the running turn until the target served; 0 where another
	// process had begun.
	Paused time.Duration
	Whole  time.Duration
}

// move is one move under way.
type move struct {
	*Mover
	*directory.Move

	source, target *pgxpool.Pool
	sourceErr      error // why there is no source
	targetErr      error // why there is no target
	tables         []table
	changes        *changes // nil while the source is not followed
	closed         time.Time
	report         Report
}

// Move moves a user to a database, or carries on an open move that leads there. Errors: those of [directory.Directory.Hold]
// and of this package; [*RefusedError] says what is in the way, and nothing has happened.
func (m *Mover) Move(ctx context.Context, name, target string) (report Report, err error) {
	if m.NewKeys && !m.Off {
		return Report{}, ErrNewKeys
	}
	err = m.Directory.Hold(ctx, name, func(user directory.User) error {
		to, err := m.Directory.Database(ctx, target)
		if err != nil {
			return err
		}
		if err := m.mayMove(ctx, user, to); err != nil {
			return err
		}
		taken, err := m.Directory.Take(ctx, user, target)
		if err != nil {
			return err
		}
		report, err = m.carry(ctx, taken)

		return err
	})

	return report, err
}

// mayMove looks ahead of a new move for what would stop it; an open one must lead to the same database.
func (m *Mover) mayMove(ctx context.Context, user directory.User, to directory.Database) error {
	open, err := m.Directory.OpenMove(ctx, user)
	switch {
	case errors.Is(err, directory.ErrNoMove) && user.Database == to:
		return ErrHere
	case errors.Is(err, directory.ErrNoMove):
		return m.check(ctx, user, to)
	case err == nil && (open.Target != to || open.Step == directory.StepAborting):
		return ErrOtherMove
	default:
		return err
	}
}

// Abort gives an open move up: the user is served where they were. Errors: [ErrNoWayBack], [directory.ErrNoMove].
func (m *Mover) Abort(ctx context.Context, name string) error {
	return m.Directory.Hold(ctx, name, func(user directory.User) error {
		open, err := m.Directory.OpenMove(ctx, user)
		if err != nil {
			return err
		}
		if open, err = m.Directory.Take(ctx, user, open.Target.Name); err != nil {
			return err
		}
		if open.Step == directory.StepSwitched || open.Step == directory.StepOpened {
			return ErrNoWayBack
		}
		if err := m.Directory.Advance(ctx, open, directory.StepAborting); err != nil {
			return err
		}
		under, err := m.begin(ctx, open)
		if err != nil {
			return err
		}
		defer under.end(ctx)

		return under.abort(ctx)
	})
}

const conns = 4

// begin opens both databases. One may fail to answer: the source once the user is the target's, and the target of a move
// that is given up.
func (m *Mover) begin(ctx context.Context, open *directory.Move) (*move, error) {
	under := &move{Mover: m, Move: open}
	under.target, under.targetErr = m.open(ctx, open.Target)
	under.source, under.sourceErr = m.open(ctx, open.Source)
	listed, at, err := under.source, open.Source, cmp.Or(under.targetErr, under.sourceErr)
	switch {
	case open.Step == directory.StepAborting:
		err = under.sourceErr
	case open.Step == directory.StepSwitched && under.sourceErr != nil:
		listed, at, err = under.target, open.Target, under.targetErr
	}
	if err == nil {
		under.tables, err = m.list(ctx, listed, at.Name, open.User.ID)
	}
	if err != nil {
		under.end(ctx)

		return nil, err
	}

	return under, nil
}

// end closes what begin has opened.
func (u *move) end(ctx context.Context) {
	if u.changes != nil {
		u.changes.stop(ctx)
	}
	for _, pool := range []*pgxpool.Pool{u.source, u.target} {
		if pool != nil {
			pool.Close()
		}
	}
}

func (m *Mover) open(ctx context.Context, database directory.Database) (*pgxpool.Pool, error) {
	pool, err := pg.Open(ctx, pg.Config{URL: database.URL, AppName: "alfred mover", MaxConns: conns})
	if err == nil {
		if err = pg.CheckSchema(ctx, pool, slog.New(slog.DiscardHandler)); err != nil {
			pool.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", database.Name, err)
	}

	return pool, nil
}

// carry takes the steps that are left.
func (m *Mover) carry(ctx context.Context, open *directory.Move) (Report, error) {
	started := time.Now()
	under, err := m.begin(ctx, open)
	if err != nil {
		return Report{}, errors.Join(err, m.Directory.Failed(context.WithoutCancel(ctx), open, err))
	}
	defer under.end(ctx)
	if err := under.resume(ctx); err != nil {
		return Report{}, under.failed(context.WithoutCancel(ctx), err)
	}
	steps := under.steps()
	for open.Step != directory.StepDone {
		if m.At != nil {
			m.At(open.Step)
		}
		step := open.Step
		err := steps[step].work(ctx)
		if err == nil && open.Step == step { // the switch notes itself
			err = m.Directory.Advance(ctx, open, steps[step].done)
		}
		if err != nil {
			return Report{}, under.failed(context.WithoutCancel(ctx), fmt.Errorf("after the step %s: %w", step, err))
		}
		m.Logger.InfoContext(ctx, "moved on", slog.String("user", open.User.Name), slog.String("step", string(open.Step)), slog.Duration("after", time.Since(started)))
	}
	under.report.Whole = time.Since(started)

	return under.report, nil
}

// action is what is to be done after a step, and the step that is taken then.
type action struct {
	work func(context.Context) error
	done directory.Step
}

func (u *move) steps() map[directory.Step]action {
	steps := map[directory.Step]action{
		directory.StepBegun:     {u.publish, directory.StepPublished},
		directory.StepPublished: {u.copyWhileServed, directory.StepFollowed},
		directory.StepFollowed:  {u.close, directory.StepClosed},
		directory.StepClosed:    {u.bringRest, directory.StepCopied},
		directory.StepCopied:    {u.switchOver, directory.StepSwitched},
		directory.StepSwitched:  {u.serve, directory.StepOpened},
		directory.StepOpened:    {u.forget, directory.StepDone},
	}
	if u.Off {
		steps[directory.StepBegun], steps[directory.StepClosed] = action{u.close, directory.StepClosed}, action{u.copy, directory.StepCopied}
	}

	return steps
}

// retreatTimeout bounds what makes the source serve the user again. It is longer than a statement of it may wait for a lock.
const retreatTimeout = 30 * time.Second

// failed lets the source serve the user again, unless the target already does: another attempt starts from the beginning.
func (u *move) failed(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(ctx, retreatTimeout)
	defer cancel()
	if refused, ok := errors.AsType[*RefusedError](err); ok { // nothing that trying again mends
		return errors.Join(refused, u.abort(ctx))
	}
	err = errors.Join(err, u.Directory.Failed(ctx, u.Move, err))
	if u.Step == directory.StepSwitched || u.Step == directory.StepOpened || errors.Is(err, directory.ErrTakenOver) {
		return err
	}

	return errors.Join(err, u.retreat(ctx))
}

func (u *move) switchOver(ctx context.Context) error {
	if err := u.awaitClock(ctx); err != nil {
		return err
	}

	return u.Directory.Switch(ctx, u.Move)
}

// bind is the domain in a database. Errors: [*RefusedError].
func (m *Mover) bind(ctx context.Context, pool *pgxpool.Pool, database string) (*domain.Domain, error) {
	files, file := m.Domain()
	bound, err := domain.Open(ctx, pool, files, file)
	if other, ok := errors.AsType[*domain.CheckError](err); ok {
		first, more := other.Problems[0], ""
		if rest := len(other.Problems) - 1; rest > 0 {
			more = fmt.Sprintf(", and %d more", rest)
		}

		return nil, refused("%s has another domain than this command, whose %s:%d says: %s%s (ALFRED_DOMAIN; worker domain check lists all)", database, other.File, first.Line, first.Message, more)
	}

	return bound, err
}
