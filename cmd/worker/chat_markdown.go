package main

import (
	"os"
	"regexp"
	"strings"

	"charm.land/glamour/v2"
	glamourstyle "charm.land/glamour/v2/ansi"
	"charm.land/glamour/v2/styles"
	"github.com/charmbracelet/x/ansi"

	"alfred/cmd/internal/program"
)

// plainTerminal reports whether colours are unwanted or unsupported.
func plainTerminal() bool { return os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" }

func styled(code, text string) string {
	if plainTerminal() {
		return text
	}

	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func bold(text string) string  { return styled("1", text) }
func faint(text string) string { return styled("2", text) }

// replyStyle has no margins, and no colours but those of code.
func replyStyle() glamourstyle.StyleConfig {
	style := styles.ASCIIStyleConfig
	style.Document = glamourstyle.StyleBlock{}
	on := new(!plainTerminal())
	style.Strong = glamourstyle.StylePrimitive{Bold: on}
	style.Emph = glamourstyle.StylePrimitive{Italic: on}
	style.Strikethrough = glamourstyle.StylePrimitive{CrossedOut: on}
	style.Heading = glamourstyle.StyleBlock{StylePrimitive: glamourstyle.StylePrimitive{Bold: on, BlockSuffix: "\n"}}
	style.Link = glamourstyle.StylePrimitive{Underline: on}
	style.Code = glamourstyle.StyleBlock{StylePrimitive: glamourstyle.StylePrimitive{Bold: on}}
	for _, heading := range []*glamourstyle.StyleBlock{&style.H1, &style.H2, &style.H3, &style.H4, &style.H5, &style.H6} {
		*heading = glamourstyle.StyleBlock{}
	}

	return style
}

// markdown renders Markdown as lines for a terminal. No control character of the input may reach the terminal, and Markdown can
// write any character by its number.
func markdown(text string, width int) string {
	text = strings.ReplaceAll(program.Visible(text), "&#", "&amp;#")
	renderer, err := glamour.NewTermRenderer(glamour.WithStyles(replyStyle()), glamour.WithWordWrap(max(20, width-len(beside))))
	if err != nil {
		return text // what cannot be drawn is shown as it was written
	}
	out, err := renderer.Render(text)
	if err != nil {
		return text
	}
	lines := strings.Split(strings.Trim(onlyColours(out), "\n"), "\n")
	for i, line := range lines {
		lines[i] = trimRight(line)
	}

	return strings.Join(lines, "\n")
}

var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// onlyColours keeps sequences for colours and weights, and makes other controls visible.
func onlyColours(text string) string {
	var b strings.Builder
	for text != "" {
		at := colours.FindStringIndex(text)
		if at == nil {
			at = []int{len(text), len(text)}
		}
		b.WriteString(program.Visible(text[:at[0]]))
		b.WriteString(text[at[0]:at[1]])
		text = text[at[1]:]
	}

	return b.String()
}

// trimRight removes the spaces that pad a line to its width, also between colours.
func trimRight(line string) string {
	plain := ansi.Strip(line)
	kept := strings.TrimRight(plain, " ")
	if kept == plain {
		return line
	}

	return ansi.Truncate(line, ansi.StringWidth(kept), "")
}

// renderable is how many bytes of a streaming reply can be rendered already: whole paragraphs whose layout later text cannot
// change.
func renderable(text string) int {
	whole, fenced := 0, false
	lines := strings.SplitAfter(text, "\n")
	at := 0
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "```") || strings.HasPrefix(strings.TrimSpace(line), "~~~") {
			fenced = !fenced
		}
		at += len(line)
		if fenced || strings.TrimSpace(line) != "" || i+1 >= len(lines) || lines[i+1] == "" {
			continue
		}
		if startsParagraph.MatchString(lines[i+1]) {
			whole = at
		}
	}

	return whole
}

// startsParagraph matches a line that cannot continue a list, quote or table before it.
var startsParagraph = regexp.MustCompile(`^(\pL{2}|#|\*\*\pL)`)
