package domain

import "fmt"

// loginSQL finds the account that is called as a user of Alfred's is.
type loginSQL struct {
	Accounts, Key, IsCalled string
	Columns                 []string
}

// login is nil if only the table of accounts says who is who.
func (s *source) login() *loginSQL {
	c := s.loginColumn()
	if c == nil {
		return nil
	}
	// The second comparison is exact: to the first, 7 is also called 007.
	called := fmt.Sprintf("t.%[1]s = %[2]s AND t.%[1]s::text = alfred.tenant_name()", quote(c.Name), named(c, "alfred.tenant_name()"))
	if present := s.presentSQL(s.accounts, "t"); present != "" {
		called += " AND " + present
	}

	if s.accounts.Beyond {
		s.notePolicies(s.accounts)
	}

	return &loginSQL{s.accounts.sql(), "t." + quote(s.account.Name), called, appendNew([]string{s.account.Name}, c.Name)}
}

func (s *source) loginColumn() *Column {
	if s.decl.Source.Login == "" {
		return nil
	}

	return s.accounts.column(s.decl.Source.Login)
}

// checkLogin refuses a column by which a name could mean two accounts.
func (s *source) checkLogin() {
	name := s.decl.Source.Login
	if c := s.loginColumn(); name != "" && (c == nil || !keyKind(c) || !s.accounts.unique(name)) {
		s.problemf("$.source.login", "login: %s.%s has to be a unique column of texts, whole numbers or uuids", s.accounts.Name, name)
	}
}

// named is a name as a value of a column, null if it cannot be one.
func named(c *Column, name string) string {
	form := map[string]string{"smallint": `^[0-9]{1,4}$`, "integer": `^[0-9]{1,9}$`, "uuid": `^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`}[c.Type]
	switch {
	case c.Kind == KindText:
		return c.ofType(name)
	case form == "":
		form = `^[0-9]{1,18}$`
	}

	return fmt.Sprintf("CASE WHEN %s ~ '%s' THEN %s END", name, form, c.ofType(name))
}

// account is the account for which the declared views show rows, "" if they show all that they show to everybody.
func (d *Declaration) account() string {
	if d.Source.Accounts == "" {
		return ""
	}

	return quote(d.Schema, "account") + "()"
}
