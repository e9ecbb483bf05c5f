package mover

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/pg"
)

// renamedSQL makes tables at the source: what rows are called at the target, by the keys that they had, with the short hashes
// by which an undo compares both; and which columns of a type hold keys of which type.
const renamedSQL = `
	CREATE TEMPORARY TABLE renamed (type text, old text, fresh text,
		old_mark text GENERATED ALWAYS AS (left(encode(sha256(old::bytea), 'hex'), 12)) STORED, fresh_mark text GENERATED ALWAYS AS (left(encode(sha256(fresh::bytea), 'hex'), 12)) STORED,
		PRIMARY KEY (type, old)) ON COMMIT DROP;
	CREATE INDEX ON renamed (type, old_mark);
	CREATE TEMPORARY TABLE holding_keys (type text, name text, of text, PRIMARY KEY (type, name)) ON COMMIT DROP`

// renumber gives rows new keys where others have theirs at the target. All that is sent uses the new keys: the rows, what refers
// to them, and what conversations and undo know of them. Deleted rows get new keys too, because an undo would bring them back.
func (u *move) renumber(ctx context.Context, from, to pgx.Tx) error {
	if !u.NewKeys {
		return nil
	}
	if err := advanceSequences(ctx, from, to, u.tables); err != nil { // new keys are none of the user's other ones
		return err
	}
	if err := exec(ctx, from, "make room for new keys", renamedSQL); err != nil {
		return err
	}
	for _, t := range ofDomain(u.tables) {
		if err := u.renumberTable(ctx, from, to, &t); err != nil {
			return err
		}
	}
	if u.report.Renumbered > 0 {
		for i := range u.tables {
			u.tables[i].sendRenamed()
		}
	}

	return nil
}

func (u *move) renumberTable(ctx context.Context, from, to pgx.Tx, t *table) error {
	taken, err := u.takenKeys(ctx, from, to, t, remembered)
	if err != nil {
		return err
	}
	if len(taken) > 0 {
		if err := u.rename(ctx, from, to, t, taken); err != nil {
			return err
		}
	}
	u.report.Renumbered += int64(len(taken))
	for column, of := range keysIn(t.entity) {
		if err := exec(ctx, from, "note what refers to what", `INSERT INTO holding_keys VALUES ($1, $2, $3)`, t.entity.Type, column.Name, of.Type); err != nil {
			return err
		}
	}

	return nil
}

// remembered are keys of a type's rows that conversations know, $1 being the type; live ones are added to them.
const remembered = `SELECT r.entity_id FROM alfred.entity_refs AS r WHERE r.user_id = '%[1]s' AND r.entity_type = $1 AND r.entity_id IS NOT NULL
	UNION SELECT c.entity_id FROM alfred.row_changes AS c WHERE c.user_id = '%[1]s' AND c.entity_type = $1
	UNION `

// takenKeys are those keys of the user's rows that others' rows have at the target.
func (u *move) takenKeys(ctx context.Context, from, to db.DBTX, t *table, also string) ([]string, error) {
	key, args := quoted(t.entity.Key.Name), []any{}
	if also != "" {
		also, args = fmt.Sprintf(also, u.User.ID), []any{t.entity.Type}
	}
	keys, err := pg.Collect(ctx, from, pgx.RowTo[string], "read the keys of "+t.name, also+`SELECT x.`+key+`::text FROM `+t.name+` AS x WHERE `+t.rows, args...)
	if err != nil {
		return nil, err
	}
	var taken []string
	for some := range slices.Chunk(keys, 10_000) {
		others, err := pg.Collect(ctx, to, pgx.RowTo[string], "look for the keys of "+t.name, `SELECT x.`+key+`::text FROM `+t.name+` AS x WHERE x.`+key+` = ANY ($1::text[]::`+t.entity.Key.Type+`[]) AND x.`+t.owned+` IS NOT TRUE ORDER BY 1`, some)
		if err != nil {
			return nil, err
		}
		taken = append(taken, others...)
	}

	return taken, nil
}

// sequenceOf is what numbers a table's rows, of which some have keys that are taken. Errors: [*RefusedError].
func (u *move) sequenceOf(ctx context.Context, tx db.DBTX, t *table, taken []string) (sequence string, err error) {
	err = tx.QueryRow(ctx, `SELECT coalesce(pg_get_serial_sequence($1, $2), '')`, t.name, t.entity.Key.Name).Scan(&sequence)
	if err != nil {
		return "", fmt.Errorf("look for what numbers %s: %w", t.name, err)
	}
	if sequence == "" || t.entity.Key.Kind != domain.KindNumber { // a text may have a sequence, and more in it than its number
		return "", u.keyTaken(t, taken[0])
	}

	return sequence, nil
}

