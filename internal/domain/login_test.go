package domain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// Who is called in Alfred as an account is, by a column that tells accounts apart, is that account, with nobody mapping them. Whom
// the owner maps by hand is what they were mapped to, and nobody else is that account.
func TestLogin(t *testing.T) {
	t.Parallel()

	for login, called := range map[string]string{"id": "1", "email": "Ada@x", "handle": "0190a000-0000-7000-8000-0000000000f1", "code": "A1"} {
		t.Run(login, func(t *testing.T) {
			t.Parallel()

			tx := dbtest.Tx(t)
			exec(t, tx, `CREATE SCHEMA mail; CREATE EXTENSION IF NOT EXISTS citext;
CREATE TABLE mail.users (id bigint PRIMARY KEY, email citext NOT NULL UNIQUE, handle uuid UNIQUE, code varchar(9) UNIQUE, deleted_at timestamptz);
CREATE TABLE mail.letters (id integer PRIMARY KEY, user_id bigint NOT NULL REFERENCES mail.users, subject text NOT NULL);
INSERT INTO mail.users VALUES (1, 'Ada@x', '0190a000-0000-7000-8000-0000000000f1', 'A1'), (2, 'eve@x', NULL, NULL);
INSERT INTO mail.letters VALUES (1, 1, 'Hello'), (2, 2, 'Hers');`)
			for id, name := range map[string]string{adaID: called, eveID: "0" + called} {
				exec(t, tx, `INSERT INTO alfred.users (id, name) VALUES ('`+id+`', '`+name+`')`)
			}
			decl := bound(t, tx, "mail", `accounts: "users"`, `accounts: "users", login: `+login).Decl
			const subjects = `SELECT string_agg(subject, ' ') FROM mail_alfred.letters`
			require.Equal(t, "Hello", as(t, tx, adaID, subjects))
			require.Empty(t, as(t, tx, eveID, subjects), "who is called nearly so")
			proof, err := domain.Probe(t.Context(), tx, decl)
			require.NoError(t, err)
			require.Empty(t, proof.Broken)

			exec(t, tx, `INSERT INTO mail_alfred.alfred_accounts VALUES ('`+eveID+`', 1)`)
			require.Equal(t, "Hello", as(t, tx, eveID, subjects))
			require.Empty(t, as(t, tx, adaID, subjects), "the account is another's")
			exec(t, tx, `UPDATE mail_alfred.alfred_accounts SET account = 2`)
			require.Equal(t, "Hers", as(t, tx, eveID, subjects))
			exec(t, tx, `UPDATE mail.users SET deleted_at = now()`)
			require.Empty(t, as(t, tx, adaID, subjects), "the account is gone")
			require.NoError(t, domain.Drop(t.Context(), tx, decl))
		})
	}
}

// Views that need more than Alfred's schema has yet say what to run.
func TestViewsBeforeMigration(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA quill; CREATE TABLE quill.users (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE quill.pens (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES quill.users, name text NOT NULL)`)
	v := bound(t, tx, "quill")
	exec(t, tx, `DROP FUNCTION alfred.tenant_name()`)
	require.ErrorContains(t, domain.Attach(t.Context(), tx, v.Decl, v.SQL), "run worker migrate up first")
}

// By a name that two accounts may have, somebody would be another one.
func TestLoginThatSaysNotWho(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA post; CREATE TABLE post.users (id integer PRIMARY KEY, email text NOT NULL, born date UNIQUE);
CREATE TABLE post.letters (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES post.users, subject text NOT NULL);`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"post"}})
	require.NoError(t, err)
	for login, said := range map[string]string{
		`accounts: "users", login: email`: "login: users.email has to be a unique column", `accounts: "users", login: born`: "login: users.born has to be",
		`accounts: "users", login: name`: "login: users.name has to be", `login: id`: "login: name accounts",
	} {
		require.ErrorContains(t, refusedViews(t, tx, strings.Replace(text, `accounts: "users"`, login, 1)), said)
	}
}
