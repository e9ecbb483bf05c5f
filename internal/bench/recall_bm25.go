package main

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"alfred/internal/pg"
)

// bm25 is the textbook ranking: word frequencies in the turns and in the questions.
type bm25 struct{ turns, questions []map[string]float64 }

// newBM25 uses Postgres to split the texts into words, so that only the ranking differs.
func (b *bench) newBM25(ctx context.Context, t dialogue, config string) (bm25, error) {
	var texts []string
	for _, turn := range t.turns {
		texts = append(texts, turn.message+"\n"+turn.reply)
	}
	for _, q := range t.questions {
		texts = append(texts, q.text)
	}
	counts, err := pg.Collect(ctx, b.pool, pgx.RowTo[map[string]float64], "count words", `
		SELECT coalesce((SELECT jsonb_object_agg(w.lexeme, cardinality(w.positions)) FROM unnest(to_tsvector($2::text::regconfig, t.text)) AS w), '{}')
		FROM unnest($1::text[]) WITH ORDINALITY AS t (text, n) ORDER BY t.n`, texts, config)
	if err != nil {
		return bm25{}, err
	}

	return bm25{counts[:len(t.turns)], counts[len(t.turns):]}, nil
}

// rank orders the turns that contain any of a question's words, best first.
func (r *bm25) rank(question int) []int {
	const k1, b = 1.2, 0.75
	holders, total := map[string]float64{}, 0.0
	for _, turn := range r.turns {
		for word, times := range turn {
			holders[word]++
			total += times
		}
	}
	average := total / float64(len(r.turns))
	scores := map[int]float64{}
	for i, turn := range r.turns {
		size := 0.0
		for _, times := range turn {
			size += times
		}
		for word := range r.questions[question] {
			if times := turn[word]; times > 0 {
				rarity := math.Log(1 + (float64(len(r.turns))-holders[word]+0.5)/(holders[word]+0.5))
				scores[i] += rarity * times * (k1 + 1) / (times + k1*(1-b+b*size/average))
			}
		}
	}

	return slices.SortedFunc(maps.Keys(scores), func(one, other int) int {
		return cmp.Or(cmp.Compare(scores[other], scores[one]), cmp.Compare(other, one))
	})
}
