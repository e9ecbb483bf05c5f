package reference_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every test that docs/security.md names exists.
func TestSecurityPageNamesTests(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	require.NoError(t, err)
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range declared.FindAllSubmatch(text, -1) {
			tests[string(found[1])] = true
		}

		return err
	}))
	named := regexp.MustCompile("`(Test\\w+)`").FindAllSubmatch(page, -1)
	require.Greater(t, len(named), 30)
	for _, name := range named {
		require.True(t, tests[string(name[1])], "docs/security.md names %s", name[1])
	}
}
