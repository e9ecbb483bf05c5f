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
	Completion program.Completion `cmd:"" help:"Print a shell script that completes commands and flags."`
	Directory  directoryCommand   `cmd:"" help:"Manage the map from users to databases."`
	Doctor     doctorCommand      `cmd:"" help:"Check the database, the settings, the models and the workers."`
	Domain     domainCommand      `cmd:"" help:"Write, check and attach a domain's declaration."`
	Eval       evalCommand        `cmd:"" help:"Run a suite of conversations, each on a scratch database."`
	Migrate    migrateCommand     `cmd:"" help:"Migrate the database's schema, or print its state."`
	Prune      pruneCommand       `cmd:"" help:"Delete data past its retention."`
	Run        runCommand         `cmd:"" help:"Run jobs until SIGTERM."`
	Session    sessionCommand     `cmd:"" help:"Show, export, fork, replay or forget a session."`
	Turn       turnCommand        `cmd:"" help:"Undo a turn's writes."`
	User       userCommand        `cmd:"" help:"Export, erase or move a user."`
	Version    kong.VersionFlag   `help:"Print the version."`
}

// run is the program: it parses args and runs the named command.
func run(ctx context.Context, args []string, e settings.Env, stdout, stderr io.Writer) error {
	line := program.CommandLine{Name: "worker", Description: "Alfred's worker and its operator's commands.", Commands: new(commands), Settings: settings.Worker}

	return program.Run(ctx, line, args, e, stdout, stderr)
}
