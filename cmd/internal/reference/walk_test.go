package reference_test

import (
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The most that there is to read to follow a turn.
const (
	mostFiles = 12
	mostLines = 3_000
)

// walked are the packages whose functions the walk follows. What lies below registry, crud, recall, llm and db is not
// followed, nor how the past is read and how a prompt is worded: each of those is one call on the way.
var walked = []string{"alfred/internal/httpapi", "alfred/jobs", "alfred/nodes"}

// starts are where a turn begins, and where River brings its decisions to a worker.
var starts = []string{"(*alfred/internal/httpapi.api).turnEnqueue", "(*alfred/jobs.Runner).workTurn"}

// ends are what a turn is made of. A function is on the way if it is reached from a start and reaches one of these: what a
// function on the way asks of others, and gets back, is said by their names.
var ends = []string{
	"alfred/jobs.EnqueueTurn",              // the message becomes a turn
	"(*alfred/internal/view.Loader).Open",  // what a decision knows of the past
	"(alfred/jobs.Prompts).Think",          // what its model is shown of it
	"(alfred/internal/llm.Model).Generate", // what the model answers
	"alfred/jobs.afterThink",               // what follows from that
	"alfred/internal/pg.CommitWith",        // and all of it is written
}

// stands says which of a method's implementations the walk takes: the node that is read as an example, and the model that
// every node is given.
var stands = map[string]string{
	"(alfred/jobs.decision).":              "(*alfred/jobs.think).",
	"(alfred/internal/llm.Model).Generate": "(*alfred/jobs.recorder).Generate",
}

// aside are functions that write for themselves, beside the decision.
var aside = map[string]string{
	"(*alfred/jobs.Runner).publish": "what those who wait are told while a model is slow, or while it words the reply",
}

// source is the walked packages: in which file a function stands, and which functions it mentions. A mention counts as a
// call, so that functions that are passed on are followed too.
type source struct {
	file     map[string]string
	mentions map[string][]string
}

// readSource checks the walked packages' types, against what the compiler has written of the others.
func readSource(t *testing.T) *source {
	t.Helper()

	const listed = "{{.ImportPath}}\t{{.Export}}\t{{.Dir}}\t{{join .GoFiles \"\\t\"}}"
	command := exec.CommandContext(t.Context(), "go", append([]string{"list", "-export", "-deps", "-f", listed}, walked...)...)
	command.Dir = root
	out, err := command.Output()
	require.NoError(t, err)
	packages := map[string][]string{} // what the compiler wrote, the folder, the files
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		packages[fields[0]] = fields[1:]
	}
	files := token.NewFileSet()
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(packages[path][0]) }
	config := types.Config{Importer: importer.ForCompiler(files, "gc", lookup)}
	s := &source{file: map[string]string{}, mentions: map[string][]string{}}
	for _, path := range walked {
		var syntax []*ast.File
		for _, name := range packages[path][2:] {
			file, err := parser.ParseFile(files, filepath.Join(packages[path][1], name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			syntax = append(syntax, file)
		}
		info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
		_, err := config.Check(path, files, syntax, info)
		require.NoError(t, err)
		for _, file := range syntax {
			s.read(strings.TrimPrefix(path, "alfred/")+"/"+filepath.Base(files.Position(file.Pos()).Filename), file, info)
		}
	}

	return s
}

func (s *source) read(name string, file *ast.File, info *types.Info) {
	for _, declared := range file.Decls {
		f, ok := declared.(*ast.FuncDecl)
		if !ok {
			continue
		}
		from := fullName(info.Defs[f.Name])
		s.file[from] = name
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if to := fullName(info.Uses[id]); to != "" {
					s.mentions[from] = append(s.mentions[from], to, standIn(to))
				}
			}

			return true
		})
	}
}

// fullName is a function's name with its package and receiver; "" for what is none.
func fullName(object types.Object) string {
	if f, ok := object.(*types.Func); ok {
		return f.Origin().FullName()
	}

	return ""
}

func standIn(name string) string {
	for method, taken := range stands {
		if rest, ok := strings.CutPrefix(name, method); ok {
			return taken + rest
		}
	}

	return name
}

// reached is everything that can be reached from names.
func reached(from []string, next map[string][]string) map[string]bool {
	seen := map[string]bool{}
	for todo := slices.Clone(from); len(todo) > 0; {
		name := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[name] && aside[name] == "" {
			seen[name] = true
			todo = append(todo, next[name]...)
		}
	}

	return seen
}

// way is the functions that a turn passes through, by file.
func (s *source) way() map[string][]string {
	back := map[string][]string{}
	for from, all := range s.mentions {
		for _, to := range all {
			back[to] = append(back[to], from)
		}
	}
	forth, on := reached(starts, s.mentions), reached(ends, back)
	files := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(forth)) {
		if on[name] && s.file[name] != "" {
			files[s.file[name]] = append(files[s.file[name]], name)
		}
	}

	return files
}

// Whoever follows a turn by AGENTS.md reads every file that it passes through, no other, and not too much.
func TestFilesOfATurn(t *testing.T) {
	t.Parallel()

	s := readSource(t)
	require.Contains(t, s.mentions["(*alfred/internal/httpapi.api).registerConversations"], starts[0], "the route of POST /v1/sessions/{id}/turns")
	mentioned := map[string]bool{}
	for _, all := range s.mentions {
		for _, name := range all {
			mentioned[name] = true
		}
	}
	for _, name := range slices.Concat(starts[1:], ends, slices.Collect(maps.Keys(aside))) {
		require.True(t, mentioned[name] || s.file[name] != "", "there is no %s", name)
	}
	way := s.way()
	lines := 0
	for _, file := range slices.Sorted(maps.Keys(way)) {
		text, err := os.ReadFile(root + file)
		require.NoError(t, err)
		lines += bytes.Count(text, []byte("\n"))
		t.Logf("%s: %s", file, strings.Join(way[file], ", "))
	}
	text, err := os.ReadFile(root + "AGENTS.md")
	require.NoError(t, err)
	_, list, found := strings.Cut(string(text), "To follow a turn, read ")
	require.True(t, found)
	list, _, _ = strings.Cut(list, "\n\n")
	var named []string
	for _, match := range inBackticks.FindAllStringSubmatch(list, -1) {
		if strings.HasSuffix(match[1], ".go") {
			named = append(named, match[1])
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(way)), named, "AGENTS.md says what to read to follow a turn")
	t.Logf("%d files, %d lines", len(way), lines)
	require.LessOrEqual(t, len(way), mostFiles)
	require.LessOrEqual(t, lines, mostLines)
}
