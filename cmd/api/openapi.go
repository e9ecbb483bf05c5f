package main

import (
	"fmt"

	"alfred/cmd/internal/program"
	"alfred/internal/httpapi"
)

type openapiCommand struct {
	Downgrade bool `help:"Print OpenAPI 3.0 instead of 3.1, for older generators."`
}

// documentVersion is the version of the API, which changes less often than the program.
const documentVersion = "1"

// Run prints the description.
func (c *openapiCommand) Run(console *program.Console) error {
	document, err := httpapi.Document(documentVersion, c.Downgrade)
	fmt.Fprintf(console.Out, "%s", document)

	return err
}
