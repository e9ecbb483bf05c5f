package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// worker runs the program and returns what it printed.
func worker(t *testing.T, e settings.Env, args ...string) (string, error) {
	t.Helper()

	var out, errs bytes.Buffer
	err := run(t.Context(), args, e, &out, &errs)

	return out.String(), err
}

// mustWork is worker for what has to succeed.
func mustWork(t *testing.T, e settings.Env, args ...string) string {
	t.Helper()
	out, err := worker(t, e, args...)
	require.NoError(t, err, out)

	return out
}

func TestRunExplainsItself(t *testing.T) {
	t.Parallel()

	out := mustWork(t, settings.Env{}, "--help")
	require.Contains(t, out, "migrate up")

	_, err := worker(t, settings.Env{}, "fly")
	require.ErrorContains(t, err, "--help")

	_, err = worker(t, settings.Env{}, "migrate", "up")
	require.ErrorIs(t, err, settings.ErrNoDatabase)
}

// Y18: a variable that is named like a setting and is none does not go unnoticed.
func TestY18WarnsOfUnknownSettings(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithTimeout(t.Context(), dbtest.Patience)
	defer cancel()
	var out, errs bytes.Buffer
	e := settings.Env{"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none", "ALFRED_LMM": "openai"}
	require.Error(t, run(ctx, []string{"run"}, e, &out, &errs))
	require.Contains(t, out.String()+errs.String(), "variable=ALFRED_LMM")
}
