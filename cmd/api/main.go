package main

import (
	"context"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
)

func main() { os.Exit(program.Main("api", run)) }

type commands struct {
	Completion program.Completion `cmd:"" help:"Print a shell script that completes commands and flags."`
	Doctor     doctorCommand      `cmd:"" help:"Check the database and the settings."`
	Keys       keysCommand        `cmd:"" help:"Create, list and revoke API keys."`
	MCP        mcpCommand         `cmd:"" help:"Serve the Model Context Protocol on standard input and output." name:"mcp"`
	OpenAPI    openapiCommand     `cmd:"" help:"Print the OpenAPI description, for client generators." name:"openapi"`
	Serve      serveCommand       `cmd:"" help:"Serve the API and the page."`
	Version    kong.VersionFlag   `help:"Print the version."`
}

// run is the program: it parses args and runs the named command.
func run(ctx context.Context, args []string, e settings.Env, stdout, stderr io.Writer) error {
	line := program.CommandLine{Name: "api", Description: "Alfred's HTTP API.", Commands: new(commands), Settings: settings.API}

	return program.Run(ctx, line, args, e, stdout, stderr)
}
