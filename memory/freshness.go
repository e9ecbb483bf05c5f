package memory

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/domain"
	"alfred/pg"
	"alfred/registry"
)

// markStale marks loaded rows that somebody else changed or deleted since this
// session read them, so that Act does not work on yesterday's data.
func (t *turn) markStale(ctx context.Context, tx pgx.Tx) error {
	var entries []registry.Entry
	for _, e := range t.entities {
		if e.loaded && e.RowVersion != nil && e.EntityID != nil && t.rows.byRef[e.Ref].turn < t.number {
			entries = append(entries, registry.Entry{Ref: e.Ref, Type: e.EntityType, ID: *e.EntityID, State: e.State, RowVersion: *e.RowVersion})
		}
	}
	if len(entries) == 0 {
		return nil
	}
	var stale registry.Stale
	err := pg.AsTenant(ctx, tx, t.userID, func(tx pgx.Tx) error {
		var err error
		stale, err = registry.Freshness(ctx, t.memory.domain, entries, versionsIn(tx, t.memory.domain.Schema))

		return err
	})
	if err != nil {
		return fmt.Errorf("check for changed rows: %w", err)
	}
	for _, ref := range stale.Changed {
		t.byRef[ref].stale = "changed"
	}
	for _, ref := range stale.Gone {
		t.byRef[ref].stale = "gone"
	}

	return nil
}

// versionsIn reads row versions in one statement per type.
func versionsIn(tx pgx.Tx, schema string) registry.VersionReader {
	return func(ctx context.Context, e *domain.Entity, ids []string) (map[string]string, error) {
		key := e.Key.SQL()
		rows, err := tx.Query(ctx, fmt.Sprintf("SELECT %s::text, xmin::text FROM %s WHERE %s = ANY ($1::text[]::%s[])",
			key, pgx.Identifier{schema, e.Table}.Sanitize(), key, e.Key.Type), ids)
		if err != nil {
			return nil, fmt.Errorf("query versions: %w", err)
		}
		versions := map[string]string{}
		var id, version string
		_, err = pgx.ForEachRow(rows, []any{&id, &version}, func() error {
			versions[id] = version

			return nil
		})

		return versions, err
	}
}
