package domain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Declaration is a domain's YAML file as written, not yet bound to a catalog. docs/domain.md explains each field. A
// text that ends in ".md" and contains no space names a file beside the YAML that holds the actual text.
type Declaration struct {
	Name       string          `yaml:"name"`
	Schema     string          `yaml:"schema"`
	Owner      string          `yaml:"owner"` // tenant column of every table; an entity may override it
	Source     SourceDecl      `yaml:"source"`
	Persona    string          `yaml:"persona"`
	Entities   []EntityDecl    `yaml:"entities"`
	Subdomains []Subdomain     `yaml:"subdomains"`
	Operations []OperationDecl `yaml:"operations"`
	Snapshot   []Query         `yaml:"snapshot"`
	Profile    []Query         `yaml:"profile"`
	Guidance   string          `yaml:"guidance"`
	Offline    *Offline        `yaml:"offline"`

	file   string
	source string
	root   *ast.File
}

// EntityDecl declares one entity type; see Entity for what the fields mean.
type EntityDecl struct {
	Type       string              `yaml:"type"`
	Table      string              `yaml:"table"`
	Name       string              `yaml:"name"`
	Plural     string              `yaml:"plural"`
	Aliases    []string            `yaml:"aliases"`
	Key        string              `yaml:"key"`
	Speakable  bool                `yaml:"speakable"` // people call rows by their key
	Owner      string              `yaml:"owner"`
	OwnedBy    []string            `yaml:"owned_by"`  // the foreign key by which rows belong to a parent's; for views
	Members    []MembersDecl       `yaml:"members"`   // by which several accounts have its rows; for views
	Everybody  bool                `yaml:"everybody"` // all users have its rows; for views
	Reference  bool                `yaml:"reference"`
	Writes     []Verb              `yaml:"writes"`  // what may be done with rows; none by default
	Columns    []string            `yaml:"columns"` // columns that create and update may set
	Fills      FillsDecl           `yaml:"fills"`   // columns that views fill
	Where      string              `yaml:"where"`   // SQL over its columns: the rows that there are, "" for all; for views
	Gone       string              `yaml:"gone"`    // the column by which programs mark rows as deleted; for views
	Epoch      map[string]string   `yaml:"epoch"`   // column -> s, ms or us, which it counts since 1970; for views
	Cents      map[string]string   `yaml:"cents"`   // column of hundredths -> what the amount is called; for views
	Words      map[string]numbered `yaml:"words"`   // column -> what its numbers stand for; for views
	Approve    []Verb              `yaml:"approve"` // of update and delete, those the user must approve each time
	Label      string              `yaml:"label"`
	Display    string              `yaml:"display"`
	Spoken     string              `yaml:"spoken"`
	Units      *Units              `yaml:"units"` // a column of them, in what people read
	Semantic   string              `yaml:"semantic"`
	Empty      string              `yaml:"empty"`
	Order      []string            `yaml:"order"` // "date", or "date desc"
	Hidden     []string            `yaml:"hidden"`
	Visible    []string            `yaml:"visible"` // of the columns hidden by default
	Fold       []string            `yaml:"fold"`    // columns of free-form words, kept in lower case
	Lists      map[string][]string `yaml:"lists"`   // column -> its only words, where no constraint says so
	Sets       map[string][]string `yaml:"sets"`
	Children   []ChildDecl         `yaml:"children"`
	Computed   []ComputedDecl      `yaml:"computed"`
	References map[string]string   `yaml:"references"` // column -> type, where no foreign key says so
	// Polymorphic says by column which rows it names beside a column with their type; for views.
	Polymorphic map[string]PolymorphicDecl `yaml:"polymorphic"`
	Match       *MatchDecl                 `yaml:"match"`
	Merge       *Merge                     `yaml:"merge"`
	Checks      []string                   `yaml:"checks"` // SQL over rows (written or drafted) that returns sentences
}

// ChildDecl names a child type, and its column if several reference the parent.
type ChildDecl struct {
	Type   string `yaml:"type"`
	Column string `yaml:"column"`
}

// ComputedDecl is a column that the database computes on read.
type ComputedDecl struct {
	Name    string `yaml:"name"`
	SQL     string `yaml:"sql"`
	Comment string `yaml:"comment"`
}

// MatchDecl declares a lookup through a canonical table.
type MatchDecl struct {
	Column string `yaml:"column"` // that holds the user's word, as text
	Link   string `yaml:"link"`   // that holds the canonical row's key
	// Name, Aliases and Family are columns of that row; the last two may be "".
	Name    string `yaml:"name"`
	Aliases string `yaml:"aliases"`
	Family  string `yaml:"family"`
	// Copy maps columns to that row's, from which they are filled on write if the model omitted them (category).
	Copy map[string]string `yaml:"copy"`
}

