package reference_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	goTest    = regexp.MustCompile("go test[^\n`|;]*")
	directory = regexp.MustCompile(`\s\./([\w/]+)`)
)

// The tests that documents and targets run are there.
func TestTestedDirectoriesExist(t *testing.T) {
	t.Parallel()

	for _, file := range append(documents(t), "Makefile") {
		for _, command := range goTest.FindAllString(read(t, file), -1) {
			for _, found := range directory.FindAllStringSubmatch(command, -1) {
				require.DirExists(t, root+found[1], "%s: %s", file, command)
			}
		}
	}
}

// The image is built from what .dockerignore leaves.
func TestImageHasEveryPackage(t *testing.T) {
	t.Parallel()

	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.ImportPath}}{{end}}{{end}}", "./cmd/worker", "./cmd/api")
	command.Dir = root
	out, err := command.Output()
	require.NoError(t, err)
	packages := strings.Fields(string(out))
	require.Contains(t, packages, "alfred/internal/pg")
	for ignored := range strings.Lines(read(t, ".dockerignore")) {
		ignored = strings.TrimSpace(ignored)
		require.NotEqual(t, "*", ignored, "a list of what is taken misses the next package")
		for _, name := range packages {
			require.NotEqual(t, ignored, strings.Split(name, "/")[1], "%s is not in the image", name)
		}
	}
}
