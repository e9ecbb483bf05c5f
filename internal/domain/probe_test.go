package domain_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// W04: user isolation is tested by experiment: it finds a policy that allows everything, and a foreign key that reaches
// others' rows.
func TestW04Probe(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	own := strings.NewReplacer("library", "probed")
	exec(t, tx, own.Replace(library))
	exec(t, tx, own.Replace(`INSERT INTO alfred.users (id, name) VALUES ('`+adaID+`', 'probe ada'), ('`+eveID+`', 'probe eve');
INSERT INTO library.members (alfred_user) VALUES ('`+adaID+`'), ('`+eveID+`');
INSERT INTO library.shelves (member_id, name) SELECT id, 'shelf' FROM library.members`))
	decl, err := domain.Load(fstest.MapFS{"d.yaml": {Data: []byte(own.Replace(libraryYAML))}}, "d.yaml")
	require.NoError(t, err)

	proof, err := domain.Probe(t.Context(), tx, decl)
	require.NoError(t, err)
	require.Empty(t, proof.Broken)
	require.Equal(t, []string{"loan: fewer than two users have rows, so that they could not be compared"}, proof.Untried)

	again, err := domain.Probe(t.Context(), tx, decl)
	require.NoError(t, err)
	require.Equal(t, proof.Hash, again.Hash)

	exec(t, tx, own.Replace(`DROP POLICY tenant ON library.shelves; CREATE POLICY tenant ON library.shelves TO alfred_tenant USING (true)`))
	_, err = domain.Bind(t.Context(), tx, decl)
	require.NoError(t, err, "to read it, all is well")
	proof, err = domain.Probe(t.Context(), tx, decl)
	require.NoError(t, err)
	require.Equal(t, []string{"shelf: a user who owns nothing sees 2 rows"}, proof.Broken)
	require.NotEqual(t, again.Hash, proof.Hash, "what was proven is no longer")
}

// Through views: rows of two accounts are compared, and a row cannot be made to reference another's.
func TestW04ProbeViews(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, strings.ReplaceAll(harbour, "harbour", "marina"))
	decl := bound(t, tx, "marina", harbourReview...).Decl

	proof, err := domain.Probe(t.Context(), tx, decl)
	require.NoError(t, err)
	require.Empty(t, proof.Broken)

	var mapped int
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT count(*) FROM marina_alfred.alfred_accounts`).Scan(&mapped))
	require.Zero(t, mapped, "the experiment leaves nothing")

	exec(t, tx, `CREATE OR REPLACE VIEW marina_alfred.places WITH (security_barrier = true) AS SELECT t.id, t.member_id, t.label, t.fee, t.xmin::text AS _version FROM marina.places AS t`)
	proof, err = domain.Probe(t.Context(), tx, decl)
	require.NoError(t, err)
	require.Equal(t, []string{"place: a user who owns nothing sees 2 rows"}, proof.Broken)
}

// What a declaration says of rows holds only by views that were made from it: after a change of one that changes them, they have to be
// attached again.
func TestProbeOfViewsMadeFromAnotherDeclaration(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA shed; CREATE TABLE shed.users (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE shed.tools (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES shed.users, name text NOT NULL, deleted_at timestamptz)`)
	v := bound(t, tx, "shed", `gone: "deleted_at"`, `hidden: [deleted_at]`)
	for to, broken := range map[string][]string{
		`label: "{name}!"`: nil, // of which views know nothing
		`label: "{name}"`:  {"the views were made from another declaration, from other tables or by another version: run worker domain attach"},
	} {
		text := strings.Replace(v.Text, `label: "{name}"`, to, 2)
		if broken == nil {
			text = strings.Replace(text, `gone: "deleted_at"`, `hidden: [deleted_at]`, 1)
		}
		decl, err := domain.Load(fstest.MapFS{"other.yaml": {Data: []byte(text)}}, "other.yaml")
		require.NoError(t, err)
		proof, err := domain.Probe(t.Context(), tx, decl)
		require.NoError(t, err)
		require.Equal(t, broken, proof.Broken)
	}
}

// After an upgrade, check says that the views of the last version still stand, and whether they can be made anew.
func TestViewsMadeByAnotherVersion(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, strings.ReplaceAll(harbour, "harbour", "pontoon"))
	v := bound(t, tx, "pontoon", harbourReview...)
	outdated := func() string {
		found, err := domain.Outdated(t.Context(), tx, v.Decl)
		require.NoError(t, err)

		return found
	}
	require.Empty(t, outdated())
	exec(t, tx, `COMMENT ON SCHEMA pontoon_alfred IS 'Views of pontoon, as written by the last version.'`)
	require.Equal(t, "the views were made from another declaration, from other tables or by another version: run worker domain attach", outdated())
	require.NoError(t, domain.Attach(t.Context(), tx, v.Decl, v.SQL))
	require.Empty(t, outdated())
	exec(t, tx, `ALTER TABLE pontoon.places RENAME TO piers`)
	require.Contains(t, outdated(), "run worker domain attach, which would fail: write views: d.yaml:")
	require.Contains(t, outdated(), ": place: table pontoon.places does not exist")
}

// A row may name people beside its owner; without a list of them that all may see, it names nobody else.
func TestW04ProbeOfPeopleNamedInRows(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA chores; CREATE TABLE chores.users (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE chores.tasks (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES chores.users, helper_id integer REFERENCES chores.users, title text NOT NULL);
INSERT INTO chores.users VALUES (1, 'Ada'), (2, 'Eve'); INSERT INTO chores.tasks VALUES (1, 1, 2, 'Dishes'), (2, 2, 2, 'Floor')`)
	const readOnly = "order: [\"title\"]\n    # read only; to allow more: writes: [update, delete] and columns: [helper_id, title]"
	for _, sharing := range []string{"type: user\n", "type: user\n    reference: true\n"} {
		decl := bound(t, tx, "chores", readOnly, "order: [\"title\"]\n    writes: [update]\n    columns: [helper_id, title]", "type: user\n", sharing).Decl
		proof, err := domain.Probe(t.Context(), tx, decl)
		require.NoError(t, err)
		require.Empty(t, proof.Broken)
		exec(t, tx, `INSERT INTO chores_alfred.alfred_accounts VALUES ('`+adaID+`', 1)`)
		require.Equal(t, "Cups", as(t, tx, adaID, `UPDATE chores_alfred.tasks SET title = 'Cups' RETURNING title`), "whom a row names already is no obstacle")
		require.NoError(t, domain.Drop(t.Context(), tx, decl))
	}
}
