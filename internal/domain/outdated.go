package domain

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Outdated says that a declaration's views are not those that Attach would make, and what it would change; "" if they are, or if it has
// none. What it would change is tried and rolled back.
func Outdated(ctx context.Context, db DB, decl *Declaration) (string, error) {
	if decl.Source.Schema == "" {
		return "", nil
	}
	s, sql, err := views(ctx, db, decl)
	if err != nil {
		return wouldFail(err), nil
	}

	return s.outdated(ctx, db, sql)
}

const outdated = "the views were made from another declaration, from other tables or by another version: run worker domain attach, which would "

func wouldFail(err error) string { return outdated + "fail: " + err.Error() }

func (s *source) outdated(ctx context.Context, db DB, sql string) (string, error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return "", fmt.Errorf("compare the views: %w", err)
	}
	defer rollback(ctx, tx)
	before, err := madeIn(ctx, tx, s.decl.Schema)
	if err != nil || before[""] == s.made {
		return "", err
	}
	after, err := s.tryAttach(ctx, tx, sql)
	if err != nil {
		return wouldFail(err), nil
	}

	return outdated + "change " + cmp.Or(strings.Join(changes(before, after), ", "), "nothing but rights"), nil
}

// tryAttach returns what attaching makes, in a transaction that is rolled back. It does not wait long for those who use the views, who
// would wait for it.
func (s *source) tryAttach(ctx context.Context, tx pgx.Tx, sql string) (map[string]string, error) {
	if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '2s'"); err != nil {
		return nil, fmt.Errorf("limit the wait: %w", err)
	}
	if err := Attach(ctx, tx, s.decl, sql); err != nil {
		return nil, err
	}

	return madeIn(ctx, tx, s.decl.Schema)
}

// changes names what differs.
func changes(before, after map[string]string) []string {
	all := maps.Clone(before)
	maps.Copy(all, after)
	delete(all, "")
	var found []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		was, had := before[name]
		now, has := after[name]
		switch {
		case !had:
			found = append(found, name+" (new)")
		case !has:
			found = append(found, name+" (gone)")
		case was != now:
			found = append(found, name)
		}
	}

	return found
}

// madeIn are the views and functions of a schema, and what defines each.
func madeIn(ctx context.Context, tx pgx.Tx, schema string) (map[string]string, error) {
	found, name, defined := map[string]string{}, "", ""

	return found, eachRow(ctx, tx, "what was made for "+schema, madeSQL, []any{schema}, []any{&name, &defined}, func() error {
		found[name] = defined

		return nil
	})
}
