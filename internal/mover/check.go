package mover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/directory"
	"alfred/internal/pg"
)

// RefusedError says what is in the way of a move, and what to do about it.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

func refused(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// detail is what an error says, in one line.
func detail(err error) string {
	if raised, ok := errors.AsType[*pgconn.PgError](err); ok && raised.Detail != "" {
		return raised.Detail
	}

	return strings.Join(strings.Fields(err.Error()), " ")
}

// check looks for what would stop a move on its way, before anything is done. Errors: [*RefusedError].
func (m *Mover) check(ctx context.Context, user directory.User, to directory.Database) error {
	under, err := m.begin(ctx, &directory.Move{User: user, Source: user.Database, Target: to, Step: directory.StepBegun})
	if err != nil {
		return err
	}
	defer under.end(ctx)
	for _, look := range []func(context.Context) error{under.checkApart, under.checkClocks, under.checkUser, under.checkDomain, under.checkColumns, under.checkReferences, under.checkShared, under.checkKeys, under.checkOnline} {
		if err := look(ctx); err != nil {
			return err
		}
	}

	return nil
}

// checkApart: source and target are two databases. If they were one under two names, a move would bring the rows to itself and then
// delete them.
func (u *move) checkApart(ctx context.Context) error {
	same, err := pg.SameDatabase(ctx, u.source, u.target)
	if err != nil {
		return fmt.Errorf("compare %s and %s: %w", u.Source.Name, u.Target.Name, err)
	}
	if same {
		return refused("%s and %s are two names of one database: give the wrong one its own address with worker directory add", u.Source.Name, u.Target.Name)
	}

	return nil
}

// checkUser: the target has nobody of that name.
func (u *move) checkUser(ctx context.Context) error {
	var there, away bool
	err := u.target.QueryRow(ctx, `SELECT EXISTS (SELECT FROM users AS u WHERE u.name = $2 AND u.id <> $1),
		EXISTS (SELECT FROM user_places AS p WHERE p.user_id = $1 AND p.state = 'here') OR EXISTS (SELECT FROM users AS u WHERE u.id = $1 AND NOT EXISTS (SELECT FROM user_places AS p WHERE p.user_id = u.id))`,
		u.User.ID, u.User.Name).Scan(&there, &away)
	if err != nil {
		return fmt.Errorf("look for the user at %s: %w", u.Target.Name, err)
	}
	if there {
		return refused("%s has another user of the name %s", u.Target.Name, u.User.Name)
	}
	if away {
		return refused("%s serves this user already, against what the directory says: one of the two is to be deleted by hand", u.Target.Name)
	}
	if err := u.source.QueryRow(ctx, `SELECT EXISTS (SELECT FROM users AS u WHERE u.id = $1)`, u.User.ID).Scan(&there); err != nil {
		return fmt.Errorf("look for the user at %s: %w", u.Source.Name, err)
	}
	if !there {
		return refused("%s does not know this user yet: they have never sent anything", u.Source.Name)
	}

	return nil
}

// checkDomain: the conversations are of the domain whose rows move along, and the target has it. One begun in SQL does
// not say which it is of, but it may know rows.
func (u *move) checkDomain(ctx context.Context) error {
	bound, err := u.bind(ctx, u.target, u.Target.Name)
	if err != nil {
		return err
	}
	types := make([]string, len(bound.Entities))
	for i, entity := range bound.Entities {
		types[i] = entity.Type
	}
	other, err := pg.Collect(ctx, u.source, pgx.RowTo[string], "look for the user's domains", `
		SELECT DISTINCT coalesce('the domain ' || s.domain, 'a domain with the type ' || r.entity_type)
		FROM sessions AS s LEFT JOIN entity_refs AS r ON r.session_id = s.id AND s.domain IS NULL
		WHERE s.user_id = $1 AND (s.domain <> $2 OR r.entity_type <> ALL ($3))`, u.User.ID, bound.Name, types)
	if err != nil {
		return err
	}
	if len(other) > 0 {
		return refused("the user has conversations of %s, whose rows this command does not know: set ALFRED_DOMAIN to it", strings.Join(other, ", "))
	}

	return nil
}

const columnsSQL = `SELECT coalesce((SELECT string_agg(format('%s %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN ' not null' END, a.attgenerated), ', ' ORDER BY a.attname)
	FROM pg_attribute AS a WHERE a.attrelid = to_regclass(t.name) AND a.attnum > 0 AND NOT a.attisdropped), '')
	FROM unnest($1::text[]) WITH ORDINALITY AS t (name, n) ORDER BY t.n`

// checkColumns: both have the same tables.
func (u *move) checkColumns(ctx context.Context) error {
	here, there, err := u.both(ctx, "read columns", columnsSQL, names(u.tables))
	if err != nil {
		return err
	}
	for i, t := range u.tables {
		if here[i] != there[i] {
			return refused("%s has other columns at %s than at %s", t.name, u.Target.Name, u.Source.Name)
		}
	}

	return nil
}

// both are the texts that a query finds at the source and at the target.
func (u *move) both(ctx context.Context, what, sql string, args ...any) (here, there []string, err error) {
	if here, err = pg.Collect(ctx, u.source, pgx.RowTo[string], what, sql, args...); err == nil {
		there, err = pg.Collect(ctx, u.target, pgx.RowTo[string], what, sql, args...)
	}

	return here, there, err
}

// checkReferences: no table that stays has rows that refer to rows that go.
func (u *move) checkReferences(ctx context.Context) error {
	references, err := foreignKeys(ctx, u.source)
	if err != nil {
		return err
	}
	for _, r := range references {
		to := slices.IndexFunc(u.tables, func(t table) bool { return t.name == r.To })
		if to < 0 || slices.ContainsFunc(u.tables, func(t table) bool { return t.name == r.From }) {
			continue
		}
		var stays bool
		err := pg.InReadTx(ctx, u.source, func(tx pgx.Tx) error {
			return tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM `+r.From+` AS o JOIN `+r.To+` AS x ON `+r.Condition+` WHERE `+u.tables[to].rows+`)`).Scan(&stays)
		})
		if err != nil {
			return fmt.Errorf("look at %s: %w", r.From, err)
		}
		if stays {
			return refused("%s has rows that refer to the user's rows of %s, and the domain does not declare it: they would be left behind", r.From, r.To)
		}
	}

	return nil
}

// checkShared: rows of all users that the user's rows refer to are the same ones at the target.
func (u *move) checkShared(ctx context.Context) error {
	for _, t := range ofDomain(u.tables) {
		for _, column := range t.entity.Columns {
			shared := column.Target()
			if shared == nil || !shared.Reference || column.Expr != "" {
				continue
			}
			if err := u.compareShared(ctx, t, column.Name, quoted(shared.Table), column.FK.Column, shared.Label.Columns()); err != nil {
				return err
			}
		}
	}

	return nil
}

// compareShared compares keys and names.
func (u *move) compareShared(ctx context.Context, t table, column, shared, key string, label []string) error {
	schema, _, _ := strings.Cut(t.name, ".")
	shared, key, column = schema+"."+shared, quoted(key), quoted(column)
	names := []string{key + "::text"}
	for _, name := range label {
		names = append(names, quoted(name)+"::text")
	}
	said := `concat_ws(' ', ` + strings.Join(names, ", ") + `)`
	keys, err := pg.Collect(ctx, u.source, pgx.RowTo[string], "look for the shared rows of "+t.name, `SELECT DISTINCT x.`+column+`::text FROM `+t.name+` AS x WHERE x.`+column+` IS NOT NULL AND `+t.rows)
	if err != nil {
		return err
	}
	known := `SELECT ` + said + ` FROM ` + shared + ` AS r WHERE r.` + key + `::text = ANY ($1) ORDER BY r.` + key
	here, there, err := u.both(ctx, "read "+shared, known, keys)
	if err != nil {
		return err
	}
	for _, row := range here {
		if !slices.Contains(there, row) {
			return refused("%s has not the row %q that the user's %s refer to: shared rows must have the same keys in every database (worker directory add brings them to a new one)", u.Target.Name, row, t.name)
		}
	}

	return nil
}

// apartAtMost is how far the clocks of two databases may be apart. A conversation's memory and the order of its events go by its
// database's clock: at one that is an hour late, the last hour would be forgotten.
const apartAtMost = time.Second

// ErrClocks says that the clocks came apart while the user was being moved. They are served where they were.
var ErrClocks = errors.New("the target's clock is behind the source's: set the clocks of both servers, and try again")

// checkClocks: both databases have about the same time. The mover's own is compared with nothing. Errors: [*RefusedError].
func (u *move) checkClocks(ctx context.Context) error {
	var read [3]time.Time
	for i, pool := range []*pgxpool.Pool{u.source, u.target, u.source} {
		if err := pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&read[i]); err != nil {
			return fmt.Errorf("ask both databases for the time: %w", err)
		}
	}
	if by := apart(read[0], read[1], read[2]); by.Abs() > apartAtMost {
		return refused("the clock of %s is %s off that of %s, and a conversation's memory and order go by them: set the clocks of both servers first", u.Target.Name, by.Round(time.Second/10), u.Source.Name)
	}

	return nil
}

// apart is by how much, at least, a clock is ahead of another one that was read before and after it; below 0, behind.
func apart(before, there, after time.Time) time.Duration {
	switch {
	case there.Before(before):
		return there.Sub(before)
	case there.After(after):
		return there.Sub(after)
	default:
		return 0
	}
}

// awaitClock waits until the target's clock is past the moment in which the source's refused: what is written from then on
// is later than all that was. Errors: [ErrClocks].
func (u *move) awaitClock(ctx context.Context) error {
	var closed time.Time
	if err := u.source.QueryRow(ctx, `SELECT changed_at FROM user_places WHERE user_id = $1`, u.User.ID).Scan(&closed); err != nil {
		return fmt.Errorf("ask when the source closed: %w", err)
	}
	var now time.Time
	if err := u.target.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return fmt.Errorf("ask the target for the time: %w", err)
	}
	behind := closed.Sub(now)
	if behind > apartAtMost {
		return ErrClocks
	}
	if err := pg.Pause(ctx, behind); err != nil {
		return fmt.Errorf("wait for the target's clock: %w", err)
	}

	return nil
}
