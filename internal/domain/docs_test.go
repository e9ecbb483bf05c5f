package domain_test

import (
	"os"
	"reflect"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// The example in docs/domain.md is valid: its declaration fits its tables.
func TestDocsExample(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../../docs/domain.md")
	require.NoError(t, err)

	sql := regexp.MustCompile("(?s)```sql\n(.*?)```").FindSubmatch(page)
	yaml := regexp.MustCompile("(?s)```yaml\n(name: .*?)```").FindSubmatch(page)
	require.NotNil(t, sql)
	require.NotNil(t, yaml)

	tx := dbtest.Tx(t)
	exec(t, tx, string(sql[1]))

	decl, err := domain.Load(fstest.MapFS{"shop.yaml": {Data: yaml[1]}, "persona.md": {Data: []byte("You know the shop.")}}, "shop.yaml")
	require.NoError(t, err)

	d, err := domain.Bind(t.Context(), tx, decl)
	require.NoError(t, err)
	require.Equal(t, "You know the shop.", d.Persona)
	require.Len(t, d.ByType("order").Children, 1)
	require.True(t, d.ByType("order").Removable && d.ByType("order").Restorable, "what an assistant writes there can be undone")
	require.True(t, d.ByType("product").Column("keywords").Fold)
	require.Equal(t, "4 x Beans (product_1)", d.ByType("line").Display.Render(map[string]any{"pieces": 4, "product_id": "product_1", "_product_id_label": "Beans"}))

	text, err := domain.Init(t.Context(), tx, "shop")
	require.NoError(t, err)
	require.Contains(t, text, "# left out, accounts: it holds the tenants themselves")
	_, err = bindText(t, tx, text)
	require.NoError(t, err, text)
}

// Every field of a declaration is documented.
func TestDocsNameEveryField(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../../docs/domain.md")
	require.NoError(t, err)

	for _, decl := range []any{domain.Declaration{}, domain.EntityDecl{}, domain.Subdomain{}, domain.MatchDecl{}, domain.Merge{}, domain.ComputedDecl{}} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(decl)) {
			if name := field.Tag.Get("yaml"); name != "" {
				require.Regexp(t, `\b`+name+`\b`, string(page), "%T", decl)
			}
		}
	}
}
