package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
)

// KindTurn is the kind of a hit that is a turn; other kinds are entity types.
const KindTurn = "turn"

const (
	// ExactUpTo is how many embeddings of a user and model are compared one by one, in at most a tenth of a second.
	// Above that, a sweep gives the user an HNSW index, which answers faster but misses some hits (docs/recall.md).
	ExactUpTo = 100_000

	// maxOrdered bounds how many rows an order contains.
	maxOrdered = 100_000

	// beyondLimit is how many extra hits are fetched, because some are already in view or repeat others.
	beyondLimit = 20
)

// Query is one search.
type Query struct {
	UserID     uuid.UUID
	ExceptTurn uuid.UUID // the turn that asks
	// Session's turns from ShownFrom on are left out: the asker has them in view. uuid.Nil leaves none out.
	Session   uuid.UUID
	ShownFrom int
	Kinds     []string // KindTurn and entity types to search; nil: all
	Text      string
	Vectors   Vectors
	Limit     int
}

// Hit is one result.
type Hit struct {
	Kind  string // KindTurn or an entity type
	ID    string // key of the row or turn; never for a model
	Score float64

	// For turns only. Before and After are summaries of the neighbouring turns.
	SessionID                              uuid.UUID
	Turn                                   int
	At                                     time.Time
	Day                                    time.Time // the date of At in the user's time zone
	Message, Reply, Summary, Before, After string
}

// Search finds turns and rows by words and by meaning, best first, each text once, in one statement. tx runs as the
// tenant and therefore sees only its rows. If a vector index is searched, its settings hold until tx ends.
func (s *Searcher) Search(ctx context.Context, tx pgx.Tx, q *Query) ([]Hit, error) {
	w, m := s.weights(q.Vectors.Model), s.modelFor(&q.Vectors)
	params := &db.RecallSearchParams{
		UserID: q.UserID, ExceptTurn: q.ExceptTurn, ShownFrom: int32(q.ShownFrom), Query: q.Text,
		Vector: q.Vectors.Literal(q.Text), Model: m.Model, Dimensions: m.Dimensions,
		ComparedUpTo: s.exactUpTo, Meaning: w.Meaning, Beside: w.Beside, Day: w.Day,
		Lim: int32(q.Limit + beyondLimit), Found: int32(q.Limit + 2*beyondLimit),
	}
	if q.Session != uuid.Nil {
		params.Session = &q.Session
	}
	named, err := namedDays(ctx, tx, q.Text)
	if err != nil {
		return nil, err
	}
	for _, day := range named {
		params.Since, params.Until = append(params.Since, day.since), append(params.Until, day.until)
	}
	s.chooseKinds(params, q.Kinds)
	rows, err := db.New().RecallSearch(ctx, tx, params)
	if err != nil {
		return nil, fmt.Errorf("recall: %w", err)
	}
	hits := make([]Hit, len(rows))
	for i, row := range rows {
		hits[i] = Hit{ // turns' own fields are zero for rows
			Kind: row.Kind, ID: row.ID, Score: row.Score, SessionID: row.SessionID, Turn: int(row.Number), At: row.CreatedAt, Day: row.Day,
			Message: row.Message, Reply: row.Reply, Summary: row.Summary, Before: row.Before, After: row.After,
		}
	}

	return onlyOnce(hits, q.Limit), nil
}

// chooseKinds fills in what is searched: turns, and rows that the user has, alone or with others; reference data is not the
// user's memory.
func (s *Searcher) chooseKinds(params *db.RecallSearchParams, kinds []string) {
	wanted := func(kind string) bool { return kinds == nil || slices.Contains(kinds, kind) }
	params.Kinds, params.SharedKinds = []string{}, []string{}
	if wanted(KindTurn) {
		params.Kinds = append(params.Kinds, KindTurn)
	}
	for _, e := range s.domain.Entities {
		if e.Semantic.IsZero() || e.Reference || !wanted(e.Type) {
			continue
		}
		if e.Shared {
			params.SharedKinds = append(params.SharedKinds, e.Type)

			continue
		}
		params.Kinds = append(params.Kinds, e.Type)
		if c := nameColumn(e); c != nil {
			params.NamedKinds = append(params.NamedKinds, e.Type)
			params.NamedSources = append(params.NamedSources, e.SQL())
			params.NamedKeys = append(params.NamedKeys, e.Key.Name)
			params.NamedOwners = append(params.NamedOwners, e.Owner.Name)
			params.NamedNames = append(params.NamedNames, c.Name)
		}
	}
}

