package directory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db/entries"
	"alfred/internal/pg"
)

// ErrName says what a database may be called.
var ErrName = errors.New("a database's name has lower-case letters, digits, - and _, begins with a letter, and has 63 characters at most")

var databaseName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

// AddDatabase makes a database known, or gives it another address, and takes in its users and keys: those of before
// stay where they are, and a database that has rows of theirs, too, refuses them from now on. It returns how many users are
// new. Where something is in the way, such as [ErrName], nothing is changed.
func (d *Directory) AddDatabase(ctx context.Context, database Database) (int64, error) {
	var (
		added     int64
		elsewhere []*entries.UserElsewhereRow
	)
	if !databaseName.MatchString(database.Name) {
		return 0, ErrName
	}
	source, err := pg.Open(ctx, pg.Config{AppName: "alfred directory", MaxConns: 1, URL: database.URL})
	if err != nil {
		return 0, err
	}
	defer source.Close()
	if err := pg.CheckSchema(ctx, source, slog.New(slog.DiscardHandler)); err != nil {
		return 0, err
	}
	if err := d.checkNoOtherName(ctx, database.Name, source); err != nil {
		return 0, err
	}
	err = pg.InTx(ctx, d.pool, func(tx pgx.Tx) error {
		if _, err := d.q.DatabaseAdd(ctx, tx, &entries.DatabaseAddParams{Name: database.Name, Url: database.URL}); err != nil {
			return fmt.Errorf("add database: %w", err)
		}

		return pg.InReadTx(ctx, source, func(from pgx.Tx) (err error) {
			added, elsewhere, err = d.takeIn(ctx, tx, from, database.Name)

			return err
		})
	})
	if err != nil {
		return 0, err
	}
	for _, user := range elsewhere {
		if _, err := source.Exec(ctx, `SELECT user_place_set($1, $2, 0, 'away')`, user.ID, user.Epoch); err != nil {
			return added, fmt.Errorf("refuse a user of another database: %w", err)
		}
	}

	return added, nil
}

// checkNoOtherName checks that no other name leads to the database: under two, it would refuse all users it serves. One that
// does not answer is taken for another.
func (d *Directory) checkNoOtherName(ctx context.Context, name string, database *pgxpool.Pool) error {
	others, err := d.Databases(ctx)
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.Name == name {
			continue
		}
		pool, err := pg.Open(ctx, pg.Config{AppName: "alfred directory", MaxConns: 1, URL: other.URL})
		if errors.Is(err, pg.ErrNoAnswer) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look at %s: %w", other.Name, err)
		}
		same, err := pg.SameDatabase(ctx, database, pool)
		pool.Close()
		if err != nil {
			return fmt.Errorf("compare with %s: %w", other.Name, err)
		}
		if same {
			return fmt.Errorf("this database is known as %[1]s already; worker directory add %[1]s gives it another address", other.Name)
		}
	}

	return nil
}

const takenAtATime = 10_000

// takeIn reads the users of a database in parts: there may be millions. A user who is away is somebody else's to bring.
func (d *Directory) takeIn(ctx context.Context, tx, from pgx.Tx, database string) (added int64, elsewhere []*entries.UserElsewhereRow, err error) {
	for last := uuid.Nil; ; {
		var (
			ids, users []uuid.UUID
			names      []string
			hashes     [][]byte
		)
		err := from.QueryRow(ctx, `SELECT coalesce(array_agg(u.id ORDER BY u.id), '{}'), coalesce(array_agg(u.name ORDER BY u.id), '{}') FROM (
			SELECT u.id, u.name FROM users AS u
			WHERE u.id > $1 AND NOT EXISTS (SELECT FROM user_places AS p WHERE p.user_id = u.id AND p.state IN ('away', 'coming')) ORDER BY u.id LIMIT $2) AS u`,
			last, takenAtATime).Scan(&ids, &names)
		if err != nil {
			return 0, nil, fmt.Errorf("read the database's users: %w", err)
		}
		if len(ids) == 0 {
			return added, elsewhere, nil
		}
		n, others, err := d.takeUsers(ctx, tx, &entries.UserAddParams{Ids: ids, Names: names, Database: database})
		if err != nil {
			return 0, nil, err
		}
		err = from.QueryRow(ctx, `SELECT coalesce(array_agg(k.user_id), '{}'), coalesce(array_agg(k.key_hash), '{}') FROM api_keys AS k
			WHERE k.revoked_at IS NULL AND k.user_id = ANY ($1)`, ids).Scan(&users, &hashes)
		if err != nil {
			return 0, nil, fmt.Errorf("read the database's keys: %w", err)
		}
		if err := d.q.KeyAdd(ctx, tx, &entries.KeyAddParams{UserIds: users, Hashes: hashes}); err != nil {
			return 0, nil, fmt.Errorf("add keys: %w", err)
		}
		added, elsewhere, last = added+n, append(elsewhere, others...), ids[len(ids)-1]
	}
}

// takeUsers adds users, and finds those whom another database serves.
func (d *Directory) takeUsers(ctx context.Context, tx pgx.Tx, users *entries.UserAddParams) (added int64, elsewhere []*entries.UserElsewhereRow, err error) {
	taken, err := d.q.UserNamed(ctx, tx, &entries.UserNamedParams{Ids: users.Ids, Names: users.Names})
	if err != nil {
		return 0, nil, fmt.Errorf("compare names: %w", err)
	}
	if len(taken) > 0 {
		return 0, nil, fmt.Errorf("these names belong to users of another database: %s; rename them there (UPDATE users SET name ...) and add the database again", strings.Join(taken, ", "))
	}
	if added, err = d.q.UserAdd(ctx, tx, users); err != nil {
		return 0, nil, fmt.Errorf("add users: %w", err)
	}
	if elsewhere, err = d.q.UserElsewhere(ctx, tx, &entries.UserElsewhereParams{Ids: users.Ids, Database: users.Database}); err != nil {
		return 0, nil, fmt.Errorf("compare places: %w", err)
	}

	return added, elsewhere, nil
}
