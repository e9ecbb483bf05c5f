package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"alfred/cmd/internal/settings"
)

const (
	operations = "docs/operations.md"

	begin = "<!-- begin settings: written by make generate -->\n\n"
	end   = "\n<!-- end settings -->"
)

var errNoMarks = errors.New("the marks of the settings' table are missing in " + operations)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run() error {
	page, err := os.ReadFile(operations)
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	next, err := withSettings(string(page))
	if err != nil {
		return err
	}
	if err := os.WriteFile(operations, []byte(next), 0o644); err != nil { //nolint:gosec // a page for all to read
		return fmt.Errorf("write: %w", err)
	}

	return nil
}

// withSettings puts the table between the page's marks.
func withSettings(page string) (string, error) {
	before, rest, found := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", errNoMarks
	}

	return before + begin + settings.Markdown() + end + after, nil
}
