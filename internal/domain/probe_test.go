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
