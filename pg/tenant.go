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
		var role, user string
		if err := savepoint.QueryRow(ctx, `SELECT current_setting('role'), coalesce(current_setting('alfred.user_id', true), '')`).Scan(&role, &user); err != nil {
			return fmt.Errorf("read role: %w", err)
		}
		if err := actAs(ctx, savepoint, TenantRole, userID.String()); err != nil {
			return fmt.Errorf("act as tenant: %w", err)
		}
		if err := work(savepoint); err != nil {
			return err
		}
		if err := actAs(ctx, savepoint, role, user); err != nil {
			return fmt.Errorf("leave tenant: %w", err)
		}

		return nil
	})
}

func actAs(ctx context.Context, tx pgx.Tx, role, user string) error {
	_, err := tx.Exec(ctx, `SELECT set_config('role', $1, true), set_config('alfred.user_id', $2, true)`, role, user)

	return err
}
