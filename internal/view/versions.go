package view

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/domain"
	"alfred/pg"
)

// changedByUser is what the registry says of a row that its user has changed beside the conversation.
const changedByUser = "updated:user"

// What can be wrong with a row that was loaded.
const (
	StaleChanged = "changed"
	StaleGone    = "gone"
)

// Probe reads the versions of all rows that the view knows, in one round trip: the owner's programs, and the person
// beside the conversation, write without us. The view that it returns says which of the rows that it shows are no longer
// what is shown, and which version a decision on it expects of each row.
func Probe(ctx context.Context, tx pgx.Tx, v *View) (*View, error) {
	probed := *v
	probed.Stale, probed.Versions.Rows = map[string]string{}, map[string]map[string]string{}
	known := v.known()
	if len(known) == 0 {
		return &probed, nil
	}
	b := &pgx.Batch{}
	pg.QueueAsTenant(b, v.Turn.UserID, func() {
		for _, def := range v.Domain.Entities {
			if rows := known[def.Type]; len(rows) > 0 {
				probed.queueVersions(b, def, rows)
			}
		}
	})
	err := tx.SendBatch(ctx, b).Close()
	if pg.IsSchemaChange(err) { // a table is gone: that is for the calls that need it to say
		probed.unprobed(known)
		_, err = tx.Exec(ctx, goBack)
	}
	if err != nil {
		return nil, fmt.Errorf("check for changed rows: %w", err)
	}

	return &probed, nil
}

// unprobed expects of each row that is shown what it was when it was read.
func (v *View) unprobed(known map[string][]*Entity) {
	v.Stale = map[string]string{}
	for entityType, rows := range known {
		versions := map[string]string{}
		for _, e := range rows {
			if e.Shown && e.RowVersion != nil {
				versions[*e.EntityID] = *e.RowVersion
			}
		}
		v.Versions.Rows[entityType] = versions
	}
}

// known are the stored rows that the view has, by type.
func (v *View) known() map[string][]*Entity {
	byType := map[string][]*Entity{}
	for _, e := range v.Scene(true).Entities {
		if (e.State == db.RefStateStored || e.State == db.RefStatePromoted) && e.EntityID != nil {
			byType[e.EntityType] = append(byType[e.EntityType], e)
		}
	}

	return byType
}

// queueVersions finds which rows of a type have another version than when they were read, or are no more.
func (v *View) queueVersions(b *pgx.Batch, def *domain.Entity, rows []*Entity) {
	ids, versions := make([]string, len(rows)), map[string]string{}
	for i, e := range rows {
		ids[i] = *e.EntityID
	}
	v.Versions.Rows[def.Type] = versions
	key := def.Key.SQL()
	sql := fmt.Sprintf("SELECT %s::text, %s FROM %s WHERE %s = ANY ($1::text[]::%s[])",
		key, def.VersionSQL(), pgx.Identifier{v.Domain.Schema, def.Table}.Sanitize(), key, def.Key.Type)
	b.Queue(sql, ids).Query(func(found pgx.Rows) error {
		var id, version string
		_, err := pgx.ForEachRow(found, []any{&id, &version}, func() error {
			versions[id] = version

			return nil
		})
		v.compare(rows, versions)

		return err
	})
}

// compare finds what has changed of the rows that are shown.
func (v *View) compare(rows []*Entity, now map[string]string) {
	for _, e := range rows {
		if !e.Shown || e.RowVersion == nil {
			continue
		}
		switch version, exists := now[*e.EntityID]; {
		case !exists:
			v.Stale[e.Ref] = StaleGone
		case e.Action == changedByUser && e.TurnLastRef > v.Turn.Number: // for the coming turn; this one does not show it
			v.Stale[e.Ref] = StaleChanged
			v.Versions.Rows[e.EntityType][*e.EntityID] = "not seen"
		case version != *e.RowVersion:
			v.Stale[e.Ref] = StaleChanged
			v.Versions.Rows[e.EntityType][*e.EntityID] = *e.RowVersion
		}
	}
}
