package dbtest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// K13: a server whose package was upgraded while running can no longer load libraries. The script notices and restarts
// it.
func TestK13AnUpgradedServerIsStartedAgain(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	config, err := exec.LookPath("pg_config")
	if err != nil {
		t.Skip("no server is installed here")
	}

	root, bin := openDir(t), openDir(t)
	require.NoError(t, os.CopyFS(filepath.Join(root, "scripts"), os.DirFS(filepath.Join("..", "..", "scripts"))))
	version := standIn(t, config, bin)
	script := func(args ...string) string {
		command := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(root, "scripts", "postgres"), args...)
		command.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TEST_DATABASE_URL=", "DATABASE_URL=", "XDG_STATE_HOME="+root)
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s", out)

		return string(out)
	}
	t.Cleanup(func() { script("stop", "test") })

	require.Contains(t, script("test-url"), "private cluster runs")
	require.NotContains(t, script("test-url"), "starting it again")
	require.NoError(t, os.WriteFile(filepath.Join(bin, "version"), []byte(strings.TrimSpace(version)+" upgraded"), 0o600))
	out := script("test-url")
	require.Contains(t, out, "starting it again")
	require.Contains(t, out, "private cluster runs")
}

// openDir is a folder that the server's user can also read.
func openDir(t *testing.T) string {
	t.Helper()

	dir, err := os.MkdirTemp("", "alfred-script-") //nolint:usetesting // the server's user cannot enter a test's folder
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })

	return dir
}

// standIn fills a folder with stand-ins for the server's programs; postgres reports the version in a file.
func standIn(t *testing.T, config, bin string) string {
	t.Helper()

	tell := func(arg string) string {
		out, err := exec.CommandContext(t.Context(), config, arg).Output()
		require.NoError(t, err)

		return strings.TrimSpace(string(out))
	}
	installed := tell("--bindir")
	programs, err := os.ReadDir(installed)
	require.NoError(t, err)
	for _, program := range programs {
		if program.Name() != "postgres" && program.Name() != "pg_config" {
			require.NoError(t, os.Symlink(filepath.Join(installed, program.Name()), filepath.Join(bin, program.Name())))
		}
	}
	version, err := exec.CommandContext(t.Context(), filepath.Join(installed, "postgres"), "--version").Output()
	require.NoError(t, err)
	for name, text := range map[string]string{
		"version":   string(version),
		"postgres":  "#!/bin/sh\ncat '" + bin + "/version'\n",
		"pg_config": "#!/bin/sh\ncase $1 in --bindir) echo '" + bin + "' ;; *) exec '" + config + "' \"$@\" ;; esac\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755))
	}

	return string(version)
}
