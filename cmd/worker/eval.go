package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/domain"
	"alfred/internal/eval"
	"alfred/internal/llm/provider"
	"alfred/internal/recall"
	"alfred/internal/vocab"
	"alfred/jobs"
)

type evalCommand struct {
	Case evalCaseCommand `cmd:"" help:"Print a suite made from a session: its initial rows, its messages, and its outcome as the expectation."`
	Run  evalRunCommand  `cmd:"" default:"withargs" help:"Run a suite."`
}

type evalRunCommand struct {
	Suite    string        `arg:"" help:"A built-in suite (kitchen, shop), or a YAML file."`
	Model    string        `help:"offline, script (the cases' own answers), or PROVIDER:MODEL. Default: the configured model."`
	Against  string        `help:"A second model to compare with, or the JSON report of an earlier run."`
	Domain   string        `help:"Use another declaration of the suite's tables."`
	Prompts  string        `help:"A folder of prompts, named as in nodes/prompts; missing ones are built in." placeholder:"DIR"`
	User     string        `help:"The model that plays users; without one, the cases' written messages are sent."`
	Judge    string        `help:"The model that judges by rubrics; without one, rubrics are skipped."`
	Trials   int           `default:"1"   min:"1"  help:"Trials per case."`
	Parallel int           `default:"2"   min:"1"  help:"Concurrent trials."`
	Timeout  time.Duration `default:"10m" min:"1s" help:"Time limit of a trial."`
	Only     string        `help:"Only cases whose name matches this pattern."`
	AtLeast  float64       `default:"1"   min:"0"  max:"1" help:"The share of trials (pass^1) that must pass for exit status 0."`
	JSON     bool          `help:"Print the report as JSON."`
	Report   string        `help:"Also write the JSON report to this file."                                                placeholder:"FILE"`
	JUnit    string        `help:"Also write a JUnit report to this file." name:"junit"                             placeholder:"FILE"`
	HTML     string        `help:"Also write an HTML page with the timelines and prompts of failed trials." name:"html" placeholder:"FILE"`
}

// suiteStatus is the exit status for a suite that could not be run at all.
const suiteStatus = 2

var errWorse = errors.New("not good enough")

// Help explains the exit status.
func (c *evalRunCommand) Help() string {
	return "Exit status: 0 if enough trials passed (--at-least), and no smaller share than in the run compared with; 1 if not, or if a case could not be run; 2 if the suite could not be run.\n" +
		settings.Help(settings.Worker)
}

// Run runs the suite, with the second model too, and prints the results.
func (c *evalRunCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	report, err := c.try(ctx, e, console)
	if err != nil {
		return &program.StatusError{Status: suiteStatus, Err: err}
	}
	if err := c.write(console.Out, report); err != nil {
		return &program.StatusError{Status: suiteStatus, Err: err}
	}
	if fault := report.Verdict(c.AtLeast); fault != "" {
		return fmt.Errorf("%w: %s", errWorse, fault)
	}

	return nil
}

func (c *evalRunCommand) try(ctx context.Context, e settings.Env, console *program.Console) (*eval.Report, error) {
	s, err := settings.Parse(e, settings.Worker)
	if err != nil {
		return nil, err
	}
	if s.Windows.Prompts, err = openPrompts(c.Prompts); err != nil {
		return nil, err
	}
	suite, err := eval.Load(c.Suite)
	if err != nil {
		return nil, err
	}
	if c.Domain != "" {
		suite.Use(c.Domain)
	}
	lab, err := c.lab(s, console)
	if err != nil {
		return nil, err
	}
	model := cmp.Or(c.Model, modelName(s))
	report := &eval.Report{}
	if report.Other, err = c.earlier(); err != nil {
		return nil, err
	}
	if report.Run, err = lab.Run(ctx, suite, model); err != nil {
		return nil, err
	}
	if report.Other == nil && c.Against != "" {
		report.Other, err = lab.Run(ctx, suite, c.Against)
	}

	return report, err
}

// earlier is the run to compare with, read from a report.
func (c *evalRunCommand) earlier() (*eval.Run, error) {
	if !strings.HasSuffix(c.Against, ".json") {
		return nil, nil
	}
	text, err := os.ReadFile(c.Against)
	if err != nil {
		return nil, fmt.Errorf("compare with an earlier run: %w", err)
	}

	return eval.ReadReport(text)
}