// Load reads a declaration and the files it names. Unknown and repeated fields are errors; malformed files are a
// *CheckError with lines.
func Load(fsys fs.FS, file string) (*Declaration, error) {
	source, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, fmt.Errorf("read domain: %w", err)
	}
	root, err := parser.ParseBytes(source, 0)
	if err != nil {
		return nil, yamlError(file, err)
	}
	decl := &Declaration{file: file, source: string(source), root: root}
	if node := decl.node("$.schema[0]"); node != nil {
		return nil, &CheckError{File: file, Problems: []Problem{{decl.line("$.schema"), "schema: views and tables stand in one schema; only source.schema, that of the tables behind views, may be several"}}}
	}
	if err := yaml.NewDecoder(bytes.NewReader(source), yaml.Strict()).Decode(decl); err != nil {
		return nil, yamlError(file, err)
	}
	if err := decl.readSnippets(fsys); err != nil {
		return nil, err
	}

	return decl, nil
}

// hash is the digest of the file's content.
func (d *Declaration) hash() string {
	sum := sha256.Sum256([]byte(d.source))

	return hex.EncodeToString(sum[:])
}

// yamlError keeps a YAML error's message and line, and drops the library's source excerpt.
func yamlError(file string, err error) error {
	var located yaml.Error
	if !errors.As(err, &located) {
		return fmt.Errorf("read domain %s: %w", file, err)
	}
	problem := Problem{Message: located.GetMessage()}
	if token := located.GetToken(); token != nil && token.Position != nil {
		problem.Line = token.Position.Line
	}

	return &CheckError{File: file, Problems: []Problem{problem}}
}

func (d *Declaration) readSnippets(fsys fs.FS) error {
	texts := map[string]*string{"$.persona": &d.Persona}
	for i := range d.Subdomains {
		texts[fmt.Sprintf("$.subdomains[%d].guidance", i)] = &d.Subdomains[i].Guidance
		texts[fmt.Sprintf("$.subdomains[%d].examples", i)] = &d.Subdomains[i].Examples
	}
	check := &CheckError{File: d.file}
	for at, text := range texts {
		if !strings.HasSuffix(*text, ".md") || strings.ContainsAny(*text, " \n") {
			continue
		}
		content, err := fs.ReadFile(fsys, path.Join(path.Dir(d.file), *text))
		if err != nil {
			check.addf(d.line(at), "snippet %s cannot be read", *text)

			continue
		}
		*text = strings.TrimSpace(string(content))
	}

	return check.orNil()
}

// line returns the line of a YAML path, or of the nearest existing parent; 0 if nothing exists.
func (d *Declaration) line(at string) int {
	for d.root != nil && at != "$" && at != "" {
		if node := d.node(at); node != nil {
			return node.GetToken().Position.Line
		}
		at = at[:max(strings.LastIndexAny(at, ".["), 0)]
	}

	return 0
}

// node is what stands at a YAML path, nil for nothing.
func (d *Declaration) node(at string) ast.Node {
	p, err := yaml.PathString(at)
	if err != nil {
		return nil
	}
	node, err := p.FilterFile(d.root)
	if err != nil {
		return nil
	}

	return node
}

// CheckError lists every difference between a declaration and the catalog.
type CheckError struct {
	File     string
	Problems []Problem // in order of line
}

// Problem is one difference.
type Problem struct {
	// Line of the declaration, from 1; 0 if no single line is at fault.
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// Error lists all problems, one per line, as file:line: message; without a file, as init has none, the messages alone.
func (e *CheckError) Error() string {
	return strings.Join(each(e.Problems, func(p Problem) string {
		if e.File == "" {
			return p.Message
		}

		return fmt.Sprintf("%s:%d: %s", e.File, p.Line, p.Message)
	}), "\n")
}

// addf adds a problem, once.
func (e *CheckError) addf(line int, format string, args ...any) {
	if one := (Problem{line, fmt.Sprintf(format, args...)}); !slices.Contains(e.Problems, one) {
		e.Problems = append(e.Problems, one)
	}
}

// orNil returns the error ordered by line, or nil if nothing was found.
func (e *CheckError) orNil() error {
	if len(e.Problems) == 0 {
		return nil
	}
	slices.SortStableFunc(e.Problems, func(a, b Problem) int { return a.Line - b.Line })

	return e
}
