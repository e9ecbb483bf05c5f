package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing/fstest"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/domain"
)

// domainApp is what the database sees of these commands.
const domainApp = "alfred worker domain"

type domainInitCommand struct {
	Schema   string `help:"The schema to declare." required:""`
	Accounts string `help:"The table of those whom rows belong to, such as users or companies. Default: a guess." placeholder:"TABLE"`
	Dir      string `default:"." help:"Folder for the files." type:"path"`
	AsIs     bool   `help:"Declare the tables themselves, which have row-level security and grants for Alfred, and print only the declaration."`
}

// Run writes two files for review: the declaration, and the SQL of its views.
func (c *domainInitCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	return program.WithDatabase(ctx, e, domainApp, func(pool *pgxpool.Pool) error {
		if c.AsIs {
			text, err := domain.Init(ctx, pool, c.Schema)
			if err != nil {
				return err
			}

			fmt.Fprint(console.Out, text)

			return nil
		}
		text, err := domain.InitViews(ctx, pool, c.Schema, c.Accounts)
		if err != nil {
			return err
		}
		file := c.Schema + ".yaml"
		decl, err := domain.Load(fstest.MapFS{file: {Data: []byte(text)}}, file)
		if err != nil {
			return fmt.Errorf("read what was written: %w", err)
		}
		sql, notes, err := domain.Views(ctx, pool, decl)
		if err != nil {
			return err
		}

		return c.files(console, text, sql, notes)
	})
}

func (c *domainInitCommand) files(console *program.Console, yaml, sql string, notes []string) error {
	decl, views := filepath.Join(c.Dir, c.Schema+".yaml"), filepath.Join(c.Dir, c.Schema+".sql")
	files := []struct{ path, text string }{{decl, yaml}, {views, sql}}
	for _, file := range files {
		if err := mayWrite(file.path); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := os.WriteFile(file.path, []byte(file.text), 0o600); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	fmt.Fprintf(console.Errs, `Wrote %s and %s. Nothing of %s was changed.
%sRead every line marked "unsure", and say what may be written (writes, columns). Then
  worker domain views %s > %s     after a change of the declaration
  worker migrate up                          if Alfred's own schema is not there yet
  psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -f %s   makes the views, as does worker domain attach
  worker domain check --probe %s
`, decl, views, c.Schema, noteLines(notes), shellWord(decl), shellWord(views), shellWord(views), shellWord(decl))

	return nil
}

func noteLines(notes []string) string {
	var b strings.Builder
	for _, note := range notes {
		b.WriteString("- " + note + "\n")
	}

	return b.String()
}

// mayWrite allows only files that do not exist or are empty: nobody's edits are lost.
func mayWrite(path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return fmt.Errorf("%s is there already; move it away first", path)
	}

	return nil
}

// declared is the declaration that a command works on.
type declared struct {
	Domain string `arg:"" help:"A YAML file with a source. Default: ALFRED_DOMAIN." optional:""`
}

// with runs work with the declaration and the database.
func (d *declared) with(ctx context.Context, e settings.Env, work func(pool *pgxpool.Pool, decl *domain.Declaration) error) error {
	files, file := domain.Find(cmp.Or(d.Domain, settings.Domain(e)))
	decl, err := domain.Load(files, file)
	if err != nil {
		return err
	}
	if decl.Source.Schema == "" {
		return fmt.Errorf("%s has no source: it takes tables as they are, and there are no views", file)
	}

	return program.WithDatabase(ctx, e, domainApp, func(pool *pgxpool.Pool) error { return work(pool, decl) })
}

type domainViewsCommand struct{ declared }

// Run prints the SQL; notes go to stderr.
func (c *domainViewsCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	return c.withViews(ctx, e, func(_ *pgxpool.Pool, _ *domain.Declaration, sql string, notes []string) error {
		fmt.Fprint(console.Errs, noteLines(notes))
		fmt.Fprint(console.Out, sql)

		return nil
	})
}

// withViews runs work with the SQL of the declaration's views.
func (d *declared) withViews(ctx context.Context, e settings.Env, work func(pool *pgxpool.Pool, decl *domain.Declaration, sql string, notes []string) error) error {
	return d.with(ctx, e, func(pool *pgxpool.Pool, decl *domain.Declaration) error {
		sql, notes, err := domain.Views(ctx, pool, decl)
		if err != nil {
			return err
		}

		return work(pool, decl, sql, notes)
	})
}

type domainAttachCommand struct{ declared }

// Run replaces the views, in one transaction.
func (c *domainAttachCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	return c.withViews(ctx, e, func(pool *pgxpool.Pool, decl *domain.Declaration, sql string, notes []string) error {
		if err := domain.Attach(ctx, pool, decl, sql); err != nil {
			return err
		}
		fmt.Fprint(console.Out, noteLines(notes)+"Attached "+decl.Schema+". Next, test that users are kept apart: worker domain check --probe\n")

		return nil
	})
}

type domainDetachCommand struct{ declared }

// Run drops the views and keeps the mapping of users to accounts.
func (c *domainDetachCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	return c.change(ctx, e, console, domain.Detach, "Detached %s. Change the tables, then: worker domain attach\n")
}

type domainDropCommand struct {
	declared

	Yes bool `help:"Confirm: the map from users to accounts is lost."`
}

// Run drops everything that was created.
func (c *domainDropCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	if !c.Yes {
		return errors.New("this loses which user is which account; say --yes")
	}

	return c.change(ctx, e, console, domain.Drop, "Dropped %s: its views, functions, grants and role are gone.\n")
}

func (d *declared) change(ctx context.Context, e settings.Env, console *program.Console, change func(context.Context, domain.DB, *domain.Declaration) error, text string) error {
	return d.with(ctx, e, func(pool *pgxpool.Pool, decl *domain.Declaration) error {
		err := change(ctx, pool, decl)
		if err == nil {
			fmt.Fprintf(console.Out, text, decl.Schema)
		}

		return err
	})
}
