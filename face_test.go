package alfred_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/api.txt, and into the comments of aliases what they stand for")

// Programs of others stand on what testdata/api.txt says: a line that goes or changes there breaks them. Neither go doc
// nor its pages show what an alias of an internal type stands for, so that its comment does.
func TestFaceIsDocumented(t *testing.T) {
	t.Parallel()

	face := parse(t, ".")
	names := face.aliases()
	var api strings.Builder
	for _, file := range face.files {
		page := file.text
		for _, spec := range file.aliasSpecs() {
			target := parse(t, strings.TrimPrefix(file.imports()[spec.Type.(*ast.SelectorExpr).X.(*ast.Ident).Name], "alfred/"))
			shown := target.show(spec, names)
			page = strings.Replace(page, comment(spec.Doc), comment(spec.Doc, shown), 1)
			api.WriteString(bare(shown))
		}
		same(t, file.name, page)
		api.WriteString(face.declarations(file))
	}
	same(t, "testdata/api.txt", api.String())
}

// same requires a file to hold a text, or writes it.
func same(t *testing.T, name, want string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o750))
		require.NoError(t, os.WriteFile(name, []byte(want), 0o600))
	}
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	have := strings.Split(string(text), "\n")
	for i, line := range strings.Split(want, "\n") {
		if i == len(have) || have[i] != line {
			t.Fatalf("%s:%d: there should be %q; if that is meant: go test . -run Documented -update", name, i+1, line)
		}
	}
	require.Len(t, string(text), len(want), "%s goes on", name)
}

// source is a package's files, of which only what is exported is left.
type source struct {
	set   *token.FileSet
	files []sourceFile
}

type sourceFile struct {
	*ast.File

	name, text string
}

func parse(t *testing.T, dir string) source {
	t.Helper()
	s := source{set: token.NewFileSet()}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(s.set, name, text, parser.ParseComments)
		require.NoError(t, err)
		ast.FileExports(file)
		s.files = append(s.files, sourceFile{file, name, string(text)})
	}

	return s
}

// imports are a file's packages by the names it calls them.
func (f sourceFile) imports() map[string]string {
	found := map[string]string{}
	for _, one := range f.Imports {
		at := strings.Trim(one.Path.Value, `"`)
		found[path.Base(at)] = at
	}

	return found
}

func (f sourceFile) aliasSpecs() (found []*ast.TypeSpec) {
	for _, decl := range f.Decls {
		if group, ok := decl.(*ast.GenDecl); ok {
			for _, one := range group.Specs {
				if spec, ok := one.(*ast.TypeSpec); ok && spec.Assign.IsValid() {
					found = append(found, spec)
				}
			}
		}
	}

	return found
}

// aliases are our names of others' types, such as ModelError of llm.Error.
func (s source) aliases() map[string]string {
	names := map[string]string{}
	for _, file := range s.files {
		for _, spec := range file.aliasSpecs() {
			of := spec.Type.(*ast.SelectorExpr)
			names[of.X.(*ast.Ident).Name+"."+of.Sel.Name] = spec.Name.Name
		}
	}

	return names
}

// show is what an alias stands for: the declaration and the methods, in our names.
func (s source) show(alias *ast.TypeSpec, names map[string]string) string {
	of := alias.Type.(*ast.SelectorExpr).Sel.Name
	var shown, methods strings.Builder
	for _, file := range s.files {
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.Name == of {
						shown.WriteString("type " + s.print(file, spec, names) + "\n")
					}
				}
			case *ast.FuncDecl:
				if decl.Recv != nil && receiver(decl) == of {
					methods.WriteString(s.print(file, decl, names) + "\n")
				}
			}
		}
	}

	return shown.String() + methods.String()
}

func receiver(method *ast.FuncDecl) string {
	of := method.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}

	name, _ := of.(*ast.Ident)
	if name == nil { // of a type with parameters, of which the face has none
		return ""
	}

	return name.Name
}

// declarations are what a file of the face declares itself.
func (s source) declarations(file sourceFile) string {
	var all strings.Builder
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if ok && (group.Tok == token.IMPORT || group.Tok == token.TYPE && group.Specs[0].(*ast.TypeSpec).Assign.IsValid()) {
			continue
		}
		all.WriteString(bare(s.print(file, decl, nil)))
	}

	return all.String()
}

// print is a node without bodies and tags, its types in our names.
func (s source) print(file sourceFile, node ast.Node, names map[string]string) string {
	called := map[*ast.Ident]bool{} // what names a field or a method, not a type
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			n.Body, called[n.Name] = nil, true
		case *ast.Field:
			n.Tag = nil
			for _, name := range n.Names {
				called[name] = true
			}
		case *ast.Ident:
			if ours, ok := names[file.Name.Name+"."+n.Name]; ok && !called[n] {
				n.Name = ours
			}
		}

		return true
	})
	var out bytes.Buffer
	_ = (&printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}).Fprint(&out, s.set, &printer.CommentedNode{Node: node, Comments: file.Comments}) // a buffer takes all
	text := out.String()
	for theirs, ours := range names {
		text = strings.ReplaceAll(text, theirs, ours)
		if local, ok := strings.CutPrefix(theirs, file.Name.Name+"."); ok { // in comments
			text = strings.ReplaceAll(text, " *"+local+".", " *"+ours+".")
		}
	}

	return text
}

var (
	comments   = regexp.MustCompile(`(?m)^\s*//.*\n|\s*//.*$`)
	emptyLines = regexp.MustCompile(`\n\s*\n`)
)

// bare is a declaration without comments and empty lines.
func bare(shown string) string {
	return emptyLines.ReplaceAllString(strings.TrimSpace(comments.ReplaceAllString(shown, "")), "\n") + "\n\n"
}

// comment is a comment in its file, up to what was written into it, followed by what is shown now.
func comment(doc *ast.CommentGroup, shown ...string) string {
	var lines []string
	for _, line := range doc.List {
		if len(shown) > 0 && strings.HasPrefix(line.Text, "//\t") {
			break
		}
		lines = append(lines, line.Text)
	}
	for len(shown) > 0 && lines[len(lines)-1] == "//" {
		lines = lines[:len(lines)-1]
	}
	for _, text := range shown {
		lines = append(lines, "//")
		for line := range strings.Lines(text) {
			lines = append(lines, strings.TrimRight("//\t"+line, " \t\n"))
		}
	}

	return strings.Join(lines, "\n\t") + "\n"
}
