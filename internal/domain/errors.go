package domain

import (
	"fmt"
	"slices"
	"strings"
)

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

// Error lists all problems, one per line, as file:line: message.
func (e *CheckError) Error() string {
	return strings.Join(each(e.Problems, func(p Problem) string { return fmt.Sprintf("%s:%d: %s", e.File, p.Line, p.Message) }), "\n")
}

func (e *CheckError) addf(line int, format string, args ...any) {
	e.Problems = append(e.Problems, Problem{Line: line, Message: fmt.Sprintf(format, args...)})
}

// orNil returns the error ordered by line, or nil if nothing was found.
func (e *CheckError) orNil() error {
	if len(e.Problems) == 0 {
		return nil
	}
	slices.SortStableFunc(e.Problems, func(a, b Problem) int { return a.Line - b.Line })

	return e
}
