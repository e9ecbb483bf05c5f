package mover

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
)

// renaming is what the rows of a type are called at the target, for those whose keys others' rows have there.
type renaming struct {
	keys  map[string]json.Number // by the key that they had
	marks map[string]string      // what an undo compares, likewise: a short hash of a value
}

// renumber gives rows new keys where others have theirs at the target, and has everything that is sent say them: the rows, what
// refers to them, and what conversations and undo know of them. Keys of rows that are deleted by now are among those: an
// undo would bring them back.
func (u *move) renumber(ctx context.Context, from, to pgx.Tx) error {
	if !u.NewKeys {
		return nil
	}
	if err := advanceSequences(ctx, from, to, u.tables); err != nil { // new keys are none of the user's other ones
		return err
	}
	renamed := map[string]renaming{}
	for _, t := range ofDomain(u.tables) {
		taken, err := u.taken(ctx, from, to, &t, remembered)
		if err != nil {
			return err
		}
		if len(taken) > 0 {
			if renamed[t.entity.Type], err = u.rename(ctx, to, &t, taken); err != nil {
				return err
			}
			u.report.Renumbered += int64(len(taken))
		}
	}
	for i := range u.tables {
		u.tables[i].rename(renamed, u.tables)
	}

	return nil
}

// remembered are keys of a type's rows that conversations know, $1 being the type; live ones are added to them.
const remembered = `SELECT r.entity_id FROM alfred.entity_refs AS r WHERE r.user_id = '%[1]s' AND r.entity_type = $1 AND r.entity_id IS NOT NULL
	UNION SELECT c.entity_id FROM alfred.row_changes AS c WHERE c.user_id = '%[1]s' AND c.entity_type = $1
	UNION `

