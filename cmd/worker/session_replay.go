package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/domain"
	"alfred/eval"
)

type sessionReplayCommand struct {
	ID     uuid.UUID `arg:"" help:"The session's id."`
	From   int       `default:"1" help:"The first turn that the model answers; the turns before it have the answers of then."`
	Model  string    `help:"The model: offline, PROVIDER:MODEL, or a model of the configured provider. Default: that of the settings."`
	Domain string    `help:"Another declaration of the same tables."`
	JSON   bool      `help:"Print JSON."`
	File   string    `help:"A file that what is done is kept in; a replay that was interrupted goes on from it." placeholder:"FILE"`
}

// Run replays the session and prints the comparison.
func (c *sessionReplayCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	s, err := settings.Parse(e, settings.Worker)
	if err != nil {
		return err
	}
	before, err := c.before()
	if err != nil {
		return err
	}
	var done *eval.Replay
	if err := program.WithSchema(ctx, e, "alfred worker", func(pool *pgxpool.Pool) error {
		src, decl, err := openSource(ctx, pool, s.Domain)
		if err != nil {
			return err
		}
		if !domain.BuiltIn(s.Domain) {
			if src.Schema, err = dumpSchema(ctx, s.DatabaseURL, decl); err != nil {
				return err
			}
		}
		lab := &eval.Lab{Address: s.DatabaseURL, Worker: evalWorker(s)}
		done, err = lab.Replay(ctx, src, c.ID, cmp.Or(c.Model, modelName(s)), c.From, c.Domain, before, c.keep)

		return err
	}); err != nil {
		return err
	}
	if c.JSON {
		return program.PrintJSON(console.Out, done)
	}
	_, err = io.WriteString(console.Out, done.Text())

	return err
}

// before is what an interrupted run has kept, or nil.
func (c *sessionReplayCommand) before() (*eval.Replay, error) {
	text, err := os.ReadFile(c.File)
	if c.File == "" || errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	before := &eval.Replay{}
	if err == nil {
		err = json.Unmarshal(text, before)
	}
	if err != nil {
		return nil, fmt.Errorf("go on with a replay: %w", err)
	}

	return before, nil
}

// keep writes what is done beside the file, then in its place.
func (c *sessionReplayCommand) keep(done *eval.Replay) error {
	if c.File == "" {
		return nil
	}
	text, err := json.Marshal(done)
	if err == nil {
		err = os.WriteFile(c.File+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(c.File+".new", c.File)
	}
	if err != nil {
		return fmt.Errorf("keep what is done: %w", err)
	}

	return nil
}

// dumpTimeout is how long a schema may take to be written down.
const dumpTimeout = 2 * time.Minute

// dumpSchema is the SQL of the owner's tables, functions and types, from pg_dump. The views that the declaration makes are made anew.
func dumpSchema(ctx context.Context, url string, decl *domain.Declaration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, dumpTimeout)
	defer cancel()
	args := []string{"--schema-only", "--no-publications", "--no-subscriptions", "--exclude-schema=alfred", "--exclude-schema=kitchen", "--dbname=" + url}
	if decl.Source.Schema != "" {
		args = append(args, "--exclude-schema="+decl.Schema)
	}
	var out, errs bytes.Buffer
	command := exec.CommandContext(ctx, "pg_dump", args...)
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("write down the schema with pg_dump, which has to be installed and no older than the server: %w: %s", err, bytes.TrimSpace(errs.Bytes()))
	}
	var sql bytes.Buffer
	for line := range bytes.Lines(out.Bytes()) {
		// psql's own commands; and nothing says where names are looked up but the pool.
		if !bytes.HasPrefix(line, []byte(`\`)) && !bytes.Contains(line, []byte("set_config('search_path'")) {
			sql.Write(line)
		}
	}

	return sql.String(), nil
}