// lab runs suites with the configured worker.
func (c *evalRunCommand) lab(s *settings.Settings, console *program.Console) (*eval.Lab, error) {
	lab := &eval.Lab{
		Address: s.DatabaseURL, Trials: c.Trials, Parallel: c.Parallel, Timeout: c.Timeout, Only: c.Only, Worker: evalWorker(s),
		Progress: func(name string, trial int, result *eval.Trial) {
			if c.Trials > 1 {
				name = fmt.Sprintf("%s (%d)", name, trial)
			}
			fmt.Fprintf(console.Errs, "%s %s\n", result.Outcome, name)
		},
	}
	var err error
	if lab.Person, err = asked(s, c.User); err != nil {
		return nil, err
	}
	lab.Judge, err = asked(s, c.Judge)

	return lab, err
}

// evalWorker builds a worker like worker run, except for the model and the shutdown grace.
func evalWorker(s *settings.Settings) func(context.Context, *pgxpool.Pool, *domain.Domain, string) (jobs.Config, *recall.Index, error) {
	return func(_ context.Context, pool *pgxpool.Pool, bound *domain.Domain, model string) (jobs.Config, *recall.Index, error) {
		own := *s
		own.Model = modelOf(s, model)
		own.Limits = jobs.Limits{}

		return (&runCommand{Grace: time.Second}).configOf(&own, pool, bound, slog.New(slog.DiscardHandler))
	}
}

// asked opens a model that plays a user or judges; nil if none is named.
func asked(s *settings.Settings, name string) (*eval.Asked, error) {
	if name == "" {
		return nil, nil
	}
	config := modelOf(s, name)
	if config.Name == provider.Offline {
		return nil, fmt.Errorf("%s can neither play a person nor judge: name a model of a provider", name)
	}
	models, err := provider.New(&config)
	if err != nil {
		return nil, fmt.Errorf("choose a model: %w", err)
	}

	return &eval.Asked{Model: models[vocab.NodeReply], Prices: s.Prices}, nil
}

// modelOf is the configuration with another model: a provider's name, PROVIDER:MODEL, or a model of the configured
// provider. script is the offline model, except in cases that have a script.
func modelOf(s *settings.Settings, name string) provider.Config {
	config := s.Model
	if name == modelName(s) {
		return config
	}
	config.Fallback, config.Models = nil, nil
	who, model, _ := strings.Cut(name, ":")
	switch {
	case who == provider.Script:
		config.Name, config.Model = provider.Offline, ""
	case slices.Contains([]string{provider.Anthropic, provider.Gemini, provider.Offline, provider.OpenAI}, who):
		config.Name, config.Model = who, model
	default:
		config.Model = name
	}

	return config
}

// modelName is the configured model's name in a report.
func modelName(s *settings.Settings) string {
	name := cmp.Or(s.Model.Name, provider.Offline)
	if s.Model.Model != "" {
		name += ":" + s.Model.Model
	}

	return name
}

// write prints the report and writes the requested files.
func (c *evalRunCommand) write(out io.Writer, report *eval.Report) error {
	for _, one := range []struct {
		file  string
		write func(io.Writer) error
	}{{c.Report, report.JSON}, {c.JUnit, report.JUnit}, {c.HTML, report.HTML}} {
		if one.file == "" {
			continue
		}
		if err := writeFile(one.file, one.write); err != nil {
			return err
		}
	}
	if c.JSON {
		return report.JSON(out)
	}

	return report.Text(out)
}

func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}

	return errors.Join(write(file), file.Close())
}

type evalCaseCommand struct {
	Session uuid.UUID `arg:"" help:"The session's id."`
}

// Run prints the suite; what could not be reconstructed is printed as messages.
func (c *evalCaseCommand) Run(ctx context.Context, e settings.Env, pool *pgxpool.Pool, console *program.Console) error {
	src, _, err := openSource(ctx, pool, settings.Domain(e))
	if err != nil {
		return err
	}
	suite, notes, err := eval.FromSession(ctx, src, c.Session)
	if err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintln(console.Errs, "note:", note)
	}

	return suite.YAML(console.Out)
}

// openSource binds a domain, by name or path, to a conversation's database.
func openSource(ctx context.Context, pool *pgxpool.Pool, nameOrPath string) (*eval.Source, *domain.Declaration, error) {
	decl, err := domain.Load(domain.Find(nameOrPath))
	if err != nil {
		return nil, nil, err
	}
	bound, err := domain.Bind(ctx, pool, decl)
	if err != nil {
		return nil, nil, err
	}

	return &eval.Source{Pool: pool, Bound: bound, Domain: nameOrPath, Viewed: decl.Source.Schema != nil}, decl, nil
}
