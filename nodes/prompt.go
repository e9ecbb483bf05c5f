package nodes

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed prompts/*.md
var promptFiles embed.FS

// PromptVersion names the wording of the prompts; it is stored with every
// compressed summary, so that a new wording makes new ones.
const PromptVersion = "1"

func systemPrompt(name, persona string) (string, error) {
	t, err := template.New(name+".md").Funcs(template.FuncMap{"part": partOf}).ParseFS(promptFiles, "prompts/"+name+".md")
	if err != nil {
		return "", fmt.Errorf("parse the %s prompt: %w", name, err)
	}
	var b strings.Builder
	if err := t.Execute(&b, struct{ Persona string }{strings.TrimSpace(persona)}); err != nil {
		return "", fmt.Errorf("render the %s prompt: %w", name, err)
	}
	return strings.TrimSpace(b.String()), nil
}

// partOf is what stands below a heading of another prompt, so that a rule that two
// prompts have is written once.
func partOf(name, heading string) (string, error) {
	text, err := promptFiles.ReadFile("prompts/" + name + ".md")
	if err != nil {
		return "", err
	}
	_, rest, found := strings.Cut(string(text), "## "+heading+"\n")
	if !found {
		return "", fmt.Errorf("the %s prompt has no %q", name, heading)
	}
	part, _, _ := strings.Cut(rest, "\n## ")
	return strings.TrimSpace(part), nil
}

// RenderBlocks prints the blocks in order, each tag opened and closed once,
// headings without a body and tags without a heading left out.
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
