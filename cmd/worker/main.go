package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], environ(os.Environ()), os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1) //nolint:gocritic // the process ends; nothing is left for the deferred stop to do
	}
}

// commands is the whole command line; each command's Run method stands in the file named after it.
type commands struct {
	Doctor  doctorCommand  `cmd:"" help:"Look for what is wrong with the database, the settings and the workers."`
	Domain  domainCommand  `cmd:"" help:"Check a domain's declaration, or write a first one."`
	Migrate migrateCommand `cmd:"" help:"Bring the database's schema up, down, or say how far it is."`
	Prune   pruneCommand   `cmd:"" help:"Drop months of events, step results and model calls."`
	Run     runCommand     `cmd:"" help:"Work jobs until SIGTERM."`
	Session sessionCommand `cmd:"" help:"Show, export or forget a session."`
}

// env is the environment as the commands see it, so that tests give their own.
type env map[string]string

// console is where commands print: results to out (JSON with --json), talk to errs.
type console struct {
	out  io.Writer
	errs io.Writer
}

func environ(pairs []string) env {
	e := env{}
	for _, pair := range pairs {
		if name, value, ok := strings.Cut(pair, "="); ok {
			e[name] = value
		}
	}

	return e
}

// run is the program: it parses args and runs the command that they name.
func run(ctx context.Context, args []string, e env, stdout, stderr io.Writer) error {
	var cli commands
	code := -1
	parser, err := kong.New(&cli, kong.Name("worker"), kong.Description("Alfred's worker and its operator's commands."),
		kong.Writers(stdout, stderr), kong.Exit(func(c int) { code = c }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(e, &console{out: stdout, errs: stderr}))
	if err != nil {
		return fmt.Errorf("define the command line: %w", err)
	}
	parsed, err := parser.Parse(args)
	if code == 0 {
		return nil // --help was printed
	}
	if err != nil {
		return fmt.Errorf("%w (see worker --help)", err)
	}

	return parsed.Run()
}

var errNoDatabase = errors.New("DATABASE_URL is not set; `scripts/postgres url` prints one")
