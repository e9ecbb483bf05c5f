package main

import (
	"context"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
)

func main() { os.Exit(program.Main("worker", run)) }

// commands is the whole command line; each command's Run method is in the file named after it.
type commands struct {
	Chat       chatCommand        `cmd:"" help:"Talk to Alfred in the terminal, or from a script."`
	Completion program.Completion `cmd:"" help:"Print what makes a shell complete commands and flags."`
	Directory  directoryCommand   `cmd:"" help:"The map from users to databases, where several share the users."`
	Doctor     doctorCommand      `cmd:"" help:"Look for what is wrong with the database, the settings and the workers."`
	Domain     domainCommand      `cmd:"" help:"Check a domain's declaration, or write a first one."`
	Eval       evalCommand        `cmd:"" help:"Try an assistant on a suite of conversations, each on a scratch database."`
	Migrate    migrateCommand     `cmd:"" help:"Bring the database's schema up, down, or say how far it is."`
	Prune      pruneCommand       `cmd:"" help:"Delete what is older than it is kept for."`
	Run        runCommand         `cmd:"" help:"Work jobs until SIGTERM."`
	Session    sessionCommand     `cmd:"" help:"Show, export or forget a session."`
	Turn       turnCommand        `cmd:"" help:"Take back what a turn wrote."`
	User       userCommand        `cmd:"" help:"Export, erase or move a user."`
	Version    kong.VersionFlag   `help:"Print the version."`
}

// run is the program: it parses args and runs the named command.
func run(ctx context.Context, args []string, e settings.Env, stdout, stderr io.Writer) error {
	line := program.CommandLine{Name: "worker", Description: "Alfred's worker and its operator's commands.", Commands: new(commands), Settings: settings.Worker}

	return program.Run(ctx, line, args, e, stdout, stderr)
}
