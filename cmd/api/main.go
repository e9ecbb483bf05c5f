package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1) //nolint:gocritic // the process ends; nothing is left for the deferred stop to do
	}
}

type commands struct {
	Serve serveCommand `cmd:"" help:"Serve the API and the page."`
	Keys  keysCommand  `cmd:"" help:"Make, list and revoke API keys."`
}

// console is where commands print: results to out, talk to errs.
type console struct {
	out  io.Writer
	errs io.Writer
}

// database is the setting that every command has.
type database struct {
	URL string `env:"DATABASE_URL" help:"Address of the database." name:"database-url" required:""`
}

// run is the program: it parses args and the environment, and runs the command.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var cli commands
	code := -1
	parser, err := kong.New(&cli, kong.Name("api"), kong.Description("Alfred's HTTP API."),
		kong.Writers(stdout, stderr), kong.Exit(func(c int) { code = c }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(&console{out: stdout, errs: stderr}))
	if err != nil {
		return fmt.Errorf("define the command line: %w", err)
	}
	parsed, err := parser.Parse(args)
	if code == 0 {
		return nil // --help was printed
	}
	if err != nil {
		return fmt.Errorf("%w (see api --help)", err)
	}

	return parsed.Run() //nolint:wrapcheck // the command's own words
}
