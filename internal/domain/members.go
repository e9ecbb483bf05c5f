package domain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// MembersDecl is a table of memberships. Each of its rows names an account and a row of the type, which that account sees,
// with all that belongs to it. Of the type of the accounts themselves, each sees those with whom it shares such a row.
type MembersDecl struct {
	Table string `yaml:"table"`
	Where string `yaml:"where"` // SQL over its columns: the memberships that count, "" for all
}

// membership is a table of memberships, as the rows see it that are shared through it.
type membership struct {
	table   *catalogTable
	where   string
	account string    // its column that names an account
	shared  catalogFK // leads to what is shared
}

// memberships resolves those that are declared for a table. Rows that everybody has need none: the list is empty, and not nil.
func (s *source) memberships(t *catalogTable) (found []membership) {
	e := s.entities[t.Name]
	if e == nil {
		return nil
	}
	if e.Everybody {
		return []membership{}
	}
	for _, decl := range e.Members {
		m := membership{table: s.cat.table(decl.Table), where: decl.Where}
		if m.table == nil {
			s.refusef(t.Name, "members", "members: %s", s.cat.missing(decl.Table))

			continue
		}
		m.account = cmp.Or(s.ownerColumns(m.table))
		at := slices.IndexFunc(m.table.foreignKeys, func(fk catalogFK) bool { return s.leadsToShared(decl, fk, t) })
		if m.account == "" || at < 0 {
			s.refusef(t.Name, "members", "members: %s has to name an account, and to reference what is shared", decl.Table)

			continue
		}
		m.shared = m.table.foreignKeys[at]
		found = append(found, m)
	}

	return found
}

// checkConditions has Postgres read which memberships and rows count, by themselves: in a view, a misspelled column could be one of the
// rows beside them.
func (s *source) checkConditions(ctx context.Context, tx pgx.Tx) error {
	check := func(what string, t *catalogTable, condition string) error {
		if t == nil || condition == "" {
			return nil
		}
		if _, err := tx.Exec(ctx, fmt.Sprintf("SELECT FROM %s AS m WHERE (%s) LIMIT 0", t.sql(), condition)); err != nil {
			return fmt.Errorf("%s: where: %w", what, err)
		}

		return nil
	}
	for _, e := range s.decl.Entities {
		if err := check(e.Type, s.cat.table(e.Table), e.Where); err != nil {
			return err
		}
		for _, m := range e.Members {
			if err := check("members: "+m.Table, s.cat.table(m.Table), m.Where); err != nil {
				return err
			}
		}
	}

	return nil
}

// leadsToShared reports whether a foreign key of memberships leads to what they share: to rows of t or, for the accounts, to those of
// another type with these memberships.
func (s *source) leadsToShared(decl MembersDecl, fk catalogFK, t *catalogTable) bool {
	to := s.declOf(fk)
	if t != s.accounts {
		return to != nil && fk.Table == t.Name
	}

	return to != nil && fk.Table != t.Name && slices.ContainsFunc(to.Members, func(m MembersDecl) bool { return m.Table == decl.Table })
}

// sharedWith is the SQL condition that a row is the user's by a membership, or by the column of an owner, if it has one.
func (s *source) sharedWith(t *catalogTable, alias string, depth int) string {
	if s.isEverybodys(t) {
		return s.somebody()
	}
	var ways []string
	if c := s.columns[t]; c != "" {
		ways = append(ways, s.isAccount(alias, c))
	}
	for _, m := range s.shared[t] {
		mine := fmt.Sprintf("m%d", depth)
		held := s.isAccount(mine, m.account) + s.countsSQL(m, mine)
		if t != s.accounts {
			ways = append(ways, s.among(tuple(alias, m.shared.Targets), m.table, mine, m.shared.Columns, held))

			continue
		}
		others := fmt.Sprintf("o%d", depth)
		beside := s.among(tuple(others, m.shared.Columns), m.table, mine, m.shared.Columns, held) + s.countsSQL(m, others)
		ways = append(ways, s.among(tuple(alias, []string{s.account.Name}), m.table, others, []string{m.account}, beside))
	}

	return "(" + strings.Join(ways, " OR ") + ")"
}

// among is the condition that a value is that of columns of a table's row for which another condition holds.
func (s *source) among(value string, t *catalogTable, alias string, columns []string, condition string) string {
	return fmt.Sprintf("%s IN (SELECT %s FROM %s AS %s WHERE %s)", value, listed(columns, alias+".%s", ", "), t.sql(), alias, condition)
}

// countsSQL adds to a condition that a membership counts.
func (s *source) countsSQL(m membership, alias string) (more string) {
	if present := s.presentSQL(m.table, alias); present != "" {
		more = " AND " + present
	}
	if m.where != "" {
		more += " AND (" + m.where + ")"
	}

	return more
}

func (s *source) isAccount(alias, column string) string {
	return fmt.Sprintf("%s.%s = (SELECT %s())", alias, quote(column), s.function("account"))
}

// shares reports whether a table is one of memberships.
func (s *source) shares(t *catalogTable) bool {
	for _, ways := range s.shared {
		if slices.ContainsFunc(ways, func(m membership) bool { return m.table == t }) {
			return true
		}
	}

	return false
}

// createsNobodys reports whether a row of the table that is created would be nobody's: no membership names it, unless a trigger adds one.
func (s *source) createsNobodys(t *catalogTable) bool {
	return s.shared[t] != nil && s.columns[t] == "" && !t.Triggers && !s.isEverybodys(t)
}

// isEverybodys reports whether all users have the rows of a table, each by itself.
func (s *source) isEverybodys(t *catalogTable) bool {
	return s.entities[t.Name] != nil && s.entities[t.Name].Everybody
}

// somebody is the SQL condition that Alfred works for a user, who has an account if there are accounts.
func (s *source) somebody() string {
	if s.account == nil {
		return "nullif(current_setting('alfred.user_id', true), '') IS NOT NULL"
	}

	return fmt.Sprintf("(SELECT %s()) IS NOT NULL", s.function("account"))
}

// everybodyHas reports whether all users have the rows of a table, by themselves or with the rows that they belong to.
func (s *source) everybodyHas(table string) bool {
	if s == nil {
		return false
	}
	way := s.wayUp(s.cat.table(table))

	return s.isEverybodys(way[len(way)-1])
}

// checkEverybody refuses what contradicts that all users have a type's rows.
func (v *viewedType) checkEverybody() {
	if e := v.Decl; e.Everybody && (e.Reference || len(e.Members)+len(e.OwnedBy) > 0) {
		v.refusef(e.Table, "everybody", "everybody: not beside reference, members or owned_by, which give its rows to others")
	}
}

// isShared reports whether memberships may give a row of a table to several accounts, by itself or with the row that it belongs to.
func (s *source) isShared(table string) bool {
	if s == nil {
		return false
	}
	way := s.wayUp(s.cat.table(table))

	return s.shared[way[len(way)-1]] != nil
}
