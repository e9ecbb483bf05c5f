package testfactory

import (
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

var kitchen struct {
	sync.Mutex
	bound *domain.Domain
}

// Kitchen returns the domain that comes with the program. It is bound once for all tests of a package, whose databases
// are copies of one, and none of them may change it: see [OwnKitchen].
func Kitchen(t testing.TB) *domain.Domain {
	t.Helper()
	kitchen.Lock()
	defer kitchen.Unlock()
	if kitchen.bound == nil {
		kitchen.bound = OwnKitchen(t)
	}

	return kitchen.bound
}

// OwnKitchen is [Kitchen] for a test that changes it.
func OwnKitchen(t testing.TB) *domain.Domain {
	t.Helper()
	files, file := domain.Find("kitchen")
	bound, err := domain.Open(t.Context(), dbtest.Tx(t), files, file)
	require.NoError(t, err)

	return bound
}

// Forum is a schema in which one account's rows belong to another's: Ada (1) made the channels, and Eve (2) writes there too.
const Forum = `CREATE SCHEMA forum;
CREATE TABLE forum.users (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE forum.channels (id serial PRIMARY KEY, created_by integer NOT NULL REFERENCES forum.users, name text NOT NULL);
CREATE TABLE forum.messages (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES forum.users, channel_id integer NOT NULL REFERENCES forum.channels ON DELETE CASCADE, title text NOT NULL);
INSERT INTO forum.users (name) VALUES ('Ada'), ('Eve');
INSERT INTO forum.channels (created_by, name) VALUES (1, 'general'), (1, 'diary');
INSERT INTO forum.messages (user_id, channel_id, title) VALUES (1, 1, 'hello'), (2, 1, 'hi'), (1, 2, 'today');
`

// Viewed is what init writes of a schema, as reviewed, with its views.
type Viewed struct {
	*domain.Domain

	Text  string // as init wrote it
	Decl  *domain.Declaration
	SQL   string
	Notes []string
}

// Views declares a schema, or several with commas between, as init does, attaches its views and binds them. The reviews change the
// declaration's text.
func Views(t testing.TB, db domain.DB, schema string, reviews ...*strings.Replacer) *Viewed {
	t.Helper()

	return ViewsOf(t, db, domain.InitSource{Schemas: strings.Split(schema, ",")}, reviews...)
}

// ViewsOf is Views where init is told more than the schemas.
func ViewsOf(t testing.TB, db domain.DB, from domain.InitSource, reviews ...*strings.Replacer) *Viewed {
	t.Helper()
	text, err := domain.InitViews(t.Context(), db, from)
	require.NoError(t, err)
	v, reviewed := &Viewed{Text: text}, text
	for _, review := range reviews {
		reviewed = review.Replace(reviewed)
	}
	v.Decl, err = domain.Load(fstest.MapFS{"d.yaml": {Data: []byte(reviewed)}}, "d.yaml")
	require.NoError(t, err, reviewed)
	v.SQL, v.Notes, err = domain.Views(t.Context(), db, v.Decl)
	require.NoError(t, err)
	require.NoError(t, domain.Attach(t.Context(), db, v.Decl, v.SQL), v.SQL)
	v.Domain, err = domain.Bind(t.Context(), db, v.Decl)
	require.NoError(t, err, "%s\n%s", v.SQL, reviewed)

	return v
}
