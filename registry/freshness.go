package registry

import (
	"context"
	"fmt"

	"alfred/domain"
)

// VersionReader reads row versions (xmin) by key, as the tenant; rows that it
// cannot see are absent.
type VersionReader func(ctx context.Context, e *domain.Entity, ids []string) (map[string]string, error)

// Stale is what happened to rows behind the registry's back.
type Stale struct {
	Changed []string // refs whose row has another version than when it was read
	Gone    []string // refs whose row does not exist any more
}

// Freshness compares the row versions of entries with those that the reader
// finds, by one call per type. Drafts, deleted rows and entries without a
// version are left out.
func Freshness(ctx context.Context, d *domain.Domain, entries []Entry, read VersionReader) (Stale, error) {
	var stale Stale

	for _, e := range d.Entities {
		var (
			some []Entry
			ids  []string
		)

		for _, entry := range entries {
			if entry.Type == e.Type && entry.RowVersion != "" && (entry.State == StateStored || entry.State == StatePromoted) {
				some, ids = append(some, entry), append(ids, entry.ID)
			}
		}

		if len(ids) == 0 {
			continue
		}

		versions, err := read(ctx, e, ids)
		if err != nil {
			return Stale{}, fmt.Errorf("read versions of %s: %w", e.Table, err)
		}

		for _, entry := range some {
			switch version, found := versions[entry.ID]; {
			case !found:
				stale.Gone = append(stale.Gone, entry.Ref)
			case version != entry.RowVersion:
				stale.Changed = append(stale.Changed, entry.Ref)
			}
		}
	}

	return stale, nil
}
