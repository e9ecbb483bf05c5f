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
	// perList is how many hits each of the lists contributes, rankDamping how little
	// the first places of one list count against agreement of several.
	perList     = 50
	rankDamping = 60

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
// statement. tx runs as the tenant, whose rows alone it therefore sees.
func (s *Searcher) Search(ctx context.Context, tx pgx.Tx, q *Query) ([]Hit, error) {
	sql, args := s.searchSQL(q)
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
// words of each entity type, and the vectors of all.
func (s *Searcher) searchSQL(q *Query) (string, []any) {
	var args []any
	arg := func(value any) string {
		args = append(args, value)

		return "$" + strconv.Itoa(len(args))
	}
	text, user := arg(q.Text), arg(q.UserID)
	lists := []string{turnWords(text, user, arg(q.ExceptTurn))}
	for _, e := range s.domain.Entities {
		if !e.Semantic.IsZero() && !e.Reference { // shared rows are no memory of the user's
			lists = append(lists, rowWords(s.domain, e, text))
		}
	}
	if vector := q.Vectors.Literal(q.Text); vector != "" {
		lists = append(lists, fmt.Sprintf(`
	(SELECT owner_kind AS kind, owner_id AS id, row_number() OVER (ORDER BY distance) AS rank FROM (
		SELECT v.owner_kind, v.owner_id, v.embedding <=> %s::text::public.vector AS distance FROM alfred.embeddings AS v
		WHERE v.user_id = %s AND v.model = %s AND v.dimensions = %s::int AND v.owner_id <> $3::text
		ORDER BY distance LIMIT %d) AS nearest WHERE distance < %g)`,
			arg(vector), user, arg(q.Vectors.Model), arg(q.Vectors.Dimensions), perList, maxDistance))
	}

	return `
WITH found AS (` + strings.Join(lists, `
	UNION ALL`) + fmt.Sprintf(`),
fused AS (
	SELECT kind, id, sum(1.0 / (%d + rank))::float8 AS score FROM found GROUP BY kind, id ORDER BY 3 DESC, kind <> 'turn', id LIMIT %s)
SELECT f.kind, f.id, f.score, t.session_id, t.number, t.created_at, coalesce(t.message, ''), coalesce(t.reply, ''),
       coalesce(s.response_summary, ''), coalesce(before.response_summary, ''), coalesce(after.response_summary, '')
FROM fused AS f
LEFT JOIN alfred.turns AS t ON f.kind = 'turn' AND t.id::text = f.id
LEFT JOIN alfred.turn_summaries AS s ON s.turn_id = t.id
LEFT JOIN alfred.turn_summaries AS before ON before.session_id = t.session_id AND before.turn_number = t.number - 1
LEFT JOIN alfred.turn_summaries AS after ON after.session_id = t.session_id AND after.turn_number = t.number + 1
WHERE f.kind <> 'turn' OR t.id IS NOT NULL
ORDER BY f.score DESC, f.kind <> 'turn', f.id`, rankDamping, arg(q.Limit)), args
}

// turnWords ranks turns by any of the words: people who ask for something said
// before rarely use all of the same ones.
func turnWords(text, user, except string) string {
	return fmt.Sprintf(`
	(SELECT 'turn' AS kind, id, row_number() OVER (ORDER BY likeness DESC, id DESC) AS rank FROM (
		SELECT t.id::text AS id, ts_rank_cd(words.found, words.asked) AS likeness FROM alfred.turns AS t
		LEFT JOIN alfred.turn_summaries AS s ON s.turn_id = t.id
		CROSS JOIN LATERAL (SELECT coalesce(s.search, to_tsvector('english', left(t.message, 8000))) || to_tsvector('english', left(coalesce(t.reply, ''), 8000)) AS found,
			replace(plainto_tsquery('english', %s)::text, '&', '|')::tsquery AS asked) AS words
		WHERE t.user_id = %s AND t.status = 'succeeded' AND t.id <> %s AND words.found @@ words.asked
		ORDER BY likeness DESC, id DESC LIMIT %d) AS ranked)`, text, user, except, perList)
}

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
		SELECT %s::text AS id, strict_word_similarity(%s, concat_ws(' ', %s)) AS likeness FROM %s) AS ranked
		WHERE likeness >= %g ORDER BY likeness DESC, id LIMIT %d)`,
		e.Type, key, text, strings.Join(parts, ", "), pgx.Identifier{d.Schema, e.Table}.Sanitize(), wordLikeness, perList)
}
