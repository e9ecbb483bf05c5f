package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/cmd/internal/program"
	"alfred/db"
	"alfred/internal/follow"
	"alfred/internal/pg"
	"alfred/jobs"
)

var (
	errInterrupted = &program.StatusError{Status: 130, Err: errors.New("interrupted")}
	errUnwell      = &program.StatusError{Status: 2, Err: errors.New("a message was refused, or a turn did not succeed")}
)

// errQuit ends the chat at the user's request.
var errQuit = errors.New("quit")

// run handles lines until there are no more.
func (t *talk) run(ctx context.Context) error {
	if t.terminal != nil {
		defer t.terminal.show("")
	}
	for {
		line, err := t.line()
		if err == nil {
			err = cmp.Or(t.handleLine(ctx, strings.TrimSpace(line)), t.screen.failed())
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, errQuit):
			if t.unwell && t.terminal == nil {
				return errUnwell
			}

			return nil
		case errors.Is(err, errInterrupted):
			return errInterrupted
		case err != nil:
			return err
		}
	}
}

// line waits for the next line, or for a signal.
func (t *talk) line() (string, error) {
	type read struct {
		text string
		err  error
	}
	next := make(chan read, 1)
	go func() {
		text, err := t.read()
		next <- read{text, err}
	}()
	for {
		select {
		case r := <-next:
			return r.text, r.err
		case signal := <-t.signals:
			if t.terminal == nil || signal == syscall.SIGTERM {
				return "", errInterrupted
			} // a Ctrl-C that came as the answer ended; the box hears those that come now
		}
	}
}

// handleLine handles one line. Errors the user can correct are shown, not returned.
func (t *talk) handleLine(ctx context.Context, line string) error {
	if line == "" {
		return nil
	}
	if strings.HasPrefix(line, "/") {
		return t.command(ctx, line)
	}

	return t.say(ctx, t.messageOf(line))
}

// message is what a line means: words, or an option of a question.
type message struct {
	text   string
	answer *jobs.Answer
}

// messageOf is the option selected by number or label, if the last reply asked to choose.
func (t *talk) messageOf(line string) message {
	if t.last == nil || t.last.Question == nil || t.last.Question.Status != "open" {
		return message{text: line}
	}
	q := t.last.Question
	for i, option := range q.Options {
		if line == strconv.Itoa(i+1) || strings.EqualFold(line, option.Label) {
			return message{text: option.Label, answer: &jobs.Answer{QuestionID: q.ID.String(), OptionID: option.ID}}
		}
	}

	return message{text: line}
}

// say sends a message and shows the result.
func (t *talk) say(ctx context.Context, said message) error {
	made, err := t.enqueue(ctx, said)
	if err != nil {
		return t.showRefusal(err)
	}
	turn, interrupted, err := t.follow(ctx, made.TurnID)
	if err != nil {
		return err
	}
	t.last = turn
	t.unwell = t.unwell || turn.Status != db.TurnStatusSucceeded
	t.screen.turn(turn)
	if interrupted && t.terminal == nil {
		return errInterrupted // do not send the rest of the input after this
	}

	return nil
}

func (t *talk) enqueue(ctx context.Context, said message) (made *jobs.Enqueued, err error) {
	t.sent++
	key := uuid.NewString()
	if t.key != "" {
		key = t.key + "-" + strconv.Itoa(t.sent)
	}
	err = pg.Patiently(ctx, func() (err error) {
		made, err = pg.Value(ctx, t.write, func(tx pgx.Tx) (*jobs.Enqueued, error) {
			return jobs.EnqueueTurn(ctx, tx, jobs.EnqueueParams{SessionID: t.session, Message: said.text, Answer: said.answer, IdempotencyKey: key, Limits: t.settings.Limits})
		})

		return err
	})

	return made, err
}

// patience is how long nothing may happen before the user gets a hint about what may be missing.
const patience = 10 * time.Second

// follow shows a turn's events until it ends. The first signal cancels the turn, the second stops waiting for that.
func (t *talk) follow(ctx context.Context, turnID uuid.UUID) (turn *follow.Turn, interrupted bool, err error) {
	waiting, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	watched := make(chan bool, 1)
	go func() { watched <- t.watch(ctx, waiting, turnID, giveUp) }()
	err = t.show(waiting, turnID)
	giveUp(nil)
	interrupted = <-watched
	if err == nil {
		turn, err = t.reader.Turn(ctx, turnID)
	}

	return turn, interrupted, err
}

// watch cancels the turn at a signal, and gives up at the next or at SIGTERM.
func (t *talk) watch(ctx, waiting context.Context, turnID uuid.UUID, giveUp context.CancelCauseFunc) (interrupted bool) {
	for {
		select {
		case <-waiting.Done():
			return interrupted
		case signal := <-t.signals:
			if interrupted || signal == syscall.SIGTERM {
				giveUp(errInterrupted)

				return true
			}
			interrupted = true
			if err := t.cancel(ctx, turnID); err != nil {
				giveUp(err)
			}
		}
	}
}

func (t *talk) cancel(ctx context.Context, turnID uuid.UUID) error {
	return t.write(ctx, func(tx pgx.Tx) error {
		_, err := jobs.CancelTurn(ctx, tx, turnID)

		return err
	})
}

func (t *talk) show(ctx context.Context, turnID uuid.UUID) error {
	hinted := false
	for events, err := range t.reader.Events(ctx, turnID, 0, patience) {
		if err != nil {
			return fmt.Errorf("follow the turn: %w", err)
		}
		if len(events) == 0 && !hinted {
			hinted = true
			t.screen.waiting()
		}
		for _, event := range events {
			t.screen.event(&event)
		}
		if err := t.screen.failed(); err != nil {
			return err
		}
	}

	return nil
}
