package reference_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Links to files and headings resolve.
func TestLinksResolve(t *testing.T) {
	t.Parallel()

	for _, file := range append(documents(t), "CHANGELOG.md") {
		for _, found := range link.FindAllStringSubmatch(read(t, file), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			target, anchor, _ := strings.Cut(found[1], "#")
			path := file
			if target != "" {
				path = filepath.Join(filepath.Dir(file), target)
				require.FileExists(t, root+path, "%s: %s", file, found[1])
			}
			if anchor != "" {
				require.Contains(t, anchors(read(t, path)), anchor, "%s: %s", file, found[1])
			}
		}
	}
}

// anchors are the link targets of a page's headings.
func anchors(text string) []string {
	var names []string
	for _, found := range heading.FindAllStringSubmatch(text, -1) {
		names = append(names, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-"))
	}

	return names
}
