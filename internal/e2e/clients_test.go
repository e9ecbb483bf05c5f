package e2e_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// npmInstall installs the clients of clients/package-lock.json, once per state of it.
var npmInstall = sync.OnceValues(func() (string, error) {
	lock, err := os.ReadFile("clients/package-lock.json")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(lock)
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "alfred-clients", hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return "", err
	}
	// Made aside and moved, so that another process finds it whole or not at all.
	aside, err := os.MkdirTemp(filepath.Dir(dir), "new")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(aside) //nolint:errcheck // a cache
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := os.ReadFile(filepath.Join("clients", name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(aside, name), data, 0o600); err != nil {
			return "", err
		}
	}
	install := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	install.Dir = aside
	if out, err := install.CombinedOutput(); err != nil {
		return "", &installError{string(out), err}
	}
	if err := os.Rename(aside, dir); err != nil && !os.IsExist(err) {
		if _, there := os.Stat(dir); there != nil {
			return "", err
		}
	}

	return dir, nil
})

type installError struct {
	out string
	err error
}

func (e *installError) Error() string { return "npm ci: " + e.err.Error() + "\n" + e.out }

// play runs a script of clients/ against the house as the person, and decodes
// what it printed. Without node the test is skipped, with CI set it fails.
func (p *person) play(script string, into any) {
	p.t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") != "" {
				p.t.Fatal("no " + program + " on this machine")
			}
			p.t.Skip("no " + program + " on this machine: install Node.js to test the official clients")
		}
	}
	dir, err := npmInstall()
	require.NoError(p.t, err)
	source, err := os.ReadFile(filepath.Join("clients", script))
	require.NoError(p.t, err)
	node := exec.CommandContext(p.t.Context(), "node", "--input-type=module", "-")
	node.Dir = dir // where imports are looked for
	node.Stdin = strings.NewReader(string(source))
	node.Env = append(os.Environ(), "ALFRED_API="+p.url, "ALFRED_KEY="+p.key)
	var errs strings.Builder
	node.Stderr = &errs
	out, err := node.Output()
	require.NoError(p.t, err, "%s\n%s", out, errs.String())
	require.NoError(p.t, json.Unmarshal(out, into), "%s", out)
}

// readThenChat is what the clients' scripts say.
const readThenChat = `
turns:
  - understand: {intent: read}
    think: {goal: Look, decision: plan, steps: [{type: read, subdomain: recipes, description: Read the recipes}]}
    act: {calls: [{tool: db_read, args: {table: recipes}}, {tool: step_complete, args: {summary: read}}]}
    reply: You have three of them.` + chat

// OpenAI's own client for JavaScript finds what it expects.
func TestOpenAIClient(t *testing.T) {
	t.Parallel()
	p := scripted(t, readThenChat).resident("ada")
	var got struct {
		Session, Reply, Finish string
		Models                 []string
		Usage                  map[string]any
		Streamed               struct {
			Text, Finish string
			Usage        map[string]any
		}
		Refused struct {
			Kind, Code, Param string
			Status            int
		}
	}
	p.play("openai.mjs", &got)
	require.Equal(t, "You have three of them.", got.Reply)
	require.Equal(t, "stop", got.Finish)
	require.Positive(t, got.Usage["total_tokens"])
	require.Equal(t, "Sure.", got.Streamed.Text)
	require.Equal(t, "stop", got.Streamed.Finish)
	require.Positive(t, got.Streamed.Usage["total_tokens"])
	require.Equal(t, "NotFoundError model_not_found model", got.Refused.Kind+" "+got.Refused.Code+" "+got.Refused.Param)
	require.Equal(t, []string{"alfred"}, got.Models)
	var turns string
	require.NoError(t, p.pool.QueryRow(t.Context(), `SELECT string_agg(message || ' ' || status, ', ' ORDER BY number) FROM turns WHERE session_id = $1`, got.Session).Scan(&turns))
	require.Equal(t, "Read my recipes succeeded, And now? succeeded", turns)
}

// AG-UI's own client, which checks events and their order itself.
func TestAGUIClient(t *testing.T) {
	t.Parallel()
	p := scripted(t, readThenChat).resident("ada")
	var got struct {
		Runs     [][]string
		Refused  string
		Messages []struct{ Role string }
		State    struct {
			SessionID string `json:"session_id"`
			Entities  []struct{ Ref, Type, Label, Tier string }
		}
	}
	p.play("agui.mjs", &got)
	require.Len(t, got.Runs, 2)
	require.Equal(t, "RUN_STARTED", got.Runs[0][0])
	require.Equal(t, "RUN_FINISHED", got.Runs[0][len(got.Runs[0])-1])
	for _, kind := range []string{
		"STEP_STARTED", "STEP_FINISHED", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT", "STATE_SNAPSHOT",
		"TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END",
	} {
		require.Contains(t, got.Runs[0], kind)
	}
	require.Contains(t, got.Refused, "401")
	require.Len(t, got.State.Entities, 3)
	require.Equal(t, "recipe_1", got.State.Entities[0].Ref)
	require.Equal(t, "assistant", got.Messages[len(got.Messages)-1].Role)
	var turns int
	require.NoError(t, p.pool.QueryRow(t.Context(), `SELECT count(*) FROM turns WHERE session_id = $1`, got.State.SessionID).Scan(&turns))
	require.Equal(t, 2, turns, "the run that was sent twice is one turn")
}
