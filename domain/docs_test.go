package domain_test

import (
	"os"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"alfred/domain"
	"alfred/internal/dbtest"
)

// The example of docs/domain.md is one: its tables and its declaration fit.
func TestDocsExample(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../docs/domain.md")
	require.NoError(t, err)

	sql := regexp.MustCompile("(?s)```sql\n(.*?)```").FindSubmatch(page)
	yaml := regexp.MustCompile("(?s)```yaml\n(name: .*?)```").FindSubmatch(page)
	require.NotNil(t, sql)
	require.NotNil(t, yaml)

	tx := dbtest.Tx(t)
	exec(t, tx, string(sql[1]))

	decl, err := domain.Load(fstest.MapFS{"garden.yaml": {Data: yaml[1]}, "persona.md": {Data: []byte("You know gardens.")}}, "garden.yaml")
	require.NoError(t, err)

	d, err := domain.Bind(t.Context(), tx, decl)
	require.NoError(t, err)
	require.Equal(t, "You know gardens.", d.Persona)
	require.Len(t, d.ByType("bed").Children, 1)
	require.Equal(t, "Leek @Mar 3", d.ByType("planting").Display.Render(map[string]any{"plant": "Leek", "planted_on": "2026-03-03"}))
}
