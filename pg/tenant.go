package pg

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// TenantRole is the role under which everything runs that a model or an API read drives; row-level security holds for it.
const TenantRole = "alfred_tenant"

// AsTenant runs work under the tenant's role and as the given user, inside a savepoint of tx. Afterwards role and
// user are as they were, whatever work did: on an error the savepoint is rolled back and tx stays usable.
//
// The settings are made after the savepoint, because only then does rolling back to it undo them.
func AsTenant(ctx context.Context, tx pgx.Tx, userID uuid.UUID, work func(tx pgx.Tx) error) error {
	return InTx(ctx, tx, func(savepoint pgx.Tx) error {
		leave, err := enter(ctx, savepoint, userID)
		if err != nil {
			return fmt.Errorf("act as tenant: %w", err)
		}
		if err := work(savepoint); err != nil {
			return err
		}
		if err := leave(ctx); err != nil {
			return fmt.Errorf("leave tenant: %w", err)
		}

		return nil
	})
}

const actAs = `SELECT set_config('role', $1, true), set_config('alfred.user_id', $2, true)`

// enter makes the settings; leave makes those that were in force before.
func enter(ctx context.Context, tx pgx.Tx, userID uuid.UUID) (leave func(context.Context) error, err error) {
	if s, ok := tx.(*savepoint); ok {
		return s.enter(userID), nil
	}
	var role, user string
	if err := tx.QueryRow(ctx, `SELECT current_setting('role'), coalesce(current_setting('alfred.user_id', true), '')`).Scan(&role, &user); err != nil {
		return nil, fmt.Errorf("read role: %w", err)
	}
	if _, err := tx.Exec(ctx, actAs, TenantRole, userID.String()); err != nil {
		return nil, err //nolint:wrapcheck // wrapped by the caller
	}

	return func(ctx context.Context) error {
		_, err := tx.Exec(ctx, actAs, role, user)

		return err //nolint:wrapcheck // wrapped by the caller
	}, nil
}

// enter costs no round trip: a pipe knows which settings it has made.
func (s *savepoint) enter(userID uuid.UUID) (leave func(context.Context) error) {
	before := s.pipe.actor
	s.pipe.actor = []string{TenantRole, userID.String()}
	s.control(actAs, TenantRole, userID.String())

	return func(ctx context.Context) error {
		if s.pipe.work > 0 { // what the tenant wrote must be found wanting as the tenant's
			if err := s.flush(ctx, nil).Close(); err != nil {
				return err
			}
		}
		s.pipe.actor = before
		if before != nil {
			s.control(actAs, before[0], before[1])

			return nil
		}
		s.control("SET LOCAL role TO DEFAULT")
		s.control("SET LOCAL alfred.user_id TO DEFAULT")

		return nil
	}
}
