package eval

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"alfred/internal/domain"
)

//go:embed suites
var suites embed.FS

// ErrSuite says that a suite cannot be read, and where.
var ErrSuite = errors.New("bad suite")

// Suite is a file of cases about one domain.
type Suite struct {
	Suite  string   `yaml:"suite"`            // its name
	Domain string   `yaml:"domain"`           // a built-in domain, or a declaration beside the suite
	Schema []string `yaml:"schema,omitempty"` // SQL files beside the suite that create the domain's tables; the kitchen's exist already
	Seed   string   `yaml:"seed,omitempty"`   // SQL that runs before each case's own
	Cases  []Case   `yaml:"cases"`

	files       fs.FS  // the suite's folder
	schema      string // SQL that creates the domain's tables, in addition to the files
	declaration struct {
		folder fs.FS
		file   string
	}
}

// Case is one conversation and what must be true after it.
type Case struct {
	Case  string `yaml:"case"`            // its name
	About string `yaml:"about,omitempty"` // its purpose
	// Seed is SQL that runs as the database's owner, with the user's id in alfred.user_id, so that the owner column
	// fills itself.
	Seed  string `yaml:"seed,omitempty"`
	Turns []Turn `yaml:"turns"`
	// User plays the user in place of the turns' messages, if a model is configured for it.
	User *User `yaml:"user,omitempty"`
	// Expect is what must be true at the end, Limits the most that everything may take.
	Expect Expect `yaml:"expect,omitempty"`
	Limits Limits `yaml:"limits,omitempty"`
	// Judge is a rubric by which a model judges the conversation, after all other checks.
	Judge string `yaml:"judge,omitempty"`
	// Script is what the model named script answers in this case, in that model's format.
	Script string `yaml:"script,omitempty"`
}

// Turn is one message.
type Turn struct {
	Before    string    `yaml:"before,omitempty"` // SQL of another program, run before the message, like the seed
	At        time.Time `yaml:"at,omitempty"`     // when it is sent; zero: after the previous one, or now
	Say       string    `yaml:"say"`
	Undo      int       `yaml:"undo,omitempty"` // the number of the turn that the user undoes with the button; say is sent if that is impossible
	Mode      string    `yaml:"mode,omitempty"`
	UIChanges []Change  `yaml:"ui_changes,omitempty"` // what the user changed outside the conversation
	Mentions  []Mention `yaml:"mentions,omitempty"`   // rows that the user pointed at
	Expect    Expect    `yaml:"expect,omitempty"`
}

// Change is a row that the user changed outside the conversation.
type Change struct {
	Action     string `json:"action" yaml:"action"`
	EntityType string `json:"entity_type" yaml:"entity_type"`
	EntityID   string `json:"entity_id" yaml:"entity_id"`
	Label      string `json:"label" yaml:"label"`
}

// Mention is a row that the user pointed at.
type Mention struct {
	EntityType string `yaml:"entity_type"`
	EntityID   string `yaml:"entity_id"`
	Label      string `yaml:"label"`
}

// User is a user played by a model.
type User struct {
	Instructions string `yaml:"instructions"`
	Messages     int    `yaml:"messages,omitempty"` // at most; 0: 12
}

// Expect is what must be true. A field that is not given is not checked, except that a turn must succeed.
type Expect struct {
	Status string            `yaml:"status,omitempty"` // of the turn; succeeded unless given
	Asks   *string           `yaml:"asks,omitempty"`   // kind of the question that the turn ends with, or any or none
	Reply  Words             `yaml:"reply,omitempty"`
	Refs   map[string]string `yaml:"refs,omitempty"`   // state or last action by ref
	Writes *[]string         `yaml:"writes,omitempty"` // exactly the tables in which rows were written; [] for none
	SQL    []Query           `yaml:"sql,omitempty"`
}

// Words are what a reply, with its question, must and must not contain, case-insensitively.
type Words struct {
	Has     []string `yaml:"has,omitempty"`
	Lacks   []string `yaml:"lacks,omitempty"`
	Matches string   `yaml:"matches,omitempty"` // a regular expression
}

// Query is a statement and the rows that it must return, in order.
type Query struct {
	SQL  string  `yaml:"sql"`
	Rows [][]any `yaml:"rows,omitempty"`
	Is   any     `yaml:"is,omitempty"` // in place of rows: the single value of a single row
	As   string  `yaml:"as,omitempty"` // owner: run as the database's owner instead of the user
}

