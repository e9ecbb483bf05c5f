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
	if err := exec(ctx, to, "forget the versions of rows", `UPDATE entity_refs SET row_version = $2 WHERE user_id = $1 AND row_version IS NOT NULL`, u.User.ID, noVersion); err != nil {
		return err
	}
	for _, t := range ofDomain(u.tables) {
		key, version := quoted(t.entity.Table, t.entity.Key.Name)+"::text", t.entity.VersionSQL()
		var (
			sessions []uuid.UUID
			refs     []string
		)
		if err := from.QueryRow(ctx, `SELECT array_agg(r.session_id), array_agg(r.ref) FROM entity_refs AS r JOIN `+t.name+` ON `+key+` = r.entity_id::text
			WHERE r.user_id = $1 AND r.entity_type = $2 AND r.row_version = `+version, u.User.ID, t.entity.Type).Scan(&sessions, &refs); err != nil {
			return fmt.Errorf("compare versions of %s: %w", t.name, err)
		}
		if err := exec(ctx, to, "carry versions of "+t.name, `UPDATE entity_refs AS r SET row_version = `+version+` FROM `+t.name+`, unnest($1::uuid[], $2::text[]) AS known (session_id, ref)
			WHERE r.session_id = known.session_id AND r.ref = known.ref AND r.user_id = $3 AND `+key+` = r.entity_id::text`, sessions, refs, u.User.ID); err != nil {
			return err
		}
		if err := u.carryApprovals(ctx, from, to, &t, key, version); err != nil {
			return err
		}
	}

	return nil
}

// approvalsSQL: of which rows of a type an open question asks whether they may be changed, where it says their versions,
// and whether they are unchanged since.
const approvalsSQL = `
	SELECT q.id, ARRAY['calls', (c.n - 1)::text, 'versions', v.name], k.key, coalesce(%[3]s = v.value, false)
	FROM questions AS q
	CROSS JOIN jsonb_array_elements(CASE jsonb_typeof(q.payload -> 'calls') WHEN 'array' THEN q.payload -> 'calls' END) WITH ORDINALITY AS c (call, n)
	CROSS JOIN jsonb_each_text(c.call -> 'versions') AS v (name, value)
	CROSS JOIN LATERAL (SELECT CASE WHEN starts_with(v.name, $2 || ' ') THEN substr(v.name, char_length($2) + 2) WHEN c.call ->> 'entity_type' = $2 AND c.call -> 'keys' ? v.name THEN v.name END AS key) AS k
	LEFT JOIN %[1]s ON %[2]s = k.key
	WHERE q.user_id = $1 AND q.kind = 'approve' AND q.status = 'open' AND k.key IS NOT NULL`

// carryApprovals does the same for what awaits approval: without, the user would be told that it has changed since they were
// asked.
func (u *move) carryApprovals(ctx context.Context, from, to pgx.Tx, t *table, key, version string) error {
	rows, _ := from.Query(ctx, fmt.Sprintf(approvalsSQL, t.name, key, version), u.User.ID, t.entity.Type) // a failed query shows when its rows are read
	var (
		question  uuid.UUID
		path      []string
		row       string
		unchanged bool
	)
	batch := &pgx.Batch{}
	_, err := pgx.ForEachRow(rows, []any{&question, &path, &row, &unchanged}, func() error {
		batch.Queue(`UPDATE questions SET payload = jsonb_set(payload, $3::text[], to_jsonb(coalesce((SELECT `+version+` FROM `+t.name+` WHERE `+key+` = $4 AND $5), $6)))
			WHERE id = $1 AND user_id = $2`, question, u.User.ID, path, row, unchanged, noVersion)

		return nil
	})
	if err == nil {
		err = to.SendBatch(ctx, batch).Close()
	}
	if err != nil {
		return fmt.Errorf("carry versions of %s that await approval: %w", t.name, err)
	}

	return nil
}
