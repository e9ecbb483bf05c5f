package crud

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/registry"
)

// Seen is what a decision was based on. If a row or draft has another version by now, its user or another program wrote
// it meanwhile: the decision must not overwrite it, and is made again on the current state.
type Seen struct {
	Drafts map[string]int               // versions by ref
	Rows   map[string]map[string]string // versions by type and key
	// Shown are the columns of rows that the prompt contained, by type and key. Nil if no prompt was sent.
	Shown map[string]map[string][]string
}

// newer are rows of one type that changed since the decision was made.
type newer struct {
	entity *domain.Entity
	keys   []string
}

// requireSeen refuses to write rows that have changed since the decision's prompt was built.
func (d *decision) requireSeen(ctx context.Context, tx pgx.Tx, e *domain.Entity, found *loaded) error {
	keys, err := d.changedSince(ctx, tx, d.bounds.Seen.Rows[e.Type], found.Versions[e.Type])
	if err != nil || len(keys) == 0 {
		return err
	}
	d.newer = &newer{entity: e, keys: keys}

	return fail(CodeStale, "Nothing was written: of these %s, %d changed while you decided. What they are now follows; decide again.", e.Plural, len(keys))
}

// requireShown refuses to overwrite what the decision's prompt did not show, by whatever filters the rows were found: the
// new value may have been meant as a change of another one than the value that nobody has looked at. Rows that this
// decision has written itself count as shown.
func (d *decision) requireShown(e *domain.Entity, found *loaded, columns []string) error {
	if d.bounds.Seen.Shown == nil {
		return nil
	}
	var keys []string
	for _, key := range found.keys() {
		if d.hasWritten(e, key) {
			continue
		}
		shown := d.bounds.Seen.Shown[e.Type][key]
		if slices.ContainsFunc(columns, func(name string) bool { return !slices.Contains(shown, name) }) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	d.newer = &newer{entity: e, keys: keys}

	return fail(CodeStale, "Nothing was written: you have not seen what would be changed of %d of these %s. What they are follows; decide again.", len(keys), e.Plural)
}

// askAgain has the user asked again about rows that changed after the question.
func (d *decision) askAgain(ctx context.Context, tx pgx.Tx, s *step) error {
	keys, err := d.changedSince(ctx, tx, s.versions, s.found.Versions[s.entity.Type])
	if len(keys) > 0 {
		d.noteTargets(s, true)
		d.again = true
	}

	return err
}

// changedSince returns the keys whose version differs from the one seen, not counting this transaction's own writes,
// triggers included.
func (d *decision) changedSince(ctx context.Context, tx pgx.Tx, seen, now map[string]string) ([]string, error) {
	var keys, versions []string
	for key, version := range now {
		if was, known := seen[key]; known && was != version {
			keys, versions = append(keys, key), append(versions, version)
		}
	}
	if len(keys) == 0 || len(d.steps) == 1 {
		return keys, nil
	}
	s := &statement{args: []any{versions}}
	s.add(ownSQL)
	own, err := s.texts(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("ask whose versions these are: %w", err)
	}
	var others []string
	for i, key := range keys {
		if !slices.Contains(own, versions[i]) {
			others = append(others, key)
		}
	}

	return others, nil
}

// ownSQL selects, of the row versions visible to this transaction, those it wrote itself: of other transactions it sees
// none that began after its snapshot or is still running. A version is a transaction id without its epoch; the nearest
// one is assumed.
const ownSQL = `
	SELECT v.version
	FROM unnest($1::text[]) AS v (version)
	CROSS JOIN (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next) AS s
	CROSS JOIN LATERAL (SELECT s.next / 4294967296 * 4294967296 + CASE WHEN v.version ~ '^[0-9]{1,10}$' THEN v.version::bigint ELSE 0 END AS id) AS a
	CROSS JOIN LATERAL (SELECT a.id + CASE WHEN a.id - s.next > 2147483648 THEN -4294967296 WHEN s.next - a.id > 2147483648 THEN 4294967296 ELSE 0 END AS id) AS x
	WHERE x.id > 0 AND CASE WHEN x.id >= s.next THEN true ELSE pg_xact_status(x.id::text::xid8) = 'in progress' END`

// showNewer adds a read of what changed meanwhile to the decision's results, so that the next decision is based on it.
func (d *decision) showNewer(ctx context.Context, tx pgx.Tx) error {
	if d.newer == nil {
		return nil
	}
	e := d.newer.entity
	s := &step{call: vocab.Call{Tool: vocab.ToolRead}, entity: e}
	read := &readOp{step: s}
	err := pg.AsTenant(ctx, tx, d.scope.UserID, func(tenant pgx.Tx) (err error) {
		read.found, err = byKeys(ctx, tenant, e, ownColumns(e), d.newer.keys)

		return err
	})
	if err != nil {
		return err
	}
	d.registry = registry.New(tx, d.tools.domain, d.scope)
	if s.result, err = read.record(ctx, d, tx); err != nil {
		return err
	}
	s.call.Args = encoded(readArgs{Table: e.Table, Filters: []registry.Filter{{Field: domain.KeyField, Op: opIn, Value: s.result.Refs}}})
	d.steps = append(d.steps, s)

	return nil
}

// requireRead refuses to overwrite or save drafts that somebody has changed since this decision read them, or since its
// prompt showed them; read are the versions that it read. The caller holds the registry's lock.
func (d *decision) requireRead(ctx context.Context, read map[string]int) error {
	newest, err := d.registry.NewestVersions(ctx, slices.Collect(maps.Keys(read))...)
	if err != nil {
		return err
	}
	for ref, version := range newest {
		seen, shown := d.bounds.Seen.Drafts[ref]
		if _, own := d.drafted[ref]; version != read[ref] || shown && !own && version != seen {
			return fail(CodeStale, "%s was changed while you decided: nothing was written. Look at what it is now, and decide again.", ref)
		}
	}

	return nil
}