// onlyOnce drops turns that repeat a better hit, and the repeated half of other turns: otherwise the same question or
// reply, given four times, would crowd out everything else.
func onlyOnce(hits []Hit, limit int) []Hit {
	kept := make([]Hit, 0, limit)
	said := map[string]bool{}
	for _, hit := range hits {
		if len(kept) == limit {
			break
		}
		if hit.Kind == KindTurn {
			reply, turn := sameText(hit.Reply), sameText(hit.Message)+"\n"+sameText(hit.Reply)
			if said["turn "+turn] {
				continue
			}
			if reply != "" && said["reply "+reply] {
				hit.Reply = ""
			}
			said["turn "+turn], said["reply "+reply] = true, true
		}
		kept = append(kept, hit)
	}

	return kept
}

func sameText(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// Order ranks a type's rows by a question, best first, and returns the keys of the first most (0: all) that have
// embeddings. tx runs as the tenant. Call it before the transaction that uses the result.
func (s *Searcher) Order(ctx context.Context, tx pgx.Tx, e *domain.Entity, text string, vectors *Vectors, most int) ([]string, error) {
	if !searched(e) {
		return nil, nil
	}
	m := s.modelFor(vectors)
	keys, err := db.New().RecallOrder(ctx, tx, &db.RecallOrderParams{
		Query: text, Kind: e.Type, Shared: e.Shared, Vector: vectors.Literal(text), Model: m.Model,
		Dimensions: m.Dimensions, Weight: s.weights(vectors.Model).Meaning, Lim: int32(cmp.Or(most, maxOrdered)),
	})
	if err != nil {
		return nil, fmt.Errorf("rank rows of %s: %w", e.Table, err)
	}

	return keys, nil
}

// modelFor is the model whose texts are searched: without vectors the configured one, whose words are stored with its
// embeddings.
func (s *Searcher) modelFor(v *Vectors) model { return cmp.Or(v.model, modelOf(s.embedder)) }

// Weights are the weights of a score's parts. All of a question's words together weigh 1, rare ones more than others.
type Weights struct {
	Meaning float64 // a cosine of 1
	Beside  float64 // the words of the better of a turn's two neighbours
	Day     float64 // a day that the question names, relative to an equally rare word
}

// SetWeights overrides the measured weights, whatever the embedder: for measurements.
func (s *Searcher) SetWeights(w Weights) { s.weighed = &w }

func (s *Searcher) weights(model string) Weights {
	if s.weighed != nil {
		return *s.weighed
	}

	return WeightsFor(model)
}

// WeightsFor returns the weights for an embedder's vectors, as measured (docs/recall.md). Lexical embeddings break ties
// between words and find misspellings; semantic ones count as much as the words.
func WeightsFor(model string) Weights {
	if strings.HasPrefix(model, "lexical") {
		return Weights{Meaning: 0.2, Beside: 0.5, Day: 1.5}
	}

	return Weights{Meaning: 1, Beside: 0.5, Day: 1.5}
}

// nameColumn is the column that people know a row by: its label's only one, if it has an index the tenant can use; else
// nil.
func nameColumn(e *domain.Entity) *domain.Column {
	names := e.Label.Columns()
	if len(names) != 1 || e.Viewed || e.Owner == nil || e.Owner.Kind != domain.KindUUID {
		return nil
	}
	if c := e.Column(names[0]); c != nil && c.FreeText() && c.Expr == "" {
		return c
	}

	return nil
}
