package pg

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// savepoint is a transaction within a pipe.
type savepoint struct {
	*pipe

	name   string
	at     int // place of its statement among those that waited when it began
	work   int // that waited when it began
	actor  []string
	closed bool
}

// Commit releases the savepoint. What was written within is sent first, so that an error of it comes back here.
func (s *savepoint) Commit(ctx context.Context) error {
	if s.closed || s.pipe.closed {
		return pgx.ErrTxClosed
	}
	s.closed = true
	if s.pipe.work > 0 {
		_, err := s.send(ctx, "release savepoint "+s.name).last()
		s.closed = err == nil // what failed can still be rolled back

		return err
	}
	s.control("release savepoint " + s.name)

	return nil
}

// Rollback undoes what was done since the savepoint.
func (s *savepoint) Rollback(ctx context.Context) error {
	if s.closed || s.pipe.closed {
		return pgx.ErrTxClosed
	}
	s.closed = true
	p := s.pipe
	p.actor = s.actor
	// What waits since the savepoint is never sent, nor is the savepoint if it waits itself.
	if s.at < len(p.waiting) && p.waiting[s.at].SQL == "savepoint "+s.name {
		p.waiting, p.work = p.waiting[:s.at], s.work

		return nil
	}
	p.waiting, p.work = nil, 0
	_, err := p.send(ctx, "rollback to savepoint "+s.name).last()

	return err
}
