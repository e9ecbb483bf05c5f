package directory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db/entries"
	"alfred/internal/pg"
)

// Step is how far a move has come.
type Step string

// The steps, in order; a move may be given up before it is switched.
const (
	StepBegun     Step = "begun"
	StepPublished Step = "published" // the source tells the mover what is written; a move that copies while nothing is served has neither this nor the next
	StepFollowed  Step = "followed"  // the target has all rows as they were a moment ago
	StepClosed    Step = "closed"    // the source refuses what is written for the user
	StepCopied    Step = "copied"    // the target has all rows
	StepSwitched  Step = "switched"  // the user is the target's
	StepOpened    Step = "opened"    // the target serves them
	StepDone      Step = "done"      // the source has forgotten them

	StepAborting Step = "aborting"
	StepAborted  Step = "aborted"
)

var (
	// ErrMoving says that somebody is moving this user at the moment.
	ErrMoving = errors.New("this user is being moved by another process at the moment")

	// ErrNoMove says that no move of the user is open.
	ErrNoMove = errors.New("no move of this user is under way")

	// ErrTakenOver says that another process has taken the move up meanwhile, or that it was given up.
	ErrTakenOver = errors.New("another process has taken this move up")
)

// Move is one user's way from a database to another.
type Move struct {
	User           User
	Source, Target Database
	Step           Step
	// Epoch is the user's at the source; the target's is one higher.
	Epoch int64
	// Attempt counts who took up moves of the user.
	Attempt int32
	// Jobs were not done when the source closed.
	Jobs []Job

	id uuid.UUID
}

// Job is a job to be inserted again at the target.
type Job struct {
	Kind  string          `json:"kind"`
	Args  json.RawMessage `json:"args"`
	Queue string          `json:"queue"`
}

// Hold runs work while no other process can move the user. Errors: [ErrUnknown], [ErrMoving].
func (d *Directory) Hold(ctx context.Context, name string, work func(User) error) error {
	var lock int64
	err := d.pool.QueryRow(ctx, `SELECT hashtextextended('alfred.move:' || u.id, 0) FROM users AS u WHERE u.name = $1`, name).Scan(&lock)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrUnknown
	}
	if err != nil {
		return fmt.Errorf("ask the directory: %w", err)
	}
	held, done := false, error(nil)
	err = pg.WithLock(ctx, d.pool, lock, func(*pgxpool.Conn) error {
		held = true
		var user User
		if user, done = d.ByName(ctx, name); done == nil {
			done = work(user)
		}

		return nil
	})
	switch {
	case held:
		return done // a lock that cannot be given up ends with its connection
	case err != nil:
		return err
	default:
		return ErrMoving
	}
}

// OpenMove is the user's open move. Errors: [ErrNoMove].
func (d *Directory) OpenMove(ctx context.Context, user User) (*Move, error) {
	row, err := d.q.MoveOpen(ctx, d.pool, user.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNoMove
	}
	if err != nil {
		return nil, fmt.Errorf("look for a move: %w", err)
	}

	return moveOf(user, (*entries.MoveBeginRow)(row))
}

// Take begins a move to a database, or takes up the one that is open, wherever it leads.
func (d *Directory) Take(ctx context.Context, user User, target string) (*Move, error) {
	row, err := d.q.MoveBegin(ctx, d.pool, &entries.MoveBeginParams{UserID: user.ID, Target: target})
	if err != nil {
		return nil, fmt.Errorf("begin the move: %w", err)
	}

	return moveOf(user, row)
}

func moveOf(user User, row *entries.MoveBeginRow) (*Move, error) {
	m := &Move{
		User: user, Source: Database{row.Source, row.SourceUrl}, Target: Database{row.Target, row.TargetUrl},
		Step: Step(row.Step), Epoch: row.Epoch, Attempt: row.Attempt, id: row.ID,
	}
	if err := json.Unmarshal(row.Jobs, &m.Jobs); err != nil {
		return nil, fmt.Errorf("read the move's jobs: %w", err)
	}

	return m, nil
}

// Advance notes that a step is done. Errors: [ErrTakenOver].
func (d *Directory) Advance(ctx context.Context, m *Move, to Step) error {
	n, err := d.q.MoveStep(ctx, d.pool, &entries.MoveStepParams{ID: m.id, Attempt: m.Attempt, Before: string(m.Step), Step: string(to)})
	if err := noted(n, err, "note the step "+string(to)); err != nil {
		return err
	}
	m.Step = to

	return nil
}

// KeepJobs notes the jobs that are not done, before the source closes. Errors: [ErrTakenOver].
func (d *Directory) KeepJobs(ctx context.Context, m *Move, jobs []Job) error {
	encoded, err := json.Marshal(jobs)
	if err != nil {
		return fmt.Errorf("encode jobs: %w", err)
	}
	m.Jobs = jobs
	n, err := d.q.MoveKeepJobs(ctx, d.pool, &entries.MoveKeepJobsParams{ID: m.id, Attempt: m.Attempt, Jobs: encoded})

	return noted(n, err, "note jobs")
}

// Switch gives the user to the target. From here the move cannot be given up. Errors: [ErrTakenOver].
func (d *Directory) Switch(ctx context.Context, m *Move) error {
	n, err := d.q.MoveSwitch(ctx, d.pool, &entries.MoveSwitchParams{ID: m.id, Attempt: m.Attempt})
	if err := noted(n, err, "switch"); err != nil {
		return err
	}
	m.Step = StepSwitched

	return nil
}

// noted is the result of a statement that changes nothing when another process has taken the move up.
func noted(rows int64, err error, what string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if rows == 0 {
		return ErrTakenOver
	}

	return nil
}

// Failed keeps why an attempt ended.
func (d *Directory) Failed(ctx context.Context, m *Move, cause error) error {
	if err := d.q.MoveFailed(ctx, d.pool, &entries.MoveFailedParams{ID: m.id, Attempt: m.Attempt, Error: cause.Error()}); err != nil {
		return fmt.Errorf("note the failure: %w", err)
	}

	return nil
}

// Moves lists the open moves, and the newest that have ended.
func (d *Directory) Moves(ctx context.Context) ([]*entries.MoveListRow, error) {
	list, err := d.q.MoveList(ctx, d.pool)
	if err != nil {
		return nil, fmt.Errorf("list moves: %w", err)
	}

	return list, nil
}
