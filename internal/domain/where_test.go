package domain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// A CMS keeps a draft and a published row of each page. A view shows the rows that its owner means, with what belongs to these, and
// nothing is written that it would not show.
func TestWhereLeavesRowsOut(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA cms;
		CREATE TABLE cms.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE cms.tags (id serial PRIMARY KEY, name text NOT NULL, locale text);
		CREATE TABLE cms.pages (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES cms.users, tag_id integer REFERENCES cms.tags, title text NOT NULL, published_at timestamptz);
		CREATE TABLE cms.links (id serial PRIMARY KEY, page_id integer NOT NULL REFERENCES cms.pages ON DELETE CASCADE, url text NOT NULL);
		CREATE TABLE cms.notes (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES cms.users, page_id integer REFERENCES cms.pages ON DELETE CASCADE, text text NOT NULL);
		INSERT INTO cms.users (name) VALUES ('Ada'), ('Eve'); INSERT INTO cms.tags (name, locale) VALUES ('News', 'en'), ('Nytt', 'nb'), ('None', NULL);
		INSERT INTO cms.pages (user_id, title, published_at) VALUES (1, 'Draft', NULL), (1, 'Published', now()), (2, 'Other', NULL);
		INSERT INTO cms.links (page_id, url) VALUES (1, 'a'), (2, 'b'); INSERT INTO cms.notes (user_id, page_id, text) VALUES (1, 1, 'of a draft'), (1, 2, 'of a page'), (1, NULL, 'of none')`)
	d := attached(t, tx, "cms",
		"\n  - type: tag\n", "\n  - type: tag\n    where: locale = 'en'\n",
		"\n  - type: page\n", "\n  - type: page\n    where: published_at IS NULL\n    writes: [create, update, delete]\n    columns: [title, tag_id, published_at]\n",
		"\n  - type: link\n", "\n  - type: link\n    writes: [create, update]\n    columns: [page_id, url]\n")
	require.Equal(t, "News", as(t, tx, adaID, `SELECT string_agg(name, ' ') FROM cms_alfred.tags`), "where nothing is known, it is not true")
	require.Equal(t, "Draft", as(t, tx, adaID, `SELECT string_agg(title, ' ') FROM cms_alfred.pages`))
	require.Equal(t, "a", as(t, tx, adaID, `SELECT string_agg(url, ' ') FROM cms_alfred.links`))
	require.Equal(t, "of a draft, of none", as(t, tx, adaID, `SELECT string_agg(text, ', ' ORDER BY id) FROM cms_alfred.notes`))
	require.Equal(t, "New", as(t, tx, adaID, `INSERT INTO cms_alfred.pages (title) VALUES ('New') RETURNING title`))
	require.Contains(t, as(t, tx, adaID, `UPDATE cms_alfred.pages SET published_at = now() RETURNING title`), "be none of those that are here")
	require.Contains(t, as(t, tx, adaID, `INSERT INTO cms_alfred.links (page_id, url) VALUES (2, 'c') RETURNING url`), "There is no such row of pages.")
	proof, err := domain.Probe(t.Context(), tx, d.Decl)
	require.NoError(t, err)
	require.Empty(t, proof.Broken)

	require.ErrorContains(t, refusedViews(t, tx, strings.Replace(d.Text, "\n  - type: page\n", "\n  - type: page\n    where: publishd_at IS NULL\n", 1)), `page: where: ERROR: column "publishd_at" does not exist`)
}