// rename takes new keys at the target, and notes them at the source.
func (u *move) rename(ctx context.Context, from, to pgx.Tx, t *table, keys []string) error {
	sequence, err := u.sequenceOf(ctx, to, t, keys)
	if err != nil {
		return err
	}
	fresh, err := pg.Collect(ctx, to, pgx.RowTo[string], "take new keys for "+t.name, `SELECT nextval($2::regclass)::text FROM generate_series(1, $1::integer)`, len(keys), sequence)
	if err != nil {
		return err
	}

	return exec(ctx, from, "note new keys for "+t.name, `INSERT INTO renamed SELECT $1, k.old, k.fresh FROM unnest($2::text[], $3::text[]) AS k (old, fresh)`, t.entity.Type, keys, fresh)
}

// keysIn are the columns of a type that hold keys, its own among them, and whose.
func keysIn(e *domain.Entity) iter.Seq2[*domain.Column, *domain.Entity] {
	return func(yield func(*domain.Column, *domain.Entity) bool) {
		for _, c := range e.Columns {
			of := c.Target()
			if c == e.Key {
				of = e
			} else if of != nil && c.FK.Column != of.Key.Name {
				of = nil
			}
			if of != nil && c.Expr == "" && !yield(c, of) {
				return
			}
		}
	}
}

// sendRenamed has a table's rows sent with what other tables' rows, and its own, are called at the target.
func (t *table) sendRenamed() {
	sent := t.knownRenamed()
	if t.entity != nil {
		for c, of := range keysIn(t.entity) {
			sent[c.Name] = renamedKey(pg.Literal(of.Type), `x.`+quoted(c.Name)+`::text`) + `::` + c.Type
		}
	}
	columns := strings.Split(t.columns, ", ")
	for i, column := range columns {
		if as, ok := sent[strings.Trim(column, `"`)]; ok {
			columns[i] = as
		}
	}
	t.sent = strings.Join(columns, ", ")
}

// renamedKey is what a row is called at the target: its type and its key, as text, are expressions.
func renamedKey(kind, key string) string {
	return `coalesce((SELECT r.fresh FROM pg_temp.renamed AS r WHERE r.type = ` + kind + ` AND r.old = ` + key + `), ` + key + `)`
}

// knownRenamed is what the engine's own tables know of rows.
func (t *table) knownRenamed() map[string]string {
	list := func(column, kind, id string) string {
		return `(SELECT coalesce(jsonb_agg(CASE WHEN e ->> '` + id + `' IS NULL THEN e ELSE e || jsonb_build_object('` + id + `', ` + renamedKey(`e ->> '`+kind+`'`, `e ->> '`+id+`'`) + `) END ORDER BY n), '[]') FROM jsonb_array_elements(x.` + column + `) WITH ORDINALITY AS u (e, n))`
	}
	// What an undo needs: the old values of a row, and the marks of those that a turn has left.
	fields := func(column, fresh, old string) string {
		return `coalesce((SELECT jsonb_object_agg(f.key, coalesce((SELECT ` + fresh + ` FROM pg_temp.holding_keys AS h JOIN pg_temp.renamed AS r ON r.type = h.of
			WHERE h.type = x.entity_type AND h.name = f.key AND ` + old + ` = f.value #>> '{}' LIMIT 1), f.value)) FROM jsonb_each(x.` + column + `) AS f), x.` + column + `)`
	}
	switch t.name {
	case "alfred.row_changes":
		return map[string]string{
			"entity_id": renamedKey("x.entity_type", "x.entity_id"),
			"before":    `CASE WHEN x.action IN ('updated', 'deleted') THEN ` + fields("before", "to_jsonb(r.fresh::numeric)", "r.old") + ` ELSE x.before END`,
			"after":     fields("after", "to_jsonb(r.fresh_mark)", "r.old_mark"),
		}
	case "alfred.entity_refs", "alfred.row_events":
		return map[string]string{"entity_id": renamedKey("x.entity_type", "x.entity_id")}
	case "alfred.entity_events": // from which registry_at and fork_session make refs
		return map[string]string{"data": `CASE WHEN x.data ->> 'entity_id' IS NULL THEN x.data ELSE jsonb_set(x.data, '{entity_id}', to_jsonb(` + renamedKey(`x.data ->> 'entity_type'`, `x.data ->> 'entity_id'`) + `)) END`}
	case "alfred.embeddings":
		return map[string]string{"owner_id": renamedKey("x.owner_kind", "x.owner_id")}
	case "alfred.turns":
		return map[string]string{"ui_changes": list("ui_changes", "entity_type", "entity_id"), "mentioned_entities": list("mentioned_entities", "ref_type", "uuid")}
	case "alfred.questions": // what awaits approval names rows by key: the user has to ask again
		return map[string]string{"status": `CASE WHEN x.kind = 'approve' AND x.status = 'open' THEN 'superseded' ELSE x.status END`}
	default:
		return map[string]string{}
	}
}
