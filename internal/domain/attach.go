package domain

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Attach replaces a declaration's views by executing the SQL of Views.
func Attach(ctx context.Context, db DB, decl *Declaration, sql string) error {
	body := strings.NewReplacer("\nBEGIN;\n", "\n", "\nCOMMIT;\n", "\n").Replace(sql)

	return script(ctx, db, "attach "+decl.Schema, func(tx pgx.Tx) (string, error) {
		drop, err := detached(ctx, tx, decl)

		return drop + ";\n" + body, err
	})
}

// script runs statements in one transaction.
func script(ctx context.Context, db DB, what string, write func(tx pgx.Tx) (string, error)) error {
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		sql, err := write(tx)
		if err == nil {
			_, err = tx.Conn().PgConn().Exec(ctx, sql).ReadAll()
		}

		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}

	return nil
}

// Detach drops a declaration's views, so that their tables can be altered. The mapping of users to accounts stays.
func Detach(ctx context.Context, db DB, decl *Declaration) error {
	return script(ctx, db, "detach "+decl.Schema, func(tx pgx.Tx) (string, error) { return detached(ctx, tx, decl) })
}

func detached(ctx context.Context, tx pgx.Tx, decl *Declaration) (drop string, err error) {
	err = tx.QueryRow(ctx, detachSQL, decl.Schema).Scan(&drop)

	return drop, err
}

// Drop removes everything Views made: the schema, the grants on the owner's objects and the role, which stays if
// another database still uses it, or somebody else made it.
func Drop(ctx context.Context, db DB, decl *Declaration) error {
	role := quote(ViewRole(decl.Schema))

	return script(ctx, db, "drop "+decl.Schema, func(pgx.Tx) (string, error) {
		return fmt.Sprintf(`DROP SCHEMA IF EXISTS %[1]s CASCADE;
DO $$ BEGIN IF to_regrole(%[3]s) IS NOT NULL THEN DROP OWNED BY %[2]s; END IF; END $$;
DO $$ BEGIN DROP ROLE IF EXISTS %[2]s; EXCEPTION WHEN dependent_objects_still_exist OR insufficient_privilege THEN NULL; END $$`,
			quote(decl.Schema), role, literalSQL(role)), nil
	})
}
