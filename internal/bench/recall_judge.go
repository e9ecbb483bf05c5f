package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/internal/pg"
	"alfred/internal/recall"
)

// the evidence must be among the first turns
const amongFirst = 10

// heard is a conversation in the database, with rankings of its turns by words and by stems that are independent of
// Alfred.
type heard struct {
	dialogue
	user         uuid.UUID
	plain, stems [][]int
}

// people measures search on real conversations.
func (b *bench) people(ctx context.Context, dir string) error {
	found, err := sets(dir)
	if err != nil || len(found) == 0 {
		return err
	}
	searcher := recall.New(b.domain, b.embedder)
	heards := make([][]heard, len(found))
	for i, one := range found {
		for _, t := range one.talks {
			h, err := b.hear(ctx, t)
			if err != nil {
				return err
			}
			heards[i] = append(heards[i], h)
		}
	}
	if err := recall.NewIndex(searcher, b.pool).Sweep(ctx); err != nil {
		return err
	}
	if err := b.exec(ctx, `VACUUM ANALYZE turn_summaries, turns, embeddings`); err != nil {
		return err
	}
	b.printf("## Evidence in conversations that people had\n\nThe share of questions for which a turn that holds the answer, by the set's own labels, is among the first %d; turns beside a hit do not count. "+
		"Two lines are a turn; embedder: %s. BM25 over words and over stems are computed apart from Alfred, with every word's true frequency (k1 = 1.2, b = 0.75).\n\n"+
		"| | questions | turns | BM25, words | BM25, stems | vectors | Alfred, words alone | fused | fused, with neighbours |\n|---|---|---|---|---|---|---|---|---|\n", amongFirst, b.embedder.Model())
	for i, one := range found {
		if err := b.judge(ctx, searcher, one.name, heards[i]); err != nil {
			return err
		}
	}

	return b.tuned(ctx, searcher, found, heards)
}

// judge writes a set's row.
func (b *bench) judge(ctx context.Context, s *recall.Searcher, name string, heards []heard) error {
	measured := recall.WeightsFor(b.embedder.Model())
	alone := recall.Weights{Day: measured.Day}
	fused := recall.Weights{Meaning: measured.Meaning, Day: measured.Day}
	var plain, stems, vectors, questions, turns int
	for i := range heards {
		h := &heards[i]
		turns += len(h.turns)
		questions += len(h.questions)
		for n, q := range h.questions {
			plain += btoi(q.in(h.plain[n]))
			stems += btoi(q.in(h.stems[n]))
			byVector, err := b.nearestTurns(ctx, h.user, q.text, amongFirst)
			if err != nil {
				return err
			}
			vectors += btoi(q.in(byVector))
		}
	}
	b.printf("| %s | %d | %d", name, questions, turns)
	for _, found := range []int{plain, stems, vectors} {
		b.printf(" | %.3f", float64(found)/float64(questions))
	}
	for _, w := range []recall.Weights{alone, fused, measured} {
		share, err := b.share(ctx, s, heards, w)
		if err != nil {
			return err
		}
		b.printf(" | %.3f", share)
	}
	b.printf(" |\n")

	return nil
}

// share is the share of questions whose evidence is found with the weights.
func (b *bench) share(ctx context.Context, s *recall.Searcher, heards []heard, w recall.Weights) (float64, error) {
	s.SetWeights(w)
	var found, all int
	for i := range heards {
		h := &heards[i]
		all += len(h.questions)
		for _, q := range h.questions {
			one, _, err := b.finds(ctx, s, h.user, q, amongFirst, w.Meaning == 0)
			if err != nil {
				return 0, err
			}
			found += one
		}
	}

	return float64(found) / float64(all), nil
}

// tuned tunes the weights on each set, and reports their results on the others.
func (b *bench) tuned(ctx context.Context, s *recall.Searcher, found []set, heards [][]heard) error {
	grid := b.grid()
	shares := make([][]float64, len(found)) // by set and weights
	for i := range found {
		for _, w := range grid {
			share, err := b.share(ctx, s, heards[i], w)
			if err != nil {
				return err
			}
			shares[i] = append(shares[i], share)
		}
	}
	b.printf("\nWhat is tuned on one set is reported on the others: of %d weights (a neighbour's share 0 to 0.7, a vector's 0 to twice what is built in), the best on the set at the left.\n\n| tuned on | neighbour's share | vector's |", len(grid))
	for _, one := range found {
		b.printf(" %s |", one.name)
	}
	b.printf("\n|---|---|---|%s\n", strings.Repeat("---|", len(found)))
	for i, one := range found {
		best := slices.Index(shares[i], slices.Max(shares[i]))
		b.printf("| %s | %.2f | %.2f |", one.name, grid[best].Beside, grid[best].Meaning)
		for _, other := range shares {
			b.printf(" %.3f |", other[best])
		}
		b.printf("\n")
	}
	b.printf("\n")

	return nil
}

// grid are the weights that are tried.
func (b *bench) grid() []recall.Weights {
	var grid []recall.Weights
	builtIn := recall.WeightsFor(b.embedder.Model())
	for _, beside := range []float64{0, 0.3, 0.5, 0.7} {
		for _, share := range []float64{0, 0.5, 1, 2} {
			grid = append(grid, recall.Weights{Meaning: share * builtIn.Meaning, Beside: beside, Day: builtIn.Day})
		}
	}

	return grid
}

// hear writes a conversation as workers would have left it.
func (b *bench) hear(ctx context.Context, t dialogue) (heard, error) {
	h := heard{dialogue: t}
	session, user, err := b.session(ctx, "people "+uuid.NewString())
	if err != nil {
		return h, err
	}
	h.user = user
	var messages, replies []string
	var times []time.Time
	for _, turn := range t.turns {
		if turn.at.IsZero() {
			turn.at = time.Now()
		}
		message := cmp.Or(turn.message, "-") // people send pictures
		messages, replies, times = append(messages, message), append(replies, turn.reply), append(times, turn.at)
	}
	if err := b.store(ctx, session, user, messages, replies, times); err != nil {
		return h, err
	}
	if h.plain, err = b.rankings(ctx, t, "simple"); err != nil {
		return h, err
	}
	h.stems, err = b.rankings(ctx, t, "english")

	return h, err
}

func btoi(yes bool) int {
	if yes {
		return 1
	}

	return 0
}

// in reports whether one of the turns contains the answer.
func (q question) in(turns []int) bool {
	return slices.ContainsFunc(turns, func(turn int) bool { return slices.Contains(q.evidence, turn) })
}

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
