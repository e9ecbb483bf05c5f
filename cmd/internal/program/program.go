package program

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/settings"
	"alfred/internal/directory"
	"alfred/internal/pg"
)

// Console is where commands print: results to Out (JSON with --json), messages to Errs. Both escape control characters
// (see [Visible]). What cannot be printed fails the command when it has ended, so commands need not check.
type Console struct {
	Out  io.Writer
	Errs io.Writer
	// Screen is Out without escaping, for code that draws: whatever comes from rows must pass through [Visible] first.
	Screen io.Writer
}

// NewConsole prints to a process's two streams.
func NewConsole(stdout, stderr io.Writer) *Console {
	return &Console{Out: &visibleWriter{out: stdout}, Errs: &visibleWriter{out: stderr}, Screen: stdout}
}

// failed is why something could not be printed to Out.
func (c *Console) failed() error {
	if out, ok := c.Out.(*visibleWriter); ok && out.err != nil {
		return fmt.Errorf("print: %w", out.err)
	}

	return nil
}

// Answer prints what a command has found or done: as JSON for programs, or in words.
func (c *Console) Answer(asJSON bool, value any, words string) error {
	if !asJSON {
		fmt.Fprint(c.Out, words)

		return nil
	}
	encoder := json.NewEncoder(c.Out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("print: %w", err)
	}

	return nil
}

// StatusError gives an error its own exit status; others have 1.
type StatusError struct {
	Status int
	Err    error
}

func (e *StatusError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *StatusError) Unwrap() error { return e.Err }

// Main runs a program with this process's arguments and environment until SIGINT or SIGTERM, and returns its exit
// status. An error is printed as one line, whatever it wraps.
func Main(name string, run func(ctx context.Context, args []string, e settings.Env, stdout, stderr io.Writer) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], settings.Environ(os.Environ()), os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, name+":", Visible(strings.Join(strings.Fields(err.Error()), " ")))
		if status, ok := errors.AsType[*StatusError](err); ok {
			return status.Status
		}

		return 1
	}

	return 0
}

// CommandLine describes a program's commands.
type CommandLine struct {
	Name        string
	Description string
	// Commands are for kong. Each one's Run takes what it needs of a context, [settings.Env], *[Console], *[settings.Settings],
	// *[pgxpool.Pool], [AnyDatabase], *[pg.Migrator], *[domain.Domain] and *[directory.Directory]; what is opened for it is closed
	// when it has returned.
	Commands any
	Settings settings.Program
}

// Run parses args and runs the named command.
func Run(ctx context.Context, line CommandLine, args []string, e settings.Env, stdout, stderr io.Writer) error {
	code := -1
	console := NewConsole(stdout, stderr)
	opened := &opener{ctx: ctx, env: e, line: line, logger: slog.New(slog.NewTextHandler(console.Errs, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	defer opened.close()
	parser, err := kong.New(line.Commands, kong.Name(line.Name), kong.Description(line.Description), kong.Vars{"version": line.Name + " " + Version()},
		kong.Writers(stdout, stderr), kong.Exit(func(c int) { code = c }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(e, console),
		kong.BindSingletonProvider(opened.settings), kong.BindSingletonProvider(opened.database), kong.BindSingletonProvider(opened.anyDatabase),
		kong.BindSingletonProvider(opened.migrator), kong.BindSingletonProvider(opened.domain), kong.BindSingletonProvider(opened.directory))
	if err != nil {
		return fmt.Errorf("define the command line: %w", err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if code == 0 {
		return nil // --help or --version was printed
	}
	if err == nil {
		err = checkBounds(parsed.Flags())
	}
	if err != nil {
		return fmt.Errorf("%w (see %s --help)", err, line.Name)
	}

	return cmp.Or(parsed.Run(), console.failed())
}

// WarnOfUnknownSettings says which variables are named like a setting and are none, as a program begins: what they were to
// change is not changed.
func WarnOfUnknownSettings(ctx context.Context, e settings.Env, logger *slog.Logger) {
	for _, name := range settings.Unknown(e) {
		logger.WarnContext(ctx, "there is no such setting", slog.String("variable", name))
	}
}

// OpenDatabase connects to the database of e. The caller closes the pool.
func OpenDatabase(ctx context.Context, e settings.Env, appName string, conns int32) (*pgxpool.Pool, error) {
	url, err := settings.Database(e)
	if err != nil {
		return nil, err
	}

	return pg.Open(ctx, pg.Config{URL: url, AppName: appName, MaxConns: conns})
}

const smallPool = 2 // connections

// WithSchema calls work with a small pool on the database of e, after checking that its schema is this program's.
func WithSchema(ctx context.Context, e settings.Env, appName string, work func(*pgxpool.Pool) error) error {
	pool, err := OpenDatabase(ctx, e, appName, smallPool)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := pg.CheckSchema(ctx, pool, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}

	return work(pool)
}

// InDatabase is WithSchema on a database of the directory, or, where there is no directory, on the one that there is.
func InDatabase(ctx context.Context, e settings.Env, appName string, database directory.Database, work func(*pgxpool.Pool) error) error {
	err := WithSchema(ctx, At(e, database), appName, work)
	if err != nil && database.Name != "" {
		return fmt.Errorf("database %s: %w", database.Name, err)
	}

	return err
}

// At is an environment whose database is one of the directory's, or e where there is no directory.
func At(e settings.Env, database directory.Database) settings.Env {
	if database.URL == "" {
		return e
	}
	there := maps.Clone(e)
	there["DATABASE_URL"] = database.URL

	return there
}

// version is set by the linker: -X alfred/cmd/internal/program.version=v1.2.3.
var version string

// Version is the version set at build time or, without that, what the Go command stamped. Workers record it in table
// workers.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}

	return info.Main.Version
}
