package pg

import (
	"io/fs"
	"log/slog"
	"testing/fstest"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/sql/schema"
)

// NewEarlierMigrator is the migrator of the files that stand for the earlier ones, without those that came later.
func NewEarlierMigrator(pool *pgxpool.Pool, logger *slog.Logger) (*Migrator, error) {
	m, err := NewMigrator(pool, logger)
	if err != nil {
		return nil, err
	}
	for i, files := range map[int]fs.FS{1: schema.Alfred, 2: schema.Kitchen} {
		s, then := m.sources[i], fstest.MapFS{}
		for _, known := range s.known {
			path := s.name + "/" + known.name
			text, err := fs.ReadFile(files, path)
			if err != nil {
				return nil, err
			}
			if known.version <= earlier[s.name].now {
				then[path] = &fstest.MapFile{Data: text}
			}
		}
		if m.sources[i], err = newGooseSource(logger, s.name, s.table, then); err != nil {
			return nil, err
		}
	}

	return m, nil
}
