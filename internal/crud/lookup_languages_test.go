package crud_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// Names are found as people type them: without the accents that their keyboard lacks, in another case, of another width, and within a
// text that has no spaces between its words.
func TestNamesAreFoundAsTheyAreTyped(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	stored := []string{"Piña", "İzmir tulumu", "ISPANAK", "ığdır kayısısı", "Smørrebrød", "Пётр", "青いりんご", "ガラス", "한글", "Thé vert", "pate", "พริกไทยดำ"}
	b.exec(`INSERT INTO kitchen.recipes (user_id, name) SELECT $1, unnest($2::text[])`, b.scope.UserID, stored)
	b.exec(`INSERT INTO kitchen.inventory (user_id, name) SELECT $1, unnest($2::text[])`, b.scope.UserID, stored)
	for said, name := range map[string]string{
		"pina": "Piña", "PIÑA": "Piña", "pin\u0303a": "Piña", "izmir tulumu": "İzmir tulumu", "IZMIR TULUMU": "İzmir tulumu", "İzmir Tulumu": "İzmir tulumu",
		"ıspanak": "ISPANAK", "ispanak": "ISPANAK", "IĞDIR": "ığdır kayısısı", "igdir": "ığdır kayısısı", "smorrebrod": "Smørrebrød", "петр": "Пётр",
		"りんご": "青いりんご", "ｶﾞﾗｽ": "ガラス", "한글": "한글", "the vert": "Thé vert", "vert thé": "Thé vert", "pâté": "pate", "พริกไทย": "พริกไทยดำ",
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
