package view

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/pg"
	"alfred/registry"
)

// What can be wrong with a row that was loaded.
const (
	StaleChanged = "changed"
	StaleGone    = "gone"
)

// Probe reads the versions of all rows the view knows, in one round trip: the owner's programs and the user's page
// write without us. The returned view says which of its rows are outdated, and which version of each row a decision on
// it expects. The transaction has a [Savepoint]; last commits it in that round trip.
func Probe(ctx context.Context, tx pgx.Tx, v *View, last bool) (*View, error) {
	probed, known := v.probed(), v.known()
	if len(known) == 0 {
		return probed, nil
	}
	var (
		b   = &pg.Batch{}
		err error
	)
	if last {
		b.BecomeTenant(v.Turn.UserID)
		probed.queueVersions(b, known)
		err = pg.CommitWith(ctx, tx, b)
	} else {
		b.AsTenant(v.Turn.UserID, func() { probed.queueVersions(b, known) })
		err = b.Send(ctx, tx)
	}
	if pg.IsSchemaChange(err) { // a missing table is reported by the calls that need it
		probed.expectAsRead(known)
		_, err = tx.Exec(ctx, rollbackTo)
	}
	if err != nil {
		return nil, fmt.Errorf("check for changed rows: %w", err)
	}

	return probed, nil
}

// probed returns a copy of the view without any versions yet.
func (v *View) probed() *View {
	probed := *v
	probed.Stale, probed.Versions.Rows = map[string]string{}, map[string]map[string]string{}

	return &probed
}

// expectAsRead expects each shown row to have the version it was read with.
func (v *View) expectAsRead(known map[string][]*Entity) {
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

// known returns the view's stored rows, by type.
func (v *View) known() map[string][]*Entity {
	byType := map[string][]*Entity{}
	for _, e := range v.Scene(true).Entities {
		if (e.State == db.RefStateStored || e.State == db.RefStatePromoted) && e.EntityID != nil {
			byType[e.EntityType] = append(byType[e.EntityType], e)
		}
	}

	return byType
}

// queueVersions finds which rows have changed or disappeared since they were read: one query for all types.
func (v *View) queueVersions(b *pg.Batch, known map[string][]*Entity) {
	var (
		parts []string
		args  []any
	)
	for _, def := range v.Domain.Entities {
		rows := known[def.Type]
		if len(rows) == 0 {
			continue
		}
		ids := make([]string, len(rows))
		for i, e := range rows {
			ids[i] = *e.EntityID
		}
		v.Versions.Rows[def.Type] = map[string]string{}
		args = append(args, ids)
		key := def.Key.SQL()
		// In a generic plan a cast of the parameter itself would be repeated for every row.
		parts = append(parts, fmt.Sprintf("SELECT %s, %s::text, %s::text FROM %s WHERE %s = ANY (ARRAY(SELECT unnest($%d::text[])::%s))",
			pg.Literal(def.Type), key, def.VersionSQL(), def.SQL(), key, len(args), def.Key.Type))
	}
	if len(parts) == 0 {
		return
	}
	b.Query("read rows' versions", strings.Join(parts, "\nUNION ALL "), args, func(found pgx.Rows) error {
		var entityType, id, version string
		_, err := pgx.ForEachRow(found, []any{&entityType, &id, &version}, func() error {
			v.Versions.Rows[entityType][id] = version

			return nil
		})
		for entityType, now := range v.Versions.Rows {
			v.compare(known[entityType], now)
		}

		return err
	})
}

// compare finds which shown rows have changed.
func (v *View) compare(rows []*Entity, now map[string]string) {
	latest := v.latest()
	for _, e := range rows {
		if !e.Shown || e.RowVersion == nil {
			continue
		}
		switch version, exists := now[*e.EntityID]; {
		case !exists:
			v.Stale[e.Ref] = StaleGone
		case e.Action == registry.ActionUpdatedUser && e.TurnLastRef > latest: // applies to the coming turn; this one does not show it
			v.Stale[e.Ref] = StaleChanged
			v.Versions.Rows[e.EntityType][*e.EntityID] = "not seen"
		case version != *e.RowVersion:
			v.Stale[e.Ref] = StaleChanged
			v.Versions.Rows[e.EntityType][*e.EntityID] = *e.RowVersion
		}
	}
}
