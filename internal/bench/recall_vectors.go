package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"alfred/internal/pg"
	"alfred/internal/recall"
)

const (
	dimensions = 256
	clusters   = 25
	spread     = 0.7 // of a vector around its cluster, whose own components have 1
	queries    = 100
)

// cloud generates clustered vectors. As an embedder it maps the text "cloud 7" to the 7th point, which is close to
// stored ones but equal to none.
type cloud struct{ centers [][]float32 }

func newCloud() *cloud {
	random := rand.New(rand.NewPCG(1, 2))
	c := &cloud{}
	for range clusters {
		c.centers = append(c.centers, noise(random, 1))
	}

	return c
}

func noise(random *rand.Rand, scale float64) []float32 {
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(random.NormFloat64() * scale)
	}

	return v
}

func (c *cloud) point(random *rand.Rand) []float32 {
	v, center := noise(random, spread), c.centers[random.IntN(clusters)]
	for i := range v {
		v[i] += center[i]
	}

	return v
}

func (c *cloud) Dimensions() int { return dimensions }

func (c *cloud) Model() string { return "cloud" }

func (c *cloud) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		n, _ := strconv.ParseUint(strings.TrimPrefix(text, "cloud "), 10, 64) // other texts are the domain's rows
		vectors[i] = c.point(rand.New(rand.NewPCG(n, 77)))
	}

	return vectors, nil
}

func (b *bench) vectors(ctx context.Context, sizes []int) error {
	points := newCloud()
	users := make([]uuid.UUID, len(sizes))
	for i, size := range sizes {
		users[i] = uuid.New()
		if err := b.exec(ctx, `INSERT INTO users (id, name) VALUES ($1, $2)`, users[i], fmt.Sprint("user of ", size)); err != nil {
			return err
		}
		random := rand.New(rand.NewPCG(uint64(size), 3))
		err := b.load(ctx, users[i], size, func() []float32 { return points.point(random) })
		if err != nil {
			return err
		}
	}
	searcher := recall.New(b.domain, points)
	started := time.Now()
	index := recall.NewIndex(searcher, b.pool)
	if err := index.Sweep(ctx); err != nil {
		return err
	}
	if err := index.Maintain(ctx); err != nil {
		return err
	}
	built := time.Since(started)
	if err := b.exec(ctx, `VACUUM ANALYZE embeddings`); err != nil {
		return err
	}
	b.printf("## Vectors: recall@10 against exact search\n\n%d dimensions, %d clusters, all users in one table under row-level security, one client, %d queries each; "+
		"times are of the whole search (embedding, role, count, full text and names included). Only vectors within the distance of 0.85 that recall itself demands count. The first sweep and the index (HNSW, m = 24, ef_construction = 200) of each user with more than a hundred thousand, above all, took %.0f s.\n\n"+
		"| vectors of the user | plan | recall@10 | p50 ms | p95 ms | exact p50 ms |\n|---|---|---|---|---|---|\n", dimensions, clusters, queries, built.Seconds())
	for i, size := range sizes {
		if err := b.vectorRow(ctx, searcher, points, users[i], size); err != nil {
			return err
		}
	}
	b.printf("\n")

	return nil
}

func (b *bench) vectorRow(ctx context.Context, searcher *recall.Searcher, points *cloud, user uuid.UUID, size int) error {
	exactQueries := queries
	if size > 500_000 { // exact search takes too long for more
		exactQueries = 20
	}
	var times, exactTimes []time.Duration
	right, wanted := 0, 0
	for n := range queries {
		text := fmt.Sprint("cloud ", n+1)
		hits, took, err := b.search(ctx, searcher, user, text, 10, false)
		if err != nil {
			return err
		}
		times = append(times, took)
		if n >= exactQueries {
			continue
		}
		vector, _ := points.Embed(ctx, []string{text})
		started := time.Now()
		best, err := b.exact(ctx, user, "cloud", vector[0], 10)
		if err != nil {
			return err
		}
		exactTimes = append(exactTimes, time.Since(started))
		wanted += len(best)
		for _, hit := range hits {
			right += btoi(slices.Contains(best, hit.ID))
		}
	}
	plan := "exact"
	if size > recall.ExactUpTo {
		plan = "HNSW of their own, ef 200"
	}
	b.printf("| %d | %s | %.3f | %s | %s | %s |\n", size, plan, float64(right)/float64(wanted), inMillis(times, 0.5), inMillis(times, 0.95), inMillis(exactTimes, 0.5))

	return nil
}

// exact compares with all vectors of the user, without the index.
func (b *bench) exact(ctx context.Context, user uuid.UUID, model string, vector []float32, limit int) ([]string, error) {
	return pg.Collect(ctx, b.pool, pgx.RowTo[string], "search exactly", `
		SELECT owner_id FROM (SELECT owner_id, embedding <=> $3::text::vector AS distance FROM embeddings
		WHERE user_id = $1 AND model = $2 ORDER BY distance LIMIT $4) AS nearest WHERE distance < 0.85`,
		user, model, pgvector.NewVector(vector).String(), limit)
}
