package view

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/domain"
	"alfred/pg"
)

// Probe compares the rows of earlier turns that the view shows with those that there are now, in one round trip: the
// owner's programs write without us. It returns the view with what it found.
func Probe(ctx context.Context, tx pgx.Tx, v *View) (*View, error) {
	stale := map[string]string{}
	b := &pgx.Batch{}
	shown := v.shown()
	pg.QueueAsTenant(b, v.Turn.UserID, func() {
		for _, def := range v.Domain.Entities {
			if rows := shown[def.Type]; len(rows) > 0 {
				queueVersions(b, v.Domain.Schema, def, rows, stale)
			}
		}
	})
	if len(shown) > 0 {
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return nil, fmt.Errorf("check for changed rows: %w", err)
		}
	}
	probed := *v
	probed.Stale = stale

	return &probed, nil
}

// shown are the loaded rows of earlier turns whose version is known, by type.
func (v *View) shown() map[string][]*Entity {
	byType := map[string][]*Entity{}
	s := v.Scene(false)
	for _, e := range s.Entities {
		row := e.State == db.RefStateStored || e.State == db.RefStatePromoted
		if row && e.Loaded && e.RowVersion != nil && e.EntityID != nil && s.Rows.ByRef[e.Ref].Turn < s.Number {
			byType[e.EntityType] = append(byType[e.EntityType], e)
		}
	}

	return byType
}

// queueVersions finds which rows of a type have another version than when they were read, or are no more.
func queueVersions(b *pgx.Batch, schema string, def *domain.Entity, rows []*Entity, stale map[string]string) {
	ids, versions := make([]string, len(rows)), map[string]string{}
	for i, e := range rows {
		ids[i] = *e.EntityID
	}
	key := def.Key.SQL()
	sql := fmt.Sprintf("SELECT %s::text, %s FROM %s WHERE %s = ANY ($1::text[]::%s[])",
		key, def.VersionSQL(), pgx.Identifier{schema, def.Table}.Sanitize(), key, def.Key.Type)
	b.Queue(sql, ids).Query(func(found pgx.Rows) error {
		var id, version string
		_, err := pgx.ForEachRow(found, []any{&id, &version}, func() error {
			versions[id] = version

			return nil
		})
		for _, e := range rows {
			switch version, exists := versions[*e.EntityID]; {
			case !exists:
				stale[e.Ref] = "gone"
			case version != *e.RowVersion:
				stale[e.Ref] = "changed"
			}
		}

		return err //nolint:wrapcheck // wrapped by the sender
	})
}
