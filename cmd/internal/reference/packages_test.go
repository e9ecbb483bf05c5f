package reference_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every package says in its doc.go what it owns, and no file is too long.
func TestPackagesExplainThemselves(t *testing.T) {
	t.Parallel()

	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		if err != nil {
			return err
		}
		if path != root && entry.IsDir() && (strings.HasPrefix(name, ".") || slices.Contains([]string{"examples", "peers", "testdata", "tools"}, name)) {
			return fs.SkipDir // an example or benchmark peer is one file that contains its own comment
		}
		if !entry.IsDir() {
			requireShort(t, path)

			return nil
		}
		files, err := filepath.Glob(filepath.Join(path, "*.go"))
		if err != nil || len(files) == 0 {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(path, "doc.go"), nil, parser.ParseComments|parser.PackageClauseOnly)
		require.NoError(t, err, "%s has no doc.go", path)
		require.NotNil(t, file.Doc, "%s: doc.go says nothing", path)
		require.Greater(t, len(strings.Fields(file.Doc.Text())), 15, "%s: doc.go says too little", path)

		return nil
	})
	require.NoError(t, err)
}

func requireShort(t *testing.T, path string) {
	t.Helper()

	if filepath.Ext(path) != ".go" || strings.HasPrefix(path, root+"db/") || strings.HasSuffix(path, ".gen.go") {
		return
	}
	limit := 400
	if strings.HasSuffix(path, "_test.go") {
		limit = 800
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(text), "\n"), limit, "%s: split it by subject", path)
}
