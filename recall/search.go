package recall

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/domain"
)

// KindTurn is the kind of a hit that is a turn; others are entity types.
const KindTurn = "turn"

const (
	// perList is how many hits each of the lists contributes. rankDamping weighs the
	// agreement of lists against the first places of one: with the usual 60, a turn
	// that is 30th by words and by meaning beats the one that alone has all the words.
	perList     = 50
	rankDamping = 10

	// wordLikeness is how alike a query and a row's text must be without a vector.
	wordLikeness = 0.35

	// maxDistance is the cosine distance beyond which a vector says nothing.
	maxDistance = 0.85
)

// Query is one search.
type Query struct {
	UserID     uuid.UUID
	ExceptTurn uuid.UUID // the turn that asks
	Text       string
	Vectors    Vectors
	Limit      int
}

// Hit is one thing found.
type Hit struct {
	Kind  string // KindTurn or an entity type
	ID    string // key of the row or turn; never for a model
	Score float64

	// Of turns alone. Before and After are summaries of the turns beside it.
	SessionID                              uuid.UUID
	Turn                                   int
	At                                     time.Time
	Message, Reply, Summary, Before, After string
}

// Search finds turns and rows by words and by meaning, best first, in one
// statement. tx runs as the tenant, whose rows alone it therefore sees. The planner's
// settings that it makes hold until tx ends.
func (s *Searcher) Search(ctx context.Context, tx pgx.Tx, q *Query) ([]Hit, error) {
	nearest, err := s.plan(ctx, tx, q)
	if err != nil {
		return nil, err
	}
	sql, args := s.searchSQL(q, nearest)
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("recall: %w", err)
	}
	hits, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Hit, error) {
		var (
			hit     Hit
			session *uuid.UUID
			turn    *int
			at      *time.Time
		)
		err := row.Scan(&hit.Kind, &hit.ID, &hit.Score, &session, &turn, &at, &hit.Message, &hit.Reply, &hit.Summary, &hit.Before, &hit.After)
		if session != nil {
			hit.SessionID, hit.Turn, hit.At = *session, *turn, *at
		}

		return hit, err
	})
	if err != nil {
		return nil, fmt.Errorf("recall: %w", err)
	}

	return hits, nil
}

// searchSQL fuses three kinds of list by reciprocal rank: the words of turns, the
// names of each entity type, and the vectors of all. The limits of the joined rows
// keep the planner at looking up a few by their keys: under row-level security it
// expects half of all turns and would read them.
func (s *Searcher) searchSQL(q *Query, nearest nearest) (string, []any) {
	a := &args{}
	text := a.add(q.Text)
	except := a.add(q.ExceptTurn)
	lists := []string{fmt.Sprintf(`
	(SELECT 'turn' AS kind, turn_id::text AS id, row_number() OVER (ORDER BY likeness DESC, turn_id DESC) AS rank
	 FROM alfred.recall_turns(%s, %s, %d))`, text, except, perList)}
	vector := q.Vectors.Literal(q.Text)
	for _, e := range s.domain.Entities {
		switch {
		case e.Semantic.IsZero() || e.Reference: // shared rows are no memory of the user's
		case vector != "" && nameColumn(e) != nil:
			lists = append(lists, rowNames(s.domain, e, text))
		default:
			lists = append(lists, rowWords(s.domain, e, text))
		}
	}
	if vector != "" {
		lists = append(lists, fmt.Sprintf(`
	(SELECT owner_kind AS kind, owner_id AS id, row_number() OVER (ORDER BY distance) AS rank FROM (%s) AS nearest
	 WHERE distance < %g AND owner_id <> %s::text)`, nearest(a, q, vector), maxDistance, except))
	}

	return `
WITH found AS (` + strings.Join(lists, `
	UNION ALL`) + fmt.Sprintf(`),
fused AS (
	SELECT kind, id, sum(1.0 / (%d + rank))::float8 AS score FROM found GROUP BY kind, id ORDER BY 3 DESC, kind <> 'turn', id LIMIT %s)
SELECT f.kind, f.id, f.score, t.session_id, t.number, t.created_at, coalesce(t.message, ''), coalesce(t.reply, ''),
       coalesce(s.response_summary, ''), coalesce(before.response_summary, ''), coalesce(after.response_summary, '')
FROM fused AS f
LEFT JOIN LATERAL (SELECT * FROM alfred.turns WHERE id = CASE WHEN f.kind = 'turn' THEN f.id::uuid END LIMIT 1) AS t ON true
LEFT JOIN LATERAL (SELECT response_summary FROM alfred.turn_summaries WHERE turn_id = t.id LIMIT 1) AS s ON true
LEFT JOIN LATERAL (SELECT response_summary FROM alfred.turn_summaries WHERE session_id = t.session_id AND turn_number = t.number - 1 LIMIT 1) AS before ON true
LEFT JOIN LATERAL (SELECT response_summary FROM alfred.turn_summaries WHERE session_id = t.session_id AND turn_number = t.number + 1 LIMIT 1) AS after ON true
WHERE f.kind <> 'turn' OR t.id IS NOT NULL
ORDER BY f.score DESC, f.kind <> 'turn', f.id`, rankDamping, a.add(q.Limit)), a.values
}

