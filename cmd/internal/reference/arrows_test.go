package reference_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	arrowsBegin = "        # begin arrows: written by make generate from docs/architecture.md\n"
	arrowsEnd   = "        # end arrows\n"
)

// room is a package in the table of docs/architecture.md, which of our packages it may import, and which of others' it
// may not.
type room struct {
	name    string
	on, not []string
}

var (
	inBackticks = regexp.MustCompile("`([^`]+)`")
	forbidden   = map[string]string{"no context": "context", "no pgx": "github.com/jackc/pgx", "no River": "github.com/riverqueue"}
)

// The linter enforces the documented package structure.
func TestArrowsAreDocumented(t *testing.T) {
	t.Parallel()

	table := rooms(t)
	for i, one := range table {
		for _, below := range one.on {
			require.True(t, slices.ContainsFunc(table[:i], func(r room) bool { return r.name == below }), "%s stands on %s, which is not above it in the table", one.name, below)
		}
	}
	requireEveryPackage(t, table)
	before, rest, found := strings.Cut(read(t, ".golangci.yaml"), arrowsBegin)
	require.True(t, found, "the rules' marks are gone")
	_, after, found := strings.Cut(rest, arrowsEnd)
	require.True(t, found, "the rules' marks are gone")
	var rules strings.Builder
	for _, one := range table {
		rules.WriteString(one.rule(table))
	}
	same(t, ".golangci.yaml", before+arrowsBegin+rules.String()+arrowsEnd+after)
}

func rooms(t *testing.T) []room {
	t.Helper()

	_, table, found := strings.Cut(read(t, "docs/architecture.md"), "| package | owns | must not know | stands on |\n|---|---|---|---|\n")
	require.True(t, found, "the table of packages is gone")
	var list []room
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "| \n"), " |")
		if !strings.HasPrefix(line, "|") {
			break
		}
		one := room{name: strings.Trim(cells[0], "` ")}
		for _, name := range inBackticks.FindAllStringSubmatch(strings.Join(cells[3:], ""), -1) {
			one.on = append(one.on, name[1])
		}
		for phrase, pkg := range forbidden {
			if strings.Contains(strings.Join(cells[3:], ""), phrase) {
				one.not = append(one.not, pkg)
			}
		}
		slices.Sort(one.not)
		list = append(list, one)
	}

	return list
}

// rule lets a package import what it stands on, and nothing else of ours. No name may be a prefix of another in the
// same list: the linter only considers the last one that sorts before an import.
func (r room) rule(all []room) string {
	var b strings.Builder
	files := []string{"**/" + r.name + "/**", "!$test"}
	for _, other := range all {
		if strings.HasPrefix(other.name, r.name+"/") {
			files = append(files, "!**/"+other.name+"/**")
		}
	}
	if !strings.HasPrefix(r.name, "internal/") {
		files = append(files, "!**/internal/**")
	}
	fmt.Fprintf(&b, "        %s:\n          list-mode: lax\n          files: [%q]\n", strings.ReplaceAll(r.name, "/", "_"), strings.Join(files, `", "`))
	b.WriteString("          allow:\n")
	for _, name := range append(slices.Clone(r.on), r.name) {
		fmt.Fprintf(&b, "            - alfred/%s\n", name)
	}
	b.WriteString("          deny:\n")
	for _, name := range append([]string{"alfred"}, r.not...) {
		fmt.Fprintf(&b, "            - {pkg: %s, desc: docs/architecture.md says what %s stands on}\n", name, r.name)
	}

	return strings.ReplaceAll(b.String(), `\"`, `"`)
}

// requireEveryPackage checks that the table lists every package of the programs.
func requireEveryPackage(t *testing.T, table []room) {
	t.Helper()

	apart := []string{"cmd", "examples", "tools", "internal/bench", "internal/chaos", "internal/dbtest", "internal/demo", "internal/e2e", "internal/testfactory", "internal/tour"}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), root)
		if entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || slices.Contains(apart, name)) {
			return fs.SkipDir
		}
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || !strings.Contains(name, "/") {
			return err
		}
		require.True(t, slices.ContainsFunc(table, func(r room) bool { return strings.HasPrefix(name, r.name+"/") }), "docs/architecture.md has no row for the package of %s", name)

		return err
	}))
}
