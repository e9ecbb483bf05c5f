package crud_test

import (
	"context"
	"net/url"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/pg"
	"alfred/internal/scratch"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

// Names are found as people type them: without the accents that their keyboard lacks, in another case, of another width, and within a
// text that has no spaces between its words.
func TestNamesAreFoundAsTheyAreTyped(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	stored := []string{"Piña", "İzmir tulumu", "ISPANAK", "ığdır kayısısı", "Smørrebrød", "Пётр", "青いりんご", "ガラス", "한글", "Thé vert", "pate", "พริกไทยดำ", "Œufs", "Weißkohl", "ΜΕΛΙΤΖΑΝΕΣ"}
	b.exec(`INSERT INTO kitchen.recipes (user_id, name) SELECT $1, unnest($2::text[])`, b.scope.UserID, stored)
	b.exec(`INSERT INTO kitchen.inventory (user_id, name) SELECT $1, unnest($2::text[])`, b.scope.UserID, stored)
	for said, name := range map[string]string{
		"pina": "Piña", "PIÑA": "Piña", "pin\u0303a": "Piña", "izmir tulumu": "İzmir tulumu", "IZMIR TULUMU": "İzmir tulumu", "İzmir Tulumu": "İzmir tulumu",
		"ıspanak": "ISPANAK", "ispanak": "ISPANAK", "IĞDIR": "ığdır kayısısı", "igdir": "ığdır kayısısı", "smorrebrod": "Smørrebrød", "петр": "Пётр",
		"りんご": "青いりんご", "ｶﾞﾗｽ": "ガラス", "한글": "한글", "the vert": "Thé vert", "vert thé": "Thé vert", "pâté": "pate", "พริกไทย": "พริกไทยดำ",
		"oeufs": "Œufs", "weisskohl": "Weißkohl", "WEISSKOHL": "Weißkohl", "WEIẞKOHL": "Weißkohl", "μελιτζανες": "ΜΕΛΙΤΖΑΝΕΣ",
	} {
		for _, op := range []string{"=", "similar"} {
			for _, table := range []string{"recipes", "inventory"} {
				if table == "inventory" && said == "vert thé" {
					continue // what things are called has one order
				}
				found := b.rows(b.ok("read", vocab.ToolRead, sprintf(`{"table": %q, "filters": [{"field": "name", "op": %q, "value": %q}]}`, table, op, said)))
				require.Contains(t, column[string](found, "name"), name, "%s %s %s", table, op, said)
			}
		}
		list, err := b.tools.List(t.Context(), b.tx, crud.User{ID: b.scope.UserID}, "recipe", crud.ListParams{Query: said})
		require.NoError(t, err)
		require.Len(t, list.Rows, 1, said)
	}
	for _, said := range []string{"카", "ピーマン", "かラス", "하"} { // parts of letters are no letters
		require.Zero(t, b.ok("read", vocab.ToolRead, sprintf(`{"table": "recipes", "filters": [{"field": "name", "op": "=", "value": %q}]}`, said)).RowCount, said)
	}
}

// What no canonical name is like may still be like the name of a row: canonical names are in one language, people's rows in another.
func TestASlipInAnUnknownNameSaysWhatIsSimilar(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.exec(`INSERT INTO kitchen.inventory (user_id, name) VALUES ($1, 'Gemüsebrühwürfel'), ($1, 'Weißkohl'), ($1, 'chickpeas')`, b.scope.UserID)
	read := func(op, name string) crud.Result {
		return b.ok("read", vocab.ToolRead, sprintf(`{"table": "inventory", "filters": [{"field": "name", "op": %q, "value": %q}]}`, op, name))
	}
	require.Equal(t, "Similar names: Gemüsebrühwürfel", read("=", "bruehwürfel").Notice)
	require.Equal(t, 1, read("similar", "Brühwürfel").RowCount)
	require.Equal(t, 1, read("=", "weisskohl").RowCount)
	require.Empty(t, read("=", "xyzzy").Notice)
	require.Zero(t, read("similar", "chicken").RowCount, "a known name means itself")
}

// setupInLocale is setupAlone on a database of its own with another locale.
func setupInLocale(t *testing.T, locale string) *bundle {
	t.Helper()

	name := "alfred_test_locale_" + uuid.NewString()[:8]
	server, err := pg.Open(t.Context(), pg.Config{URL: dbtest.Server(t)})
	require.NoError(t, err)
	var icu bool
	require.NoError(t, server.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_collation WHERE collprovider = 'i')`).Scan(&icu))
	if locale != "" && !icu {
		server.Close()
		t.Skip("a server without ICU")
	}
	_, err = server.Exec(t.Context(), `CREATE DATABASE `+name+` ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0 `+locale)
	require.NoError(t, err)
	t.Cleanup(func() {
		defer server.Close()
		_, err := server.Exec(context.WithoutCancel(t.Context()), `DROP DATABASE `+name)
		require.NoError(t, err)
	})
	address, err := url.Parse(dbtest.Server(t))
	require.NoError(t, err)
	address.Path = name
	require.NoError(t, scratch.Migrate(t.Context(), address.String(), nil))
	pool, err := pg.Open(t.Context(), pg.Config{URL: address.String(), MaxConns: 2})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tx.Rollback(context.WithoutCancel(t.Context()))) })

	return setupIn(t, tx, testfactory.User(t, tx, "UTC"))
}

// What is spelled as it stands there is found in whatever locale: one knows no letters but ASCII, in another the small I is ı.
func TestNamesAreFoundInAnyLocale(t *testing.T) {
	t.Parallel()
	for locale, said := range map[string]map[string]string{
		"": {"Молоко": "Молоко", "Ørred": "Ørred", "orred": "Ørred", "creme": "Crème", "Æbler": "Æbler", "izmir": "İzmir", "Ice": "Ice", "Чай brule": "Чай Brûlé"},
		"LOCALE_PROVIDER icu ICU_LOCALE 'tr'": {
			"молоко": "Молоко", "orred": "Ørred", "CREME": "Crème", "aebler": "Æbler", "izmir": "İzmir", "İZMİR": "İzmir", "IZMIR": "İzmir", "ice": "Ice", "Ice": "Ice", "ICE": "Ice",
		},
	} {
		t.Run(locale, func(t *testing.T) {
			t.Parallel()
			b := setupInLocale(t, locale)
			b.exec(`INSERT INTO kitchen.recipes (user_id, name) SELECT $1, unnest($2::text[])`, b.scope.UserID, []string{"Молоко", "Ørred", "Crème", "Æbler", "İzmir", "Ice", "Чай Brûlé"})
			for name, want := range said {
				for _, op := range []string{"=", "contains"} {
					found := b.rows(b.ok("read", vocab.ToolRead, sprintf(`{"table": "recipes", "filters": [{"field": "name", "op": %q, "value": %q}]}`, op, name)))
					require.Equal(t, []string{want}, column[string](found, "name"), "%s %s", op, name)
				}
			}
		})
	}
}

// A list of what a name finds begins with the rows that begin with it, accents or not.
func TestWhatBeginsWithANameComesFirst(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.exec(`INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, 'A la crème'), ($1, 'Crème brûlée')`, b.scope.UserID)
	for _, said := range []string{"crème", "creme", "CRÈME"} {
		list, err := b.tools.List(t.Context(), b.tx, crud.User{ID: b.scope.UserID}, "recipe", crud.ListParams{Query: said})
		require.NoError(t, err)
		require.Equal(t, []any{"Crème brûlée", "A la crème"}, []any{list.Rows[0].Data["name"], list.Rows[1].Data["name"]}, said)
	}
}

// An accent alone is no name, and finds no more than a blank.
func TestAnAccentAloneIsNoName(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.exec(`INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, 'Piña'), ($1, 'Soup')`, b.scope.UserID)
	for _, said := range []string{"´", "\u0301", " "} {
		for _, op := range []string{"=", "similar"} {
			require.Zero(t, b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "name", "op": "`+op+`", "value": "`+said+`"}]}`).RowCount, said)
		}
	}
}

// Of rows whose names differ only in accents, a write changes the one that is spelled as it was said.
func TestWhatIsSpelledExactlyIsMeant(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.exec(`INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, 'Müller'), ($1, 'Muller'), ($1, 'Jalapeño dip'), ($1, '青いりんご'), ($1, 'りんご')`, b.scope.UserID)
	for _, said := range []string{"muller", "jalapeno dip", "りんご"} {
		require.Equal(t, 1, b.ok("write", vocab.ToolDelete, sprintf(`{"table": "recipes", "filters": [{"field": "name", "op": "=", "value": %q}]}`, said)).RowCount, said)
		b.scope.Call++
	}
	left := column[string](b.rows(b.ok("read", vocab.ToolRead, `{"table": "recipes"}`)), "name")
	slices.Sort(left)
	require.Equal(t, []string{"Müller", "青いりんご"}, left)
}
