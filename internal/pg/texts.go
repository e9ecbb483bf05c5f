package pg

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// digest identifies a migration's text.
func (m migration) digest() string {
	sum := sha256.Sum256([]byte(m.sql))

	return hex.EncodeToString(sum[:])
}

// note is the SQL that records a migration's current text.
func (m migration) note(source *source) string {
	return fmt.Sprintf(`INSERT INTO alfred.migration_texts (source, version, sha256) VALUES ('%s', %d, '%s') `+
		`ON CONFLICT (source, version) DO UPDATE SET sha256 = excluded.sha256`, source.name, m.version, m.digest())
}

// noteTexts records the texts of what is about to be applied. It comes first: a version without its text would count as
// altered, while a text without its version is overwritten by the next run.
func noteTexts(ctx context.Context, conn *pgxpool.Conn, source *source, pending []int64) error {
	batch := &pgx.Batch{}
	for _, migration := range source.known {
		if slices.Contains(pending, migration.version) {
			batch.Queue(migration.note(source))
		}
	}
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("note the texts of migrations: %w", err)
	}

	return nil
}

// appliedTexts are the digests by version; none if no program with this table has migrated the database.
func appliedTexts(ctx context.Context, conn queryer, source string) (map[int64]string, error) {
	texts := map[int64]string{}
	exists, err := isThere(ctx, conn, "alfred.migration_texts")
	if err != nil || !exists {
		return texts, err
	}
	rows, err := conn.Query(ctx, `SELECT version, sha256 FROM alfred.migration_texts WHERE source = $1`, source)
	if err != nil {
		return nil, fmt.Errorf("read the texts of migrations: %w", err)
	}
	var (
		version int64
		digest  string
	)
	if _, err := pgx.ForEachRow(rows, []any{&version, &digest}, func() error { texts[version] = digest; return nil }); err != nil {
		return nil, fmt.Errorf("read the texts of migrations: %w", err)
	}

	return texts, nil
}
