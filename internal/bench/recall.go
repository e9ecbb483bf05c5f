package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/pgvector/pgvector-go"

	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/llm/lexical"
	"alfred/internal/llm/openai"
	serving "alfred/internal/llm/wire"
	"alfred/internal/pg"
	"alfred/internal/recall"
	"alfred/internal/scratch"
)

// recallOptions say how much of search is measured.
type recallOptions struct {
	users  string // how many vectors each user has, separated by commas
	people string // the folder with the conversations that people had
	turns  int    // of the long conversation; 0 for none
}

// bench is the database and the report under construction.
type bench struct {
	address  string
	pool     *pgxpool.Pool
	domain   *domain.Domain
	embedder llm.Embedder
	report   strings.Builder
}

// configured is the embedder that the programs' own settings name: lexical, or a server that speaks OpenAI's protocol.
func configured() (llm.Embedder, error) {
	if cmp.Or(os.Getenv("ALFRED_EMBEDDER"), "lexical") != "openai" {
		return lexical.Embedder{}, nil
	}
	length, err := strconv.Atoi(cmp.Or(os.Getenv("ALFRED_EMBEDDER_DIMENSIONS"), "1536"))
	if err != nil {
		return nil, fmt.Errorf("ALFRED_EMBEDDER_DIMENSIONS: %w", err)
	}

	return openai.NewEmbedder(&serving.Config{
		APIKey: os.Getenv("OPENAI_API_KEY"), BaseURL: os.Getenv("OPENAI_BASE_URL"), Model: cmp.Or(os.Getenv("ALFRED_EMBEDDER_MODEL"), "text-embedding-3-small"),
	}, length)
}

// measureRecall measures how well and how fast the past is found: vectors of users with few and many of them against exact
// search, conversations of ten thousand turns and of people, and what a search adds to a turn. With a million vectors it wants half
// an hour of two idle CPUs and 3 GB. Below the figures come the page's hand-written notes.
func measureRecall(ctx context.Context, s *server, own, page string, options recallOptions) (text string, err error) {
	sizes, err := numbersIn(options.users)
	if err != nil {
		return "", fmt.Errorf("-users: %w", err)
	}
	embedder, err := configured()
	if err != nil {
		return "", err
	}
	// The index of a million vectors is built in 2 GB, and many times slower in less.
	if _, err := s.Admin.Exec(ctx, `ALTER DATABASE `+scratch.Quote(s.database)+` SET maintenance_work_mem = '3GB'`); err != nil {
		return "", err
	}
	pool, err := openPool(ctx, own, 12, nil)
	if err != nil {
		return "", err
	}
	defer pool.Close()
	kitchen, err := openKitchen(ctx, pool)
	if err != nil {
		return "", err
	}
	b := &bench{address: own, pool: pool, domain: kitchen, embedder: embedder}
	b.head(ctx)
	if err := b.people(ctx, options.people); err != nil {
		return "", err
	}
	if options.turns > 0 {
		if err := b.conversation(ctx, options.turns); err != nil {
			return "", err
		}
	}
	if len(sizes) > 0 {
		if err := b.vectors(ctx, sizes); err != nil {
			return "", err
		}
	}

	return b.report.String() + remarks(page), nil
}

// remarks are the hand-written notes below the figures of the last run.
func remarks(page string) string {
	const heading = "## What this says"
	old, err := os.ReadFile(page)
	_, text, found := strings.Cut(string(old), heading)
	if err != nil || !found {
		return ""
	}

	return heading + text
}

// numbersIn are the numbers in a list with commas; none in "".
func numbersIn(list string) (numbers []int, err error) {
	for part := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}

	return numbers, nil
}

func (b *bench) head(ctx context.Context) {
	var version, vector string
	_ = b.pool.QueryRow(ctx, `SELECT current_setting('server_version'), extversion FROM pg_extension WHERE extname = 'vector'`).Scan(&version, &vector)
	load, _ := os.ReadFile("/proc/loadavg")
	b.printf("# Recall, measured\n\nWritten by `make bench/recall` on %s: %d CPUs, %s/%s, Postgres %s, pgvector %s. "+
		"Load average at the start: %s, near or above the number of CPUs it means that other work took part: then ratios hold and absolute times are too high.\n\n",
		time.Now().UTC().Format("2006-01-02 15:04 MST"), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, version, vector,
		strings.Join(strings.Fields(string(load))[:min(3, len(strings.Fields(string(load))))], " "))
}

func (b *bench) printf(format string, args ...any) {
	fmt.Fprintf(&b.report, format, args...)
	fmt.Fprintf(os.Stderr, format, args...)
}

// finds is 1 if a search finds a turn with the answer, else 0.
func (b *bench) finds(ctx context.Context, s *recall.Searcher, user uuid.UUID, q question, limit int, words bool) (found int, took time.Duration, err error) {
	hits, took, err := b.search(ctx, s, user, q.text, limit, words)
	in := func(hit recall.Hit) bool {
		return hit.Kind == recall.KindTurn && slices.Contains(q.evidence, hit.Turn-1)
	}

	return btoi(slices.ContainsFunc(hits, in)), took, err
}

// search is one search as the user, with the embedding of the query.
func (b *bench) search(ctx context.Context, s *recall.Searcher, user uuid.UUID, text string, limit int, words bool) ([]recall.Hit, time.Duration, error) {
	started := time.Now()
	vectors, err := s.EmbedTexts(ctx, []string{text})
	if err != nil {
		return nil, 0, err
	}
	if words {
		vectors = recall.Vectors{}
	}
	var hits []recall.Hit
	err = pg.InReadTx(ctx, b.pool, func(tx pgx.Tx) error {
		return pg.AsTenant(ctx, tx, user, func(tx pgx.Tx) error {
			hits, err = s.Search(ctx, tx, &recall.Query{UserID: user, Text: text, Vectors: vectors, Limit: limit})

			return err
		})
	})

	return hits, time.Since(started), err
}

func inMillis(times []time.Duration, part float64) string {
	return fmt.Sprintf("%.1f", millis(percentile(times, part)))
}

func (b *bench) exec(ctx context.Context, sql string, args ...any) error {
	if _, err := b.pool.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("%.60s: %w", sql, err)
	}

	return nil
}

// loaded is how many vectors one statement stores.
const loaded = 5000

// load stores a number of vectors for a user.
func (b *bench) load(ctx context.Context, user uuid.UUID, size int, next func() []float32) error {
	for start := 0; start < size; start += loaded {
		texts := make([]string, min(loaded, size-start))
		for i := range texts {
			texts[i] = pgvector.NewVector(next()).String()
		}
		err := b.exec(ctx, `INSERT INTO embeddings (owner_kind, owner_id, model, user_id, dimensions, content_hash, embedding)
			SELECT 'recipe', gen_random_uuid()::text, 'cloud', $1, $2, '\x00', t::vector FROM unnest($3::text[]) AS t`, user, dimensions, texts)
		if err != nil {
			return err
		}
	}

	return nil
}
