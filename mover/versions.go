package mover

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// noVersion is the version of no row.
const noVersion = "0"

// carryVersions gives refs the versions that rows have at the target, where a row is new: without, everything that a
// conversation has seen would count as changed by somebody else. What had been changed at the source stays so.
func (u *move) carryVersions(ctx context.Context, from, to pgx.Tx) error {
	if _, err := to.Exec(ctx, `UPDATE entity_refs SET row_version = $2 WHERE user_id = $1 AND row_version IS NOT NULL`, u.User.ID, noVersion); err != nil {
		return fmt.Errorf("forget the versions of rows: %w", err)
	}
	for _, t := range u.tables {
		if t.entity == nil {
			continue
		}
		key, version := pgx.Identifier{t.entity.Table, t.entity.Key.Name}.Sanitize()+"::text", t.entity.VersionSQL()
		rows, _ := from.Query(ctx, `SELECT r.session_id, r.ref FROM entity_refs AS r JOIN `+t.name+` ON `+key+` = r.entity_id::text
			WHERE r.user_id = $1 AND r.entity_type = $2 AND r.row_version = `+version, u.User.ID, t.entity.Type) // a failed query shows when its rows are read
		var (
			sessions []uuid.UUID
			refs     []string
			session  uuid.UUID
			ref      string
		)
		if _, err := pgx.ForEachRow(rows, []any{&session, &ref}, func() error {
			sessions, refs = append(sessions, session), append(refs, ref)

			return nil
		}); err != nil {
			return fmt.Errorf("compare versions of %s: %w", t.name, err)
		}
		if _, err := to.Exec(ctx, `UPDATE entity_refs AS r SET row_version = `+version+` FROM `+t.name+`, unnest($1::uuid[], $2::text[]) AS known (session_id, ref)
			WHERE r.session_id = known.session_id AND r.ref = known.ref AND r.user_id = $3 AND `+key+` = r.entity_id::text`, sessions, refs, u.User.ID); err != nil {
			return fmt.Errorf("carry versions of %s: %w", t.name, err)
		}
	}

	return nil
}
