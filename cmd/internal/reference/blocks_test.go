package reference_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// block is a fenced block of a document.
type block struct {
	file   string
	line   int
	lang   string
	body   string
	mark   string // the preceding comment, without its dashes
	output string // the block right after a block of sql
}

const (
	markNotRun = "not run: "
	markEmpty  = "run on an empty database"
)

// documents are all pages that contain commands.
func documents(t *testing.T) []string {
	t.Helper()

	pages, err := filepath.Glob(root + "docs/*.md")
	require.NoError(t, err)
	files := []string{"README.md", "AGENTS.md"}
	for _, page := range pages {
		files = append(files, "docs/"+filepath.Base(page))
	}

	return files
}

// blocks returns the fenced blocks of a document.
func blocks(t *testing.T, file string) []*block {
	t.Helper()

	text, err := os.ReadFile(root + file)
	require.NoError(t, err)
	var (
		found   []*block
		open    *block
		mark    string
		touches bool // only empty lines since the last block
	)
	for i, line := range strings.Split(string(text), "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		comment, isComment := strings.CutPrefix(line, "<!-- ")
		switch {
		case open != nil && isFence:
			open, touches = nil, true
		case open != nil:
			open.body += line + "\n"
		case isFence:
			next := &block{file: file, line: i + 1, lang: fence, mark: mark}
			open, mark = next, ""
			found = append(found, next)
			if touches && fence == "" && len(found) > 1 && found[len(found)-2].lang == "sql" {
				next.lang = "output"
			}
		case isComment:
			mark = strings.TrimSuffix(comment, " -->")
		case strings.TrimSpace(line) != "":
			mark, touches = "", false
		}
	}
	require.Nil(t, open, "%s: a fence is not closed", file)
	for i, b := range found {
		if b.lang == "output" {
			found[i-1].output = b.body
		}
	}

	return found
}

// withoutMake separates the lines that call make, with or without variables before it, from the others.
func (b *block) withoutMake() (targets []string, rest string) {
	var lines []string
	for line := range strings.SplitSeq(b.body, "\n") {
		command, _, _ := strings.Cut(line, " #")
		words := strings.Fields(command)
		words = slices.DeleteFunc(words, func(word string) bool { return strings.Contains(word, "=") })
		if len(words) > 0 && words[0] == "make" {
			targets = append(targets, words[1:]...)

			continue
		}
		lines = append(lines, line)
	}

	return targets, strings.TrimSpace(strings.Join(lines, "\n"))
}
