package recall

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/internal/llm"
	"alfred/internal/pg"
)

// sweepLock is the key of the sweeping process's advisory lock, from "recall", and tendLock of that which makes indexes.
const (
	sweepLock = 0x726563616c6c
	tendLock  = sweepLock + 1
)

// buildMemory is the memory limit for building an index: a graph that does not fit is built many times slower.
const buildMemory = "256MB"

const allowMemory = `SELECT set_config('maintenance_work_mem', '` + buildMemory + `', false)
	WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes('` + buildMemory + `')`

// graph is an index's density. With pgvector's defaults m = 16 and ef_construction = 64, one in twenty of the nearest
// among a hundred thousand clustered vectors is never found, however long a search takes. With these values, one in a
// hundred is missed at half the search effort; docs/recall.md has the numbers. Building takes longer.
const graph = "m = 24, ef_construction = 200"

// indexesAtMost bounds how many users have an index: every statement planned on the table looks at each of them, 0.3 ms
// for fifty. Further users have their vectors compared one by one, however many.
const indexesAtMost = 50

// model identifies an embedder.
type model struct {
	Model      string
	Dimensions int32
}

func modelOf(embedder llm.Embedder) model {
	return model{Model: embedder.Model(), Dimensions: int32(embedder.Dimensions())}
}

// Maintain gives users with very many vectors an index of their own, and drops the indexes of users who have fewer now, were
// erased or moved away, and of models that no longer serve. An index for all would make everybody's turns pay for
// searches of a few, and lose hits that others' vectors crowd out. A search uses an index once it is complete.
//
// Making or dropping one waits for every older transaction of the database to end, a dump's too, so call it
// independently of [Index.Sweep]. An index that cannot be made is reported, and keeps no other from being made. While another process
// tends, it does nothing.
func (x *Index) Maintain(ctx context.Context) error {
	return pg.WithLock(ctx, x.pool, tendLock, func(conn *pgxpool.Conn) error {
		due, err := x.due(ctx, conn)
		if err != nil || len(due) == 0 {
			return err
		}
		if _, err := conn.Exec(ctx, allowMemory); err != nil {
			return fmt.Errorf("allow memory for vector indexes: %w", err)
		}
		var failed error
		for _, index := range due {
			if conn.Conn().IsClosed() {
				return failed
			}
			failed = errors.Join(failed, tendIndex(ctx, conn, index))
		}
		if _, err := conn.Exec(ctx, `RESET maintenance_work_mem`); err != nil { // the pool gives the connection to others
			return errors.Join(failed, fmt.Errorf("reset the memory for vector indexes: %w", err), conn.Conn().Close(ctx))
		}

		return failed
	})
}

func (x *Index) due(ctx context.Context, conn *pgxpool.Conn) ([]*db.EmbeddingIndexesDueRow, error) {
	due, err := x.q.EmbeddingIndexesDue(ctx, conn, &db.EmbeddingIndexesDueParams{MoreThan: x.searcher.exactUpTo, AtMost: indexesAtMost})
	if err != nil {
		return nil, fmt.Errorf("look at the vector indexes: %w", err)
	}

	return due, nil
}

func tendIndex(ctx context.Context, conn *pgxpool.Conn, index *db.EmbeddingIndexesDueRow) error {
	if index.Stands {
		if _, err := conn.Exec(ctx, `DROP INDEX CONCURRENTLY IF EXISTS alfred.`+pgx.Identifier{index.Name}.Sanitize()); err != nil {
			return fmt.Errorf("drop the index %s: %w", index.Name, err)
		}
	}
	if !index.Wanted {
		return nil
	}
	sql := fmt.Sprintf(`CREATE INDEX CONCURRENTLY %s ON alfred.embeddings USING hnsw ((embedding::vector(%d)) vector_cosine_ops) WITH (`+graph+`)
		WHERE user_id = '%s' AND model = %s AND dimensions = %d`,
		pgx.Identifier{index.Name}.Sanitize(), index.Dimensions, index.UserID, pg.Literal(index.Model), index.Dimensions)
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("make the index of user %s: %w", index.UserID, err)
	}

	return nil
}
