package recall_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/recall"
)

// words never stand in a stop list, and are their own stems.
var words = []string{"bak", "dorf", "glim", "hulk", "jomp", "krat", "lomp", "mirk"}

// reference ranks turns as [recall.Searcher.Search] does by words, but looks at all of them.
type reference struct {
	messages []string
	sizes    []float64 // words of each turn's summary, its owner's included
	asked    []string
	beside   float64
}

// presence is term frequency, saturated as in BM25 over what ts_rank makes of it.
func presence(times int, size, average float64) float64 {
	frequency := 0.0
	for n := 1; n <= times; n++ {
		frequency += 0.0607927 / float64(n*n)
	}

	return 2.2 * frequency / (frequency + 0.0607927*1.2*(0.25+0.75*size/average))
}

func (r *reference) scores() []float64 {
	all := float64(len(r.messages))
	rarity, average, most := map[string]float64{}, 0.0, 0.0
	for _, word := range r.asked {
		holders, size := 0.0, 0.0
		for i, message := range r.messages {
			if strings.Contains(message, word) {
				holders, size = holders+1, size+r.sizes[i]
			}
		}
		rarity[word] = math.Log(1 + (all-holders+0.5)/(holders+0.5))
		average += size / holders / float64(len(r.asked))
		most += rarity[word]
	}
	own := make([]float64, len(r.messages)+2)
	for i, message := range r.messages {
		for _, word := range r.asked {
			own[i+1] += rarity[word] * presence(strings.Count(message, word), r.sizes[i], average)
		}
	}
	scores := make([]float64, len(r.messages))
	for i := range scores {
		if own[i+1] > 0 {
			scores[i] = (own[i+1] + r.beside*max(own[i], own[i+2])) / max(most, 1)
		}
	}

	return scores
}

// best are the turns found, best first, below a number.
func (r *reference) best(below, limit int) []int {
	scores := r.scores()
	var numbers []int
	for n := 1; n < below && n <= len(scores); n++ {
		if scores[n-1] > 0 {
			numbers = append(numbers, n)
		}
	}
	slices.SortFunc(numbers, func(one, other int) int {
		return cmp.Or(cmp.Compare(scores[other-1], scores[one-1]), cmp.Compare(other, one))
	})

	return numbers[:min(limit, len(numbers))]
}

// talkOf makes turns of which few hold the first words and many the last.
func talkOf(turns int) []string {
	random := rand.New(rand.NewPCG(7, 11))
	messages := make([]string, turns)
	for n := range messages {
		said := []string{fmt.Sprintf("filler%d", n), fmt.Sprintf("stuffing%d", random.IntN(3))}
		for i, word := range words {
			for random.IntN(60) < 1+i*i/2 {
				said = append(said, word)
			}
		}
		messages[n] = strings.Join(said, " ")
	}

	return messages
}

func sizesOf(t *testing.T, pool *pgxpool.Pool, session uuid.UUID) []float64 {
	t.Helper()

	rows, err := pool.Query(t.Context(), `SELECT length(search)::float8 FROM turn_summaries WHERE session_id = $1 ORDER BY turn_number`, session)
	require.NoError(t, err)
	sizes, err := pgx.CollectRows(rows, pgx.RowTo[float64])
	require.NoError(t, err)

	return sizes
}

func TestTheBestTurnsAreThoseOfTheWholeRanking(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	user := stranger(t, pool)
	messages := talkOf(600)
	session := said(t, pool, user, messages...)
	sizes := sizesOf(t, pool, session)
	searcher := recall.New(kitchen(t, pool), brokenEmbedder{})
	for _, beside := range []float64{0, 0.5, 2} {
		searcher.Weigh(recall.Weights{Beside: beside})
		for from := range words {
			for _, shownFrom := range []int{601, 150} {
				r := reference{messages, sizes, words[from:min(from+3, len(words))], beside}
				numbers, hits := found(t, pool, searcher, recall.Query{
					UserID: uuid.MustParse(user), Text: strings.Join(r.asked, " "), Limit: 30, Kinds: []string{recall.KindTurn}, Session: session, ShownFrom: shownFrom,
				})
				scores, wanted := r.scores(), r.best(shownFrom, 30)
				require.Len(t, hits, len(wanted), "%v, %v", r.asked, beside)
				for i, hit := range hits {
					require.InDelta(t, scores[wanted[i]-1], hit.Score, 1e-6, "place %d of %v, %v: turn %d instead of %d", i, r.asked, beside, numbers[i], wanted[i])
				}
			}
		}
	}
}
