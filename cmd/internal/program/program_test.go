package program_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
)

type sample struct {
	Bake struct {
		Cake, Bread noop `cmd:""`
	} `cmd:"" help:"Bake."`
	Completion program.Completion `cmd:"" help:"Complete."`
	Wash       noop               `cmd:"" help:"Wash."`
}

type noop struct {
	Twice bool `help:"Twice."`
}

// Run does nothing.
func (n *noop) Run() error { return nil }

func printed(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, program.Run(t.Context(), program.CommandLine{Name: "sample", Commands: new(sample)}, args, settings.Env{}, &out, &out))

	return out.String()
}

// Y18: a program that is called without a word says what it can do, as with --help.
func TestY18CalledAlone(t *testing.T) {
	t.Parallel()

	require.Contains(t, printed(t), "wash")
	require.Equal(t, printed(t, "--help"), printed(t))
}

// Y18: a shell completes commands and flags, down to where the line is.
func TestY18Completion(t *testing.T) {
	t.Parallel()

	script := printed(t, "completion", "bash")
	require.True(t, strings.HasPrefix(printed(t, "completion", "zsh"), "autoload"))
	for line, want := range map[string]string{
		"sample ":             "bake completion wash --help",
		"sample ba":           "bake",
		"sample bake ":        "cake bread --help",
		"sample bake cake --": "--help --twice",
		"sample wash --tw":    "--twice",
	} {
		words := strings.Split(line, " ")
		ask := script + "\nCOMP_WORDS=('" + strings.Join(words, "' '") + "'); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sample; echo ${COMPREPLY[@]}"
		out, err := exec.CommandContext(t.Context(), "bash", "-c", ask).CombinedOutput()
		require.NoError(t, err, string(out))
		require.ElementsMatch(t, strings.Fields(want), strings.Fields(string(out)), line)
	}
}
