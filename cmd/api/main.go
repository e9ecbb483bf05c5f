package main

import (
	"context"
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
		fmt.Fprintln(os.Stderr, "api:", strings.Join(strings.Fields(err.Error()), " ")) // one line, whatever is wrapped
		os.Exit(1)                                                                      //nolint:gocritic // the process ends; nothing is left for the deferred stop to do
	}
}

type commands struct {
	Serve serveCommand `cmd:"" help:"Serve the API and the page."`
	Keys  keysCommand  `cmd:"" help:"Make, list and revoke API keys."`
}

// env is the environment as the commands see it, so that tests give their own.
type env map[string]string

// console is where commands print: results to out, talk to errs.
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
	parser, err := kong.New(&cli, kong.Name("api"), kong.Description("Alfred's HTTP API."),
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
		return fmt.Errorf("%w (see api --help)", err)
	}

	return parsed.Run() //nolint:wrapcheck // the command's own words
}