// args are the parameters of a statement under construction.
type args struct{ values []any }

func (a *args) add(value any) string {
	a.values = append(a.values, value)

	return "$" + strconv.Itoa(len(a.values))
}

// nameColumn is the column that people know a row by, or nil: the only one of its
// label, if an index on it can be searched for the tenant.
func nameColumn(e *domain.Entity) *domain.Column {
	names := e.Label.Columns()
	if len(names) != 1 || e.Owner == nil || e.Owner.Kind != domain.KindUUID {
		return nil
	}
	if c := e.Column(names[0]); c != nil && c.Kind == domain.KindText && c.Expr == "" && len(c.Enum) == 0 {
		return c
	}

	return nil
}

func rowNames(d *domain.Domain, e *domain.Entity, text string) string {
	return fmt.Sprintf(`
	(SELECT %s AS kind, row_key AS id, row_number() OVER (ORDER BY likeness DESC, row_key) AS rank
	 FROM alfred.recall_names(%s::regclass, %s, %s, %s, %s, %d))`,
		literal(e.Type), literal(pgx.Identifier{d.Schema, e.Table}.Sanitize()), literal(e.Key.Name), literal(e.Owner.Name),
		literal(nameColumn(e).Name), text, perList)
}

// literal is a name from the catalog as an SQL string.
func literal(name string) string { return "'" + strings.ReplaceAll(name, "'", "''") + "'" }

// rowWords ranks rows by all of their text, which no index serves: for types whose
// rows have no name, and for all while there are no vectors.
func rowWords(d *domain.Domain, e *domain.Entity, text string) string {
	var parts []string
	for _, name := range e.Semantic.Columns() {
		if c := e.Column(name); c != nil {
			parts = append(parts, c.SQL()+"::text")
		}
	}
	if len(parts) == 0 {
		parts = []string{"''"}
	}
	key := pgx.Identifier{e.Table, e.Key.Name}.Sanitize()

	return fmt.Sprintf(`
	(SELECT '%s' AS kind, id, row_number() OVER (ORDER BY likeness DESC, id) AS rank FROM (
		SELECT %s::text AS id, strict_word_similarity(%s, concat_ws(' ', %s)) AS likeness FROM %s WHERE %s) AS ranked
		WHERE likeness >= %g ORDER BY likeness DESC, id LIMIT %d)`,
		e.Type, key, text, strings.Join(parts, ", "), pgx.Identifier{d.Schema, e.Table}.Sanitize(), e.Owned(), wordLikeness, perList)
}
