package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/domain"
	"alfred/internal/eval"
	"alfred/nodes"
)

type sessionReplayCommand struct {
	ID      uuid.UUID `arg:"" help:"The session's id."`
	From    int       `default:"1" min:"1" help:"The first turn that the model answers; earlier turns keep their recorded answers."`
	Model   string    `help:"offline, PROVIDER:MODEL, or a model of the configured provider. Default: the configured model."`
	Domain  string    `help:"Use another declaration of the same tables."`
	Prompts string    `help:"A folder of prompts, named as in nodes/prompts; missing ones are built in." placeholder:"DIR"`
	JSON    bool      `help:"Print JSON."`
	HTML    string    `help:"Also write an HTML page." name:"html" placeholder:"FILE"`
	File    string    `help:"Record progress in this file, a line per turn; an interrupted replay resumes from it." placeholder:"FILE"`
}

// Run replays the session and prints the comparison.
func (c *sessionReplayCommand) Run(ctx context.Context, s *settings.Settings, pool *pgxpool.Pool, console *program.Console) error {
	var err error
	if s.Windows.Prompts, err = openPrompts(c.Prompts); err != nil {
		return err
	}
	plan := &eval.Replay{Session: c.ID, Model: cmp.Or(c.Model, modelName(s)), From: c.From, With: strings.TrimSpace(c.Domain + " " + c.Prompts)}
	var before *eval.Replay
	keep := func(*eval.ReplayedTurn) error { return nil }
	if c.File != "" {
		if before, keep, err = eval.ResumeReplay(c.File, plan); err != nil {
			return err
		}
	}
	src, decl, err := openSource(ctx, pool, s.Domain)
	if err != nil {
		return err
	}
	if !domain.BuiltIn(s.Domain) {
		src.Schema = func(ctx context.Context, snapshot string) (string, error) {
			return dumpSchema(ctx, s.DatabaseURL, snapshot, decl)
		}
	}
	lab := &eval.Lab{Address: s.DatabaseURL, Worker: evalWorker(s)}
	done, err := lab.Replay(ctx, src, c.ID, plan.Model, c.From, c.Domain, before, keep)
	if err != nil {
		return err
	}
	done.With = plan.With
	if c.HTML != "" {
		if err := writeFile(c.HTML, done.HTML); err != nil {
			return err
		}
	}

	return console.Answer(c.JSON, done, done.Text())
}

// openPrompts reads a folder of prompts; nil for "".
func openPrompts(dir string) (*nodes.Prompts, error) {
	if dir == "" {
		return nil, nil
	}
	prompts, err := nodes.OpenPrompts(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("read the prompts of %s: %w", dir, err)
	}

	return prompts, nil
}

// dumpTimeout is how long dumping a schema may take.
const dumpTimeout = 2 * time.Minute

// dumpSchema is the SQL of the owner's tables, functions and types, from pg_dump, as of a snapshot. The declaration's views
// are recreated separately.
func dumpSchema(ctx context.Context, url, snapshot string, decl *domain.Declaration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, dumpTimeout)
	defer cancel()
	args := []string{"--schema-only", "--snapshot=" + snapshot, "--no-publications", "--no-subscriptions", "--exclude-schema=alfred", "--exclude-schema=kitchen", "--dbname=" + url}
	if decl.Source.Schema != nil {
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
		// Skip psql's own commands, and the search path, which only the pool sets.
		if !bytes.HasPrefix(line, []byte(`\`)) && !bytes.Contains(line, []byte("set_config('search_path'")) {
			sql.Write(line)
		}
	}

	return sql.String(), nil
}