// taken are those keys of the user's rows that others' rows have at the target.
func (u *move) taken(ctx context.Context, from, to db.DBTX, t *table, also string) ([]string, error) {
	key, args := quoted(t.entity.Key.Name), []any{}
	if also != "" {
		also, args = fmt.Sprintf(also, u.User.ID), []any{t.entity.Type}
	}
	keys, err := all(ctx, from, pgx.RowTo[string], "read the keys of "+t.name, also+`SELECT x.`+key+`::text FROM `+t.name+` AS x WHERE `+t.rows, args...)
	if err != nil {
		return nil, err
	}
	var taken []string
	for some := range slices.Chunk(keys, 10_000) {
		others, err := all(ctx, to, pgx.RowTo[string], "look for the keys of "+t.name, `SELECT x.`+key+`::text FROM `+t.name+` AS x WHERE x.`+key+` = ANY ($1::text[]::`+t.entity.Key.Type+`[]) AND x.`+t.owned+` IS NOT TRUE ORDER BY 1`, some)
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

func (u *move) rename(ctx context.Context, to pgx.Tx, t *table, keys []string) (renaming, error) {
	sequence, err := u.sequenceOf(ctx, to, t, keys)
	if err != nil {
		return renaming{}, err
	}
	r := renaming{map[string]json.Number{}, map[string]string{}}
	type renamed struct{ Old, New string }
	pairs, err := all(ctx, to, pgx.RowToStructByPos[renamed], "take new keys for "+t.name, `SELECT k.old, nextval($2::regclass)::text FROM unnest($1::text[]) AS k (old)`, keys, sequence)
	for _, p := range pairs {
		r.keys[p.Old], r.marks[mark(p.Old)] = json.Number(p.New), mark(p.New)
	}

	return r, err
}

// mark is what row_changes keeps of a number.
func mark(number string) string {
	sum := sha256.Sum256([]byte(number))

	return hex.EncodeToString(sum[:6])
}

// rename has a table's rows sent with what other tables' rows, and its own, are called at the target.
func (t *table) rename(renamed map[string]renaming, tables []table) {
	sent := map[string]string{}
	switch {
	case len(renamed) == 0: // all as it is stored
	case t.entity != nil:
		for c, r := range keysIn(t.entity, renamed) {
			sent[c.Name] = r.inColumn(c)
		}
	case unquoted(t.name) == "alfred.row_changes":
		sent = renameChanges(renamed, tables)
	default:
		sent = t.renameKnown(renamed)
	}
	columns := strings.Split(t.columns, ", ")
	for i, column := range columns {
		if as, ok := sent[strings.Trim(column, `"`)]; ok {
			columns[i] = as
		}
	}
	t.sent = strings.Join(columns, ", ")
}

// keysIn are the columns of a type that hold keys of renamed rows, its own among them.
func keysIn(e *domain.Entity, renamed map[string]renaming) iter.Seq2[*domain.Column, renaming] {
	return func(yield func(*domain.Column, renaming) bool) {
		for _, c := range e.Columns {
			kind := ""
			switch {
			case c == e.Key:
				kind = e.Type
			case c.FK != nil && c.FK.Entity != nil && c.FK.Column == c.FK.Entity.Key.Name:
				kind = c.FK.Entity.Type
			}
			if r, ok := renamed[kind]; ok && c.Expr == "" && !yield(c, r) {
				return
			}
		}
	}
}

// renameChanges is what an undo needs: whose row it was, its old values, and the marks of those that a turn has left.
func renameChanges(renamed map[string]renaming, tables []table) map[string]string {
	before, after := "", ""
	for _, t := range ofDomain(tables) {
		values, marks := "", ""
		for c, r := range keysIn(t.entity, renamed) {
			values += ` WHEN ` + literal(c.Name) + ` THEN ` + inJSON(r.keys)
			marks += ` WHEN ` + literal(c.Name) + ` THEN ` + inJSON(r.marks)
		}
		if values != "" {
			each := ` WHEN ` + literal(t.entity.Type) + ` THEN (SELECT jsonb_object_agg(f.key, CASE f.key%s ELSE f.value END) FROM jsonb_each(x.%s) AS f)`
			before, after = before+fmt.Sprintf(each, values, "before"), after+fmt.Sprintf(each, marks, "after")
		}
	}

	return map[string]string{
		"entity_id": byType(renamed, "x.entity_type", "x.entity_id"),
		"before":    `coalesce(CASE WHEN x.action IN ('updated', 'deleted') THEN CASE x.entity_type` + before + ` END END, x.before)`,
		"after":     `coalesce(CASE x.entity_type` + after + ` END, x.after)`,
	}
}

// byType is a key as text, of a row whose type another expression has.
func byType(renamed map[string]renaming, kind, key string) string {
	cases := ""
	for _, name := range slices.Sorted(maps.Keys(renamed)) {
		cases += ` WHEN ` + literal(name) + ` THEN ` + renamed[name].text(key)
	}

	return `CASE ` + kind + cases + ` ELSE ` + key + ` END`
}

// renameKnown is what the engine's own tables know of rows.
func (t *table) renameKnown(renamed map[string]renaming) map[string]string {
	list := func(column, kind, id string) string {
		return `(SELECT coalesce(jsonb_agg(CASE WHEN e ->> '` + id + `' IS NULL THEN e ELSE e || jsonb_build_object('` + id + `', ` + byType(renamed, `e ->> '`+kind+`'`, `e ->> '`+id+`'`) + `) END ORDER BY n), '[]') FROM jsonb_array_elements(x.` + column + `) WITH ORDINALITY AS u (e, n))`
	}
	switch unquoted(t.name) {
	case "alfred.entity_refs", "alfred.row_events":
		return map[string]string{"entity_id": byType(renamed, "x.entity_type", "x.entity_id")}
	case "alfred.entity_events": // from which registry_at and fork_session make refs
		return map[string]string{"data": `CASE WHEN x.data ->> 'entity_id' IS NULL THEN x.data ELSE jsonb_set(x.data, '{entity_id}', to_jsonb(` + byType(renamed, `x.data ->> 'entity_type'`, `x.data ->> 'entity_id'`) + `)) END`}
	case "alfred.embeddings":
		return map[string]string{"owner_id": byType(renamed, "x.owner_kind", "x.owner_id")}
	case "alfred.turns":
		return map[string]string{"ui_changes": list("ui_changes", "entity_type", "entity_id"), "mentioned_entities": list("mentioned_entities", "ref_type", "uuid")}
	case "alfred.questions": // what awaits approval names rows by key: the user has to ask again
		return map[string]string{"status": `CASE WHEN x.kind = 'approve' AND x.status = 'open' THEN 'superseded' ELSE x.status END`}
	default:
		return map[string]string{}
	}
}

func literal(text string) string { return `'` + strings.ReplaceAll(text, `'`, `''`) + `'` }

func object[V any](values map[string]V) string {
	encoded, _ := json.Marshal(values) //nolint:errchkjson // texts and numbers

	return literal(string(encoded)) + `::jsonb`
}

// text is a key that an expression has, as text.
func (r renaming) text(value string) string {
	return `coalesce(` + object(r.keys) + ` ->> (` + value + `), ` + value + `)`
}

// inColumn is a column of keys.
func (r renaming) inColumn(c *domain.Column) string {
	return r.text(`x.`+quoted(c.Name)+`::text`) + `::` + c.Type
}

// inJSON is a field f of an object.
func inJSON[V any](values map[string]V) string {
	return `coalesce(` + object(values) + ` -> (f.value #>> '{}'), f.value)`
}
