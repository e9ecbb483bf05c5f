package main

import (
	"context"

	"github.com/jackc/pgx/v5"

	"alfred/internal/pg"
)

// bm25 is the textbook ranking (k1 = 1.2, b = 0.75): for each question, the first turns that contain any of its words.
// Texts are split into words as Alfred does it, so that only the ranking differs.
const bm25 = `
	WITH said AS (
		SELECT n - 1 AS turn, w.lexeme, cardinality(w.positions)::float8 AS times, cardinality($1::text[])::float8 AS turns
		FROM unnest($1::text[]) WITH ORDINALITY AS t (text, n), unnest(to_tsvector($3::text::regconfig, t.text)) AS w
	), weighed AS (
		SELECT turn, lexeme, times, sum(times) OVER (PARTITION BY turn) / (sum(times) OVER () / turns) AS size,
			ln(1 + (turns - count(*) OVER same + 0.5) / (count(*) OVER same + 0.5)) AS rarity
		FROM said WINDOW same AS (PARTITION BY lexeme)
	)
	SELECT ARRAY(
		SELECT w.turn FROM unnest(to_tsvector($3::text::regconfig, q.text)) AS asked JOIN weighed AS w USING (lexeme)
		GROUP BY w.turn ORDER BY sum(w.rarity * w.times * 2.2 / (w.times + 1.2 * (0.25 + 0.75 * w.size))) DESC, w.turn DESC LIMIT $4)
	FROM unnest($2::text[]) WITH ORDINALITY AS q (text, n) ORDER BY q.n`

// rankings are those of a conversation's turns, by its questions.
func (b *bench) rankings(ctx context.Context, t dialogue, config string) ([][]int, error) {
	var turns, questions []string
	for _, turn := range t.turns {
		turns = append(turns, turn.message+"\n"+turn.reply)
	}
	for _, q := range t.questions {
		questions = append(questions, q.text)
	}

	return pg.Collect(ctx, b.pool, pgx.RowTo[[]int], "rank turns", bm25, turns, questions, config, amongFirst)
}
