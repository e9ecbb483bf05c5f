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

func systemPrompt(node, persona string) (string, error) {
	t, err := template.ParseFS(promptFiles, "prompts/"+node+".md")
	if err != nil {
		return "", fmt.Errorf("parse the %s prompt: %w", node, err)
	}
	var b strings.Builder
	if err := t.Execute(&b, struct{ Persona string }{strings.TrimSpace(persona)}); err != nil {
		return "", fmt.Errorf("render the %s prompt: %w", node, err)
	}
	return strings.TrimSpace(b.String()), nil
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
