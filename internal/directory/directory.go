package directory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db/entries"
	"alfred/internal/pg"
	"alfred/sql/schema"
)

var (
	// ErrNoDatabase says that the directory has no database of that name.
	ErrNoDatabase = errors.New("there is no such database: see worker directory show")

	// ErrNotMade says that the address is not that of a directory, or of an older one.
	ErrNotMade = errors.New("there is no directory of this version there: run worker directory init")

	// ErrUnknown says that the directory knows nobody of that key or name.
	ErrUnknown = errors.New("the directory knows no such user")
)

const (
	searchPath = "alfred_directory"
	versions   = searchPath + ".schema_migrations"
)

// User is where a user is.
type User struct {
	ID       uuid.UUID
	Name     string
	Database Database
	// Epoch counts the user's places from 1.
	Epoch int64
	// Moving: a move is open.
	Moving bool
}

// Database is one whole database of Alfred.
type Database struct {
	Name string
	URL  string
}

// Listed is a database with how many users it serves.
type Listed struct {
	Database

	Users int64
}

// Directory is the map itself.
type Directory struct {
	pool *pgxpool.Pool
	q    *entries.Queries
}

// Open connects. Errors: [ErrNotMade], [pg.ErrNoAnswer]. The caller closes it.
func Open(ctx context.Context, url string) (*Directory, error) {
	pool, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	pending, err := pg.FolderPending(ctx, pool, "directory", versions, schema.Directory)
	if err == nil && pending > 0 {
		err = ErrNotMade
	}
	if err != nil {
		pool.Close()

		return nil, err
	}

	return &Directory{pool: pool, q: entries.New()}, nil
}

// Init makes the directory, or brings one to this version.
func Init(ctx context.Context, url string, logger *slog.Logger) error {
	pool, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+searchPath); err != nil {
		return fmt.Errorf("make the directory's schema: %w", err)
	}

	return pg.FolderUp(ctx, pool, logger, "directory", versions, schema.Directory)
}

const conns = 4 // look-ups are rare: each answer serves for a minute

func connect(ctx context.Context, url string) (*pgxpool.Pool, error) {
	return pg.OpenPlain(ctx, pg.Config{AppName: "alfred directory", MaxConns: conns, URL: url}, searchPath)
}

// Close ends the connections.
func (d *Directory) Close() { d.pool.Close() }

// ByKey finds whose key it is. Errors: [ErrUnknown].
func (d *Directory) ByKey(ctx context.Context, hash []byte) (User, error) {
	row, err := d.q.UserByKey(ctx, d.pool, hash)

	return userFrom((*entries.UserByNameRow)(row), err)
}

// ByName finds a user. Errors: [ErrUnknown].
func (d *Directory) ByName(ctx context.Context, name string) (User, error) {
	row, err := d.q.UserByName(ctx, d.pool, name)

	return userFrom(row, err)
}

// Place finds a user, who gets the database with the fewest users if nobody knows them yet. Errors: [ErrNoDatabase].
func (d *Directory) Place(ctx context.Context, name string) (User, error) {
	user, err := d.ByName(ctx, name)
	if !errors.Is(err, ErrUnknown) {
		return user, err
	}
	if err := d.q.UserPlace(ctx, d.pool, name); err != nil {
		return User{}, fmt.Errorf("place user: %w", err)
	}
	if user, err = d.ByName(ctx, name); errors.Is(err, ErrUnknown) {
		err = ErrNoDatabase
	}

	return user, err
}

func userFrom(row *entries.UserByNameRow, err error) (User, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return User{}, ErrUnknown
	}
	if err != nil {
		return User{}, fmt.Errorf("ask the directory: %w", err)
	}

	return User{ID: row.ID, Name: row.Name, Database: Database{row.Database, row.Url}, Epoch: row.Epoch, Moving: row.Moving}, nil
}

// Database finds a database. Errors: [ErrNoDatabase].
func (d *Directory) Database(ctx context.Context, name string) (Database, error) {
	row, err := d.q.DatabaseGet(ctx, d.pool, name)
	if errors.Is(err, pgx.ErrNoRows) {
		return Database{}, ErrNoDatabase
	}
	if err != nil {
		return Database{}, fmt.Errorf("ask the directory: %w", err)
	}

	return Database{row.Name, row.Url}, nil
}

// Databases lists all, with how many users each serves.
func (d *Directory) Databases(ctx context.Context) ([]Listed, error) {
	rows, err := d.q.DatabaseList(ctx, d.pool)
	if err != nil {
		return nil, fmt.Errorf("list databases: %w", err)
	}
	list := make([]Listed, len(rows))
	for i, row := range rows {
		list[i] = Listed{Database{row.Name, row.Url}, row.Users}
	}

	return list, nil
}

// Forget deletes a user with their keys and moves.
func (d *Directory) Forget(ctx context.Context, user uuid.UUID) error {
	if err := d.q.UserDelete(ctx, d.pool, user); err != nil {
		return fmt.Errorf("delete the user from the directory: %w", err)
	}

	return nil
}

// AddKey makes known whose key it is.
func (d *Directory) AddKey(ctx context.Context, hash []byte, user uuid.UUID) error {
	if err := d.q.KeyAdd(ctx, d.pool, &entries.KeyAddParams{Hashes: [][]byte{hash}, UserIds: []uuid.UUID{user}}); err != nil {
		return fmt.Errorf("make the key known: %w", err)
	}

	return nil
}
