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
	"alfred/internal/testfactory"
)

// words are in no stop list, and are their own stems.
var words = []string{"bak", "dorf", "glim", "hulk", "jomp", "krat", "lomp", "mirk"}

// namedDay adds three words to a question that no turn contains.
const namedDay = "2023-07-21"

// reference ranks turns as [recall.Searcher.Search] does by words and a day, but looks at all of them.
type reference struct {
	messages []string  // of one conversation and then of another
	first    int       // how many are of the first
	sizes    []float64 // words of each turn's summary, its owner's included
	asked    []string
	dated    map[int]bool // the turns of the day that is named, if one is
	weights  recall.Weights
}

// presence is term frequency, saturated as in BM25 over what ts_rank makes of it.
func presence(times int, size, average float64) float64 {
	frequency := 0.0
	for n := 1; n <= times; n++ {
		frequency += 0.0607927 / float64(n*n)
	}

	return 2.2 * frequency / (frequency + 0.0607927*1.2*(0.25+0.75*size/average))
}

func (r *reference) rarity(holders float64) float64 {
	return math.Log(1 + (float64(len(r.messages))-holders+0.5)/(holders+0.5))
}

// words are the turns' scores by words, and the most that a turn could have by all.
func (r *reference) words() (own []float64, most float64) {
	rarity, average := map[string]float64{}, 0.0
	for _, word := range r.asked {
		holders, size := 0.0, 0.0
		for i, message := range r.messages {
			if strings.Contains(message, word) {
				holders, size = holders+1, size+r.sizes[i]
			}
		}
		rarity[word] = r.rarity(holders)
		average += size / holders / float64(len(r.asked))
		most += rarity[word]
	}
	if len(r.dated) > 0 {
		most += 3*r.rarity(0) + r.day()
	}
	own = make([]float64, len(r.messages))
	for i, message := range r.messages {
		for _, word := range r.asked {
			own[i] += rarity[word] * presence(strings.Count(message, word), r.sizes[i], average)
		}
	}

	return own, max(most, 1)
}

func (r *reference) day() float64 {
	return r.weights.Day * r.rarity(float64(len(r.dated)))
}

func (r *reference) scores() []float64 {
	own, most := r.words()
	scores := make([]float64, len(own))
	for i := range own {
		score, neighbour := own[i], 0.0
		if r.dated[i] {
			score += r.day()
		}
		for _, n := range []int{i - 1, i + 1} {
			if n >= 0 && n < len(own) && (n < r.first) == (i < r.first) {
				neighbour = max(neighbour, own[n])
			}
		}
		if score > 0 {
			scores[i] = (score + r.weights.Beside*neighbour) / most
		}
	}

	return scores
}

// best returns the best scores of turns, best first. Turns of the first conversation count only if their number is
// below the given one.
func (r *reference) best(below, limit int) []float64 {
	var best []float64
	for i, score := range r.scores() {
		if score > 0 && (i >= r.first || i+1 < below) {
			best = append(best, score)
		}
	}
	slices.SortFunc(best, func(one, other float64) int { return cmp.Compare(other, one) })

	return best[:min(limit, len(best))]
}

// talkOf makes turns, of which few contain the first words and many the last.
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
	dbtest.Whole(t)

	pool := dbtest.Pool(t)
	user := stranger(t, pool)
	messages := talkOf(660)
	session, other := said(t, pool, user, messages[:600]...), said(t, pool, user, messages[600:]...) // with turns 1 to 60 each
	sizes := append(sizesOf(t, pool, session), sizesOf(t, pool, other)...)
	exec(t, pool, `UPDATE turns SET created_at = $2::text::timestamptz + interval '12 hours' WHERE session_id = $1 AND number % 70 = 1`, session, namedDay)
	dated := map[int]bool{}
	for i := 0; i < 600; i += 70 {
		dated[i] = true
	}
	searcher := recall.New(testfactory.Kitchen(t), brokenEmbedder{})
	for _, weights := range []recall.Weights{{Day: 1.5}, {Beside: 0.5, Day: 1.5}, {Beside: 2, Day: 0.3}} {
		searcher.SetWeights(weights)
		for from := range words {
			r := &reference{messages: messages, first: 600, sizes: sizes, asked: words[from:min(from+3, len(words))], weights: weights}
			r.compare(t, pool, searcher, user, session, strings.Join(r.asked, " "))
			r.dated = dated
			r.compare(t, pool, searcher, user, session, strings.Join(r.asked, " ")+" on "+namedDay)
		}
	}
}

func (r *reference) compare(t *testing.T, pool *pgxpool.Pool, searcher *recall.Searcher, user string, session uuid.UUID, question string) {
	t.Helper()

	for _, shownFrom := range []int{601, 150} {
		numbers, hits := found(t, pool, searcher, recall.Query{
			UserID: uuid.MustParse(user), Text: question, Limit: 30, Kinds: []string{recall.KindTurn}, Session: session, ShownFrom: shownFrom,
		})
		wanted := r.best(shownFrom, 30)
		require.Len(t, hits, len(wanted), "%q, %v", question, r.weights)
		for i, hit := range hits {
			require.InDelta(t, wanted[i], hit.Score, 1e-6, "place %d of %q, %v: turn %d", i, question, r.weights, numbers[i])
		}
	}
}
