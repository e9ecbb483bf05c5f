package crud

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/pg"
)

// What has happened to a row since a conversation saw it.
const (
	SinceChanged = "changed"
	SinceGone    = "deleted"
	SinceMade    = "created"
)

// Since is a row that differs from what a fork knows: rows are current, whenever the fork begins.
type Since struct {
	Ref        string `json:"ref,omitempty" doc:"Missing for a row that the fork does not know."`
	EntityType string `json:"entity_type"`
	Label      string `json:"label"`
	Change     string `json:"change" enum:"changed,deleted,created"`
	Turn       int    `json:"turn,omitempty" doc:"The turn of the conversation it was forked from that did it last; missing where none did."`
}

// since is what is read to tell which rows differ from what a fork knows.
type since struct {
	*Tools

	known []*db.EntityRefVersionsRow
	later map[rowKey]*db.RowChangeSinceRow
	order []rowKey                     // of later
	now   map[string]map[string]string // versions by type and key
}

// Since returns the rows that were changed or deleted since a fork's parent last saw them at the turn where the fork
// begins, and those that the parent's later turns created, except child rows. Undone changes do not count.
func (t *Tools) Since(ctx context.Context, tx pgx.Tx, user, fork uuid.UUID) ([]Since, error) {
	s := &since{Tools: t, later: map[rowKey]*db.RowChangeSinceRow{}}
	if err := s.load(ctx, tx, user, fork); err != nil {
		return nil, err
	}
	same, err := s.takenBack(ctx, tx, user)
	if err != nil {
		return nil, err
	}
	found, seen := []Since{}, map[rowKey]bool{}
	for _, row := range s.known {
		at := rowKey{row.EntityType, row.EntityID}
		seen[at] = true
		version, there := s.now[at.entityType][at.id]
		if t.domain.ByType(row.EntityType) == nil || version == row.RowVersion || same[at] {
			continue
		}
		one := Since{Ref: row.Ref, EntityType: row.EntityType, Label: row.Label, Change: SinceGone}
		if there {
			one.Change = SinceChanged
		}
		if later := s.later[at]; later != nil {
			one.Turn = int(later.Number)
		}
		found = append(found, one)
	}
	for _, at := range s.order {
		row := s.later[at]
		if _, there := s.now[at.entityType][at.id]; row.Created && there && !seen[at] && row.Label != "" && !t.domain.ByType(row.EntityType).Part {
			found = append(found, Since{EntityType: row.EntityType, Label: row.Label, Change: SinceMade, Turn: int(row.Number)})
		}
	}

	return found, nil
}

func (s *since) load(ctx context.Context, tx pgx.Tx, user, fork uuid.UUID) (err error) {
	if s.known, err = db.New().EntityRefVersions(ctx, tx, fork); err != nil {
		return fmt.Errorf("read what a fork knows: %w", err)
	}
	later, err := db.New().RowChangeSince(ctx, tx, fork)
	if err != nil {
		return fmt.Errorf("read what was done since: %w", err)
	}
	keys := map[string][]string{}
	for _, row := range s.known {
		keys[row.EntityType] = append(keys[row.EntityType], row.EntityID)
	}
	for _, row := range later {
		at := rowKey{row.EntityType, row.EntityID}
		s.later[at], s.order = row, append(s.order, at)
		keys[row.EntityType] = append(keys[row.EntityType], row.EntityID)
	}

	return pg.AsTenant(ctx, tx, user, func(tenant pgx.Tx) error {
		s.now, err = s.versions(ctx, tenant, func(e *domain.Entity, sql *statement) string {
			if len(keys[e.Type]) == 0 {
				return ""
			}

			return sql.keyIn(e, keys[e.Type])
		})

		return err
	})
}

// takenBack returns the rows that later turns wrote and that are unchanged, because all of those writes were undone.
func (s *since) takenBack(ctx context.Context, tx pgx.Tx, user uuid.UUID) (map[rowKey]bool, error) {
	keys, same := map[*domain.Entity][]string{}, map[rowKey]bool{}
	for _, at := range s.order {
		if e := s.domain.ByType(at.entityType); e != nil && s.later[at].Number == 0 {
			keys[e] = append(keys[e], at.id)
		}
	}
	if len(keys) == 0 {
		return same, nil
	}
	reads := &pg.Batch{}
	found := s.imagesByKey(reads, keys, false)
	if err := pg.AsTenant(ctx, tx, user, func(tenant pgx.Tx) error { return reads.Send(ctx, tenant) }); err != nil {
		return nil, err
	}
	for e, rows := range found {
		for key, row := range rows {
			at := rowKey{e.Type, key}
			var left map[string]string
			if err := unmarshal(s.later[at].After, &left); err != nil {
				return nil, fmt.Errorf("read what was done since: %w", err)
			}
			same[at] = differs(e, row, left) == "" && left != nil
		}
	}

	return same, nil
}