// Limits are upper bounds; 0 is no limit.
type Limits struct {
	Calls   int     `yaml:"calls,omitempty"`
	Tokens  int     `yaml:"tokens,omitempty"`
	USD     float64 `yaml:"usd,omitempty"`
	Seconds float64 `yaml:"seconds,omitempty"`
}

// Load reads a suite by path, or a built-in one by name.
func Load(nameOrPath string) (*Suite, error) {
	files, file := os.DirFS(filepath.Dir(nameOrPath)), filepath.Base(nameOrPath)
	if !strings.ContainsAny(nameOrPath, "./\\") {
		sub, err := fs.Sub(suites, path.Join("suites", nameOrPath))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSuite, err)
		}
		files, file = sub, "suite.yaml"
	}
	text, err := fs.ReadFile(files, file)
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrSuite, nameOrPath, err)
	}

	return Parse(text, files)
}

// Parse reads a suite whose other files are in a folder.
func Parse(text []byte, files fs.FS) (*Suite, error) {
	s := &Suite{files: files}
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(s); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrSuite, yaml.FormatError(err, false, true))
	}
	if s.Domain == "" || s.Suite == "" || len(s.Cases) == 0 {
		return nil, fmt.Errorf("%w: it needs suite (a name), domain and cases", ErrSuite)
	}
	if s.declaration.folder, s.declaration.file = files, s.Domain; domain.BuiltIn(s.Domain) {
		s.Use(s.Domain)
	}
	var faults []error
	seen := map[string]bool{}
	for i := range s.Cases {
		c := &s.Cases[i]
		if seen[c.Case] {
			faults = append(faults, fmt.Errorf("%w: case %q is there twice", ErrSuite, c.Case))
		}
		seen[c.Case] = true
		faults = append(faults, c.check(i))
	}

	return s, errors.Join(faults...)
}

func (c *Case) check(i int) error {
	faultf := func(format string, args ...any) error {
		return fmt.Errorf("%w: case %d %q: %w", ErrSuite, i+1, c.Case, fmt.Errorf(format, args...))
	}
	if c.Case == "" {
		return faultf("it has no name")
	}
	if len(c.Turns) == 0 && c.User == nil {
		return faultf("nobody says anything: it needs turns or a user")
	}
	if c.User != nil && strings.TrimSpace(c.User.Instructions) == "" {
		return faultf("the user has no instructions")
	}
	for n, t := range c.Turns {
		if strings.TrimSpace(t.Say) == "" {
			return faultf("turn %d says nothing", n+1)
		}
		if t.Undo < 0 || t.Undo > n {
			return faultf("turn %d: undo: there is no turn %d before it", n+1, t.Undo)
		}
		if err := t.Expect.check(); err != nil {
			return faultf("turn %d: %w", n+1, err)
		}
	}
	if err := c.Expect.check(); err != nil {
		return faultf("%w", err)
	}

	return nil
}

func (e *Expect) check() error {
	if _, err := regexp.Compile(e.Reply.Matches); err != nil {
		return fmt.Errorf("reply: %w", err)
	}
	if e.Status != "" && !slices.Contains([]string{"succeeded", "failed", "cancelled"}, e.Status) {
		return fmt.Errorf("status %q: it is succeeded, failed or cancelled", e.Status)
	}
	for _, q := range e.SQL {
		if strings.TrimSpace(q.SQL) == "" {
			return errors.New("sql: a statement is missing")
		}
		if (q.Is == nil) == (q.Rows == nil) {
			return fmt.Errorf("sql: %s: it needs rows, or is for one value", oneLine(q.SQL))
		}
		if q.As != "" && q.As != "owner" {
			return fmt.Errorf("sql: as %q: only owner is known", q.As)
		}
	}

	return nil
}

// keepMatching keeps the cases whose names match a pattern.
func (s *Suite) keepMatching(pattern string) error {
	if pattern == "" {
		return nil
	}
	want, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Errorf("the pattern of cases: %w", err)
	}
	s.Cases = slices.DeleteFunc(s.Cases, func(c Case) bool { return !want.MatchString(c.Case) })
	if len(s.Cases) == 0 {
		return fmt.Errorf("no case matches %s", pattern)
	}

	return nil
}

func oneLine(text string) string {
	const shown = 160
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > shown {
		return string(runes[:shown]) + "…"
	}

	return text
}

// usual is a trial's default timeout.
const usual = 10 * time.Minute
