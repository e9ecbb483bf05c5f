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

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/domain"
)

type domainInitCommand struct {
	Schema    []string `help:"The schema to declare, or several, the main one first, after which the files and the schema of views are named." required:""`
	Accounts  string   `help:"The table of those whom rows belong to, such as users or companies; with its schema if that is none of these (auth.users). Default: a guess." placeholder:"TABLE"`
	Everybody bool     `help:"All users have all rows, as the staff of a company; with --accounts, those who have an account."`
	Dir       string   `default:"." help:"Folder for the files." type:"path"`
	AsIs      bool     `help:"Declare the tables themselves, which have row-level security and grants for Alfred, and print only the declaration."`
}

// Run writes two files for review: the declaration, and the SQL of its views.
func (c *domainInitCommand) Run(ctx context.Context, db program.AnyDatabase, console *program.Console) error {
	main := c.Schema[0]
	if c.AsIs && (len(c.Schema) > 1 || c.Everybody) {
		return errors.New("--as-is takes one schema, and no --everybody: only views bring tables of several into one, and give rows to all")
	}
	if c.AsIs {
		text, err := domain.Init(ctx, db, main)
		fmt.Fprint(console.Out, text)

		return err
	}
	text, err := domain.InitViews(ctx, db, domain.InitSource{Schemas: c.Schema, Accounts: c.Accounts, Everybody: c.Everybody})
	if err != nil {
		return err
	}
	file := main + ".yaml"
	decl, err := domain.Load(fstest.MapFS{file: {Data: []byte(text)}}, file)
	if err != nil {
		return fmt.Errorf("read what was written: %w", err)
	}
	sql, notes, err := domain.Views(ctx, db, decl)
	if err != nil {
		return err
	}

	return c.files(console, text, sql, notes)
}

func (c *domainInitCommand) files(console *program.Console, yaml, sql string, notes []string) error {
	decl, views := filepath.Join(c.Dir, c.Schema[0]+".yaml"), filepath.Join(c.Dir, c.Schema[0]+".sql")
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
  worker domain views %s > %s     writes the views anew, to be read
  worker migrate up                          if Alfred's own schema is not there yet
  worker domain attach %s   makes the views, or replaces them
  worker domain check --probe %s
`, decl, views, strings.Join(c.Schema, ", "), noteLines(notes), shellWord(decl), shellWord(views), shellWord(decl), shellWord(decl))

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

// load reads the declaration, which has to be one of views.
func (d *declared) load(e settings.Env) (*domain.Declaration, error) {
	files, file := domain.Find(cmp.Or(d.Domain, settings.Domain(e)))
	decl, err := domain.Load(files, file)
	if err == nil && decl.Source.Schema == nil {
		err = fmt.Errorf("%s has no source: it takes tables as they are, and there are no views", file)
	}

	return decl, err
}

// views reads the declaration, and writes the SQL of its views.
func (d *declared) views(ctx context.Context, e settings.Env, db program.AnyDatabase) (decl *domain.Declaration, sql string, notes []string, err error) {
	if decl, err = d.load(e); err == nil {
		sql, notes, err = domain.Views(ctx, db, decl)
	}

	return decl, sql, notes, err
}

type domainViewsCommand struct{ declared }

// Run prints the SQL; notes go to stderr.
func (c *domainViewsCommand) Run(ctx context.Context, e settings.Env, db program.AnyDatabase, console *program.Console) error {
	_, sql, notes, err := c.views(ctx, e, db)
	fmt.Fprint(console.Errs, noteLines(notes))
	fmt.Fprint(console.Out, sql)

	return err
}

type domainAttachCommand struct{ declared }

// Run replaces the views, in one transaction.
func (c *domainAttachCommand) Run(ctx context.Context, e settings.Env, db program.AnyDatabase, console *program.Console) error {
	decl, sql, notes, err := c.views(ctx, e, db)
	if err != nil {
		return err
	}
	if err := domain.Attach(ctx, db, decl, sql); err != nil {
		return err
	}
	fmt.Fprint(console.Out, noteLines(notes)+"Attached "+decl.Schema+". Next, test that users are kept apart: worker domain check --probe\n")

	return nil
}

type domainDetachCommand struct{ declared }

// Run drops the views and keeps the mapping of users to accounts.
func (c *domainDetachCommand) Run(ctx context.Context, e settings.Env, db program.AnyDatabase, console *program.Console) error {
	return c.change(ctx, e, db, console, domain.Detach, "Detached %s. Change the tables, then: worker domain attach\n")
}

type domainDropCommand struct {
	declared

	Yes bool `help:"Confirm: the map from users to accounts is lost."`
}

// Run drops everything that was created.
func (c *domainDropCommand) Run(ctx context.Context, e settings.Env, db program.AnyDatabase, console *program.Console) error {
	if !c.Yes {
		return errors.New("this loses which user is which account; say --yes")
	}

	return c.change(ctx, e, db, console, domain.Drop, "Dropped %s: its views, functions, grants and role are gone.\n")
}

func (d *declared) change(ctx context.Context, e settings.Env, db program.AnyDatabase, console *program.Console, change func(context.Context, domain.DB, *domain.Declaration) error, text string) error {
	decl, err := d.load(e)
	if err == nil {
		err = change(ctx, db, decl)
	}
	if err == nil {
		fmt.Fprintf(console.Out, text, decl.Schema)
	}

	return err
}
