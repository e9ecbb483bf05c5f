package pg

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// earlier are the last of the 52 and 5 migrations that made the schema which one file per subject makes now, and the last of these
// files. Databases of checkouts from before the first release went through them.
var earlier = map[string]struct {
	last appliedText
	now  int64
}{
	"alfred":  {appliedText{52, "f4ae70255aef98620b2cd8baec57051ca29ae1dd96bf8596ee5232f4b78eaa4c"}, 13},
	"kitchen": {appliedText{5, "7b75b3ad5c9593f70e6c9d2adcd2635ed5c9b1c4229520d835ec9788e429747a"}, 3},
}

// adopt records the present migrations in a database that went through all of the earlier ones: its schema is the same.
func (m *Migrator) adopt(ctx context.Context, conn *pgxpool.Conn) error {
	batch := &pgx.Batch{}
	for _, source := range m.sources {
		was, had := earlier[source.name]
		if !had {
			continue
		}
		texts, err := appliedTexts(ctx, conn, source.name)
		if err != nil {
			return err
		}
		if !slices.Contains(texts, was.last) {
			return nil
		}
		batch.Queue(`DELETE FROM `+source.table+` WHERE version_id > $1`, was.now)
		batch.Queue(`DELETE FROM alfred.migration_texts WHERE source = $1`, source.name)
		for _, migration := range source.known {
			if migration.version <= was.now {
				batch.Queue(migration.note(source))
			}
		}
	}
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("record the migrations that stand for the earlier ones: %w", err)
	}

	return nil
}
