package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
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
	"alfred/internal/llm/wire"
	"alfred/internal/pg"
	"alfred/internal/recall"
	"alfred/internal/scratch"
)

func main() {
	address := flag.String("database", os.Getenv("DATABASE_URL"), "address of a server")
	out := flag.String("o", "docs/recall.md", "where the table goes")
	users := flag.String("users", "50,5000,100000", "how many vectors each user has")
	turns := flag.Int("turns", 10_000, "turns of the long conversation, 0 for none")
	people := flag.String("people", "internal/bench/recall/testdata", "where the conversations are that people had")
	flag.Parse()
	if err := run(context.Background(), *address, *out, *users, *people, *turns); err != nil {
		fmt.Fprintln(os.Stderr, "recall:", err)
		os.Exit(1)
	}
}

// bench is the database and the report under construction.
type bench struct {
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

	return openai.NewEmbedder(&wire.Config{
		APIKey: os.Getenv("OPENAI_API_KEY"), BaseURL: os.Getenv("OPENAI_BASE_URL"), Model: cmp.Or(os.Getenv("ALFRED_EMBEDDER_MODEL"), "text-embedding-3-small"),
	}, length)
}

// makeDatabase makes an empty database. The index of a million vectors is built in 2 GB, and many times slower in less.
func makeDatabase(ctx context.Context, server *scratch.Server) (name, address string, err error) {
	name, address, err = server.Create(ctx, "template0")
	if err == nil {
		_, err = server.Admin.Exec(ctx, `ALTER DATABASE `+scratch.Quote(name)+` SET maintenance_work_mem = '3GB'`)
	}

	return name, address, err
}

func run(ctx context.Context, address, out, users, people string, turns int) (err error) {
	embedder, err := configured()
	if err != nil {
		return err
	}
	server, err := scratch.Open(ctx, address, "alfred_bench_recall_")
	if err != nil {
		return err
	}
	defer server.Close()
	name, own, err := makeDatabase(ctx, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Drop(ctx, name)) }()
	pool, err := pg.Open(ctx, pg.Config{AppName: "bench recall", MaxConns: 12, URL: own})
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := pg.Migrate(ctx, pool, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	files, file := domain.Find("kitchen")
	kitchen, err := domain.Open(ctx, pool, files, file)
	if err != nil {
		return err
	}
	b := &bench{pool: pool, domain: kitchen, embedder: embedder}
	b.head(ctx)
	if err := b.people(ctx, people); err != nil {
		return err
	}
	if turns > 0 {
		if err := b.conversation(ctx, turns); err != nil {
			return err
		}
	}
	if sizes := counts(users); len(sizes) > 0 {
		if err := b.vectors(ctx, sizes); err != nil {
			return err
		}
	}

	return os.WriteFile(out, []byte(b.report.String()+remarks(out)), 0o644) //nolint:gosec // a document
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

func counts(list string) []int {
	var numbers []int
	for part := range strings.SplitSeq(list, ",") {
		if n, err := strconv.Atoi(part); err == nil {
			numbers = append(numbers, n)
		}
	}

	return numbers
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

func percentile(times []time.Duration, p int) string {
	slices.Sort(times)

	return fmt.Sprintf("%.1f", float64(times[min(len(times)-1, len(times)*p/100)].Microseconds())/1000)
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
