package nodes

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"text/template"
)

//go:embed prompts/*.md
var promptFiles embed.FS

// PromptVersion identifies the wording of the prompts. It is stored with every compressed summary, so that a new
// wording produces new ones.
const PromptVersion = "1"

// Prompts are the fixed wording of all nodes' prompts: files that replace the built-in ones of the same name. Missing
// files fall back to the built-in ones, which are all that the zero value has.
type Prompts struct {
	files   fs.FS
	schemas sync.Map // schemas of answers, by [schemaKey]: making one takes a millisecond
	systems sync.Map // rendered prompts, by [systemKey]: otherwise, each turn that waits for a model would hold its own copy
}

type systemKey struct{ name, persona string }

// builtIn are the prompts of a frame that has none of its own.
var builtIn = &Prompts{}

// OpenPrompts reads prompts from a folder and renders each, so that a broken one is found before a model is asked.
func OpenPrompts(files fs.FS) (*Prompts, error) {
	p, found := &Prompts{files: files}, 0
	entries, err := promptFiles.ReadDir("prompts")
	if err != nil {
		return nil, fmt.Errorf("list the prompts: %w", err)
	}
	for _, entry := range entries {
		if _, err := fs.Stat(files, entry.Name()); err == nil {
			found++
		}
		if _, err := p.render(strings.TrimSuffix(entry.Name(), ".md"), "somebody"); err != nil {
			return nil, err
		}
	}
	if found == 0 {
		return nil, errors.New("there is no prompt in the folder: its files are called as those of nodes/prompts, understand.md say")
	}

	return p, nil
}

// read returns a prompt's text.
func (p *Prompts) read(name string) (string, error) {
	if p.files != nil {
		text, err := fs.ReadFile(p.files, name+".md")
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return string(text), err
		}
	}
	text, err := promptFiles.ReadFile("prompts/" + name + ".md")

	return string(text), err
}

// system returns a named prompt, rendered once for the same persona; nil Prompts are the built-in ones.
func (p *Prompts) system(name, persona string) (string, error) {
	p = cmp.Or(p, builtIn)

	return once(&p.systems, systemKey{name, persona}, func() (string, error) { return p.render(name, persona) })
}

// once returns what was made for a key before, or makes and keeps it.
func once[K, T any](kept *sync.Map, key K, create func() (T, error)) (T, error) {
	if made, ok := kept.Load(key); ok {
		return made.(T), nil
	}
	made, err := create()
	if err == nil {
		kept.Store(key, made)
	}

	return made, err
}

func (p *Prompts) render(name, persona string) (string, error) {
	text, err := p.read(name)
	if err != nil {
		return "", fmt.Errorf("read the %s prompt: %w", name, err)
	}
	t, err := template.New(name + ".md").Funcs(template.FuncMap{"part": p.part}).Parse(text)
	if err != nil {
		return "", fmt.Errorf("parse the %s prompt: %w", name, err)
	}
	var b strings.Builder
	if err := t.Execute(&b, struct{ Persona string }{strings.TrimSpace(persona)}); err != nil {
		return "", fmt.Errorf("render the %s prompt: %w", name, err)
	}

	return strings.TrimSpace(b.String()), nil
}

// part returns the text below a heading of another prompt, so that a rule shared by two prompts is written once.
func (p *Prompts) part(name, heading string) (string, error) {
	text, err := p.read(name)
	if err != nil {
		return "", err
	}
	_, rest, found := strings.Cut(text, "## "+heading+"\n")
	if !found {
		return "", fmt.Errorf("the %s prompt has no %q", name, heading)
	}
	part, _, _ := strings.Cut(rest, "\n## ")

	return strings.TrimSpace(part), nil
}

// RenderBlocks prints the blocks in order, each tag opened and closed once. It omits headings without a body and tags
// without a heading.
func RenderBlocks(blocks []Block) string {
	var b strings.Builder
	for _, block := range blocks {
		body := renderSections(block.Sections)
		if body == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "<%s>\n%s\n</%s>", block.Tag, body, block.Tag)
	}

	return b.String()
}

func renderSections(sections []Section) string {
	parts := make([]string, 0, len(sections))
	for _, s := range sections {
		body := strings.TrimSpace(s.Body)
		if body == "" {
			continue
		}
		if s.Heading != "" {
			body = s.Heading + "\n" + body
		}
		parts = append(parts, body)
	}

	return strings.Join(parts, "\n\n")
}
