package domain

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Proof is the result of an experiment on a domain.
type Proof struct {
	// Broken lists what does not hold.
	Broken []string
	// Everybodys lists the types whose rows all users have.
	Everybodys []string
	// Untried lists what could not be tried for lack of rows.
	Untried []string
	// Hash is the digest of the declaration, catalog and grants that were tried.
	Hash string
}

// Probe tests what a declaration promises, in a transaction that is rolled back: nobody can see other users' rows,
// reference or change them, or run an operation on them.
func Probe(ctx context.Context, db DB, decl *Declaration) (*Proof, error) {
	d, err := Bind(ctx, db, decl)
	if err != nil {
		return nil, err
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	defer rollback(ctx, tx)
	p := &prober{domain: d, decl: decl, tx: tx, proof: &Proof{}}
	if p.proof.Hash, err = Hash(ctx, tx, decl); err != nil {
		return nil, err
	}
	if err := p.probeViews(ctx, db); err != nil {
		return nil, err
	}
	if err := p.findUsers(ctx); err != nil {
		return nil, err
	}
	for _, e := range d.Entities {
		if !e.Reference && p.source.everybodyHas(e.Table) {
			p.proof.Everybodys = append(p.proof.Everybodys, e.Type)
		}
		if e.Reference || p.isOpen() {
			continue
		}
		if err := p.probeIsolation(ctx, e); err != nil {
			return nil, err
		}
	}
	for _, o := range d.Operations {
		if !p.isOpen() {
			p.probeOperation(ctx, o)
		}
	}

	return p.proof, nil
}

// isOpen reports whether there are no accounts: whatever is not shared and read only is everybody's then.
func (p *prober) isOpen() bool { return p.source != nil && p.source.account == nil }

// probeViews checks that the views were made from the declaration as it is: what it says of rows holds only by them.
func (p *prober) probeViews(ctx context.Context, db DB) error {
	if p.decl.Source.Schema == nil {
		return nil
	}
	s, _, err := views(ctx, db, p.decl)
	if err != nil {
		return err
	}
	p.source = s
	outdated, err := s.outdated(ctx, p.tx)
	if outdated != "" {
		p.brokenf("%s", outdated)
	}

	return err
}

// prober is one experiment.
type prober struct {
	domain *Domain
	decl   *Declaration
	tx     pgx.Tx
	proof  *Proof
	users  []string // Alfred's users; two or more of them have rows if anybody has
	source *source  // of the views; nil without
}

// mostPeople is how many users are tried, mostRows with how many rows of a type each.
const (
	mostPeople = 40
	mostRows   = 1000
)

// findUsers finds users to try: the existing ones, and those that own rows. If the table written by init maps accounts,
// accounts with rows get a user each.
func (p *prober) findUsers(ctx context.Context) error {
	var err error
	if p.users, err = p.texts(ctx, "", fmt.Sprintf("SELECT id::text FROM alfred.users ORDER BY id LIMIT %d", mostPeople)); err != nil {
		return err
	}
	if p.decl.Source.Schema != nil {
		return p.mapAccounts(ctx)
	}
	for _, e := range p.domain.Entities {
		if e.Owner == nil || e.Owner.Kind != KindUUID {
			continue
		}
		found, err := p.owners(ctx, e.Owner.Name, e.SQL())
		if err != nil {
			return err
		}
		p.users = appendNew(p.users, found...)
	}

	return nil
}

// owners are some of those that a column of a table names.
func (p *prober) owners(ctx context.Context, column, table string) ([]string, error) {
	return p.texts(ctx, "", fmt.Sprintf("SELECT DISTINCT %[1]s::text FROM %[2]s WHERE %[1]s IS NOT NULL LIMIT %[3]d", quote(column), table, mostPeople))
}

// mapAccounts gives accounts users for the duration of the experiment.
func (p *prober) mapAccounts(ctx context.Context) error {
	s := p.source
	if s.account == nil {
		return nil
	}
	for _, t := range s.cat.tables {
		owner := s.columns[t]
		if owner == "" || s.entities[t.Name] == nil && !s.shares(t) || len(p.users) > mostPeople*2 {
			continue
		}
		accounts, err := p.owners(ctx, owner, t.sql())
		if err != nil {
			return err
		}
		for _, account := range accounts {
			user := uuid.NewString()
			p.users = append(p.users, user)
			if _, err := p.texts(ctx, "", fmt.Sprintf("INSERT INTO %s (alfred_user, account) VALUES ('%s', %s) ON CONFLICT DO NOTHING RETURNING alfred_user::text",
				s.function("alfred_accounts"), user, literalSQL(account))); err != nil {
				return err
			}
		}
	}

	return nil
}

func literalSQL(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// texts runs a query returning one text column as a user or, without one, as the connected role. Changes persist within
// the experiment only if no user is named.
func (p *prober) texts(ctx context.Context, user, sql string) ([]string, error) {
	inner, err := p.tx.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	defer rollback(ctx, inner)
	if user != "" {
		_, err = inner.Exec(ctx, `SELECT set_config('role', 'alfred_tenant', true), set_config('alfred.user_id', $1, true)`, user)
	}
	var found []string
	if err == nil {
		rows, _ := inner.Query(ctx, sql) // a failed query shows when its rows are collected
		found, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err == nil && user == "" {
		err = inner.Commit(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}

	return found, nil
}

func (p *prober) brokenf(format string, args ...any) {
	p.proof.Broken = append(p.proof.Broken, fmt.Sprintf(format, args...))
}

func (p *prober) untriedf(format string, args ...any) {
	p.proof.Untried = append(p.proof.Untried, fmt.Sprintf(format, args...))
}

// probeIsolation checks that a stranger sees nothing, that two users share no row unless memberships give it to both, and that
// keys identify rows.
func (p *prober) probeIsolation(ctx context.Context, e *Entity) error {
	count := "SELECT count(*)::text FROM " + e.SQL()
	seen, err := p.texts(ctx, uuid.NewString(), count)
	if err != nil {
		p.brokenf("%s: a user without rows cannot read it: %s", e.Type, err)

		return nil
	}
	if seen[0] != "0" {
		p.brokenf("%s: a user who owns nothing sees %s rows", e.Type, seen[0])

		return nil
	}
	holders, err := p.holders(ctx, e)
	switch {
	case err != nil || holders == nil:
		return err
	case len(holders) < 2:
		p.untriedf("%s: fewer than two users have rows, so that they could not be compared", e.Type)

		return nil
	}

	return p.probeReferences(ctx, e, holders[0])
}

// holders are the users who have rows, nil if a row is somebody's whose it should not be.
func (p *prober) holders(ctx context.Context, e *Entity) ([]string, error) {
	owner, holders := map[string]string{}, []string{}
	for _, user := range p.users {
		found, err := p.keys(ctx, user, e, mostRows)
		if err != nil {
			return nil, err
		}
		for _, key := range found {
			switch other, taken := owner[key]; {
			case taken && other != user && p.source.isShared(e.Table):
			case taken && other != user:
				p.brokenf("%s: two users see the same row", e.Type)

				return nil, nil
			case taken:
				p.brokenf("%s: key %s does not tell rows apart", e.Type, e.Key.Name)

				return nil, nil
			}
			owner[key] = user
		}
		if len(found) > 0 {
			holders = append(holders, user)
		}
	}

	return holders, nil
}

// probeReferences checks that a row cannot be made to reference another user's.
func (p *prober) probeReferences(ctx context.Context, e *Entity, holder string) error {
	for _, c := range e.Columns {
		target := c.Target()
		if !c.Writable || !e.May(Update) || target == nil || target.Reference || c.Kind == KindArray || p.source.everybodyHas(target.Table) {
			continue
		}
		key, err := p.someKey(ctx, target, holder)
		if err != nil {
			return err
		}
		if key == "" {
			p.untriedf("%s: nobody else has a %s that %s could point at", e.Type, target.Type, c.Name)

			continue
		}
		done, err := p.texts(ctx, holder, fmt.Sprintf("UPDATE %s SET %s = %s WHERE %[4]s = (SELECT %[4]s FROM %[1]s WHERE %[2]s IS DISTINCT FROM %[3]s LIMIT 1) RETURNING 'done'",
			e.SQL(), quote(c.Name), literalSQL(key), quote(e.Key.Name)))
		if err == nil && len(done) > 0 {
			p.brokenf("%s: %s can be made to point at another user's %s", e.Type, c.Name, target.Type)
		}
	}

	return nil
}

// someKey is the key of a row that a user other than the given one sees, and that one does not; "" if none is found.
func (p *prober) someKey(ctx context.Context, e *Entity, but string) (string, error) {
	var own []string
	if but != "" && p.source.isShared(e.Table) {
		var err error
		if own, err = p.keys(ctx, but, e, mostRows); err != nil || len(own) == mostRows {
			return "", err
		}
	}
	for _, user := range p.users {
		if user == but {
			continue
		}
		keys, err := p.keys(ctx, user, e, len(own)+1)
		if others := without(keys, own); err != nil || len(others) > 0 {
			return strings.Join(others[:min(len(others), 1)], ""), err
		}
	}

	return "", nil
}

func (p *prober) keys(ctx context.Context, user string, e *Entity, most int) ([]string, error) {
	return p.texts(ctx, user, fmt.Sprintf("SELECT %s::text FROM %s LIMIT %d", quote(e.Key.Name), e.SQL(), most))
}

// probeOperation checks that the operation cannot be run on another user's row.
func (p *prober) probeOperation(ctx context.Context, o *Operation) {
	key, err := p.someKey(ctx, o.On, "")
	if err != nil || key == "" {
		p.untriedf("operation %s: nobody has a %s", o.Name, o.On.Type)

		return
	}
	args := []string{quote(o.This) + " => " + literalSQL(key)}
	for _, c := range o.Args.Columns[1:] {
		if !c.HasDefault {
			args = append(args, quote(c.Name)+" => NULL")
		}
	}
	if _, err := p.texts(ctx, uuid.NewString(), fmt.Sprintf("SELECT 'done' FROM %s(%s)", o.Call, strings.Join(args, ", "))); err == nil {
		p.brokenf("operation %s: it takes the key of another user's %s", o.Name, o.On.Type)
	}
}

// Hash is the digest of a declaration and everything Postgres knows about its schemas: tables, views, policies,
// constraints, functions and privileges.
func Hash(ctx context.Context, tx pgx.Tx, decl *Declaration) (string, error) {
	schemas := append([]string{decl.Schema}, decl.Source.Schema...)
	for _, o := range decl.Operations {
		of, _ := decl.splitFunction(o.Function)
		schemas = appendNew(schemas, of...)
	}
	var catalog string
	if err := tx.QueryRow(ctx, hashSQL, each(schemas, func(schema string) string { return quote(schema) })).Scan(&catalog); err != nil {
		return "", fmt.Errorf("hash the catalog: %w", err)
	}

	return decl.hash() + catalog, nil
}
