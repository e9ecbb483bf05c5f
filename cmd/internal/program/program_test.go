package program_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"

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

// A number or a time outside a flag's bounds is refused before the command runs.
func TestBounds(t *testing.T) {
	t.Parallel()

	for args, want := range map[string]string{
		"--conns=0":     "--conns is 0; use 1 or more",
		"--conns=-1":    "--conns is -1; use 1 or more",
		"--grace=-1s":   "--grace is -1s; use 0s or more",
		"--share=1.5":   "--share is 1.5; use 0 to 1",
		"--share=NaN":   "--share is NaN; use 0 to 1",
		"--grace=90m":   "",
		"--wait=1s":     "",
		"--wait=-1s":    "--wait is -1s; use 0s or more",
		"--conns=1":     "",
		"--share=0.125": "",
		"--name=":       "--name has 0 characters; use 1 to 3",
		"--name=äöüß":   "--name has 4 characters; use 1 to 3",
		"--name= a":     "spaces around it",
		"--name=äöü":    "",
		"--note=abc":    "--note has 3 characters; use at most 2",
		"--note=":       "",
	} {
		var out bytes.Buffer
		err := program.Run(t.Context(), program.CommandLine{Name: "bounded", Commands: new(bounded)}, []string{"go", args}, settings.Env{}, &out, &out)
		if want == "" {
			require.NoError(t, err, args)
		} else {
			require.ErrorIs(t, err, settings.ErrBad)
			require.ErrorContains(t, err, want)
		}
	}
}

type bounded struct {
	Go struct {
		noop

		Conns int32          `default:"2" min:"1"`
		Grace time.Duration  `default:"1s" min:"0s"`
		Share float64        `default:"1" max:"1" min:"0"`
		Wait  *time.Duration `min:"0s"`

		Name program.UserName `default:"x" max:"3" min:"1"`
		Note string           `max:"2"`
	} `cmd:""`
}
