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

// npmInstall installs the clients in clients/package-lock.json, once per state of it.
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
	// Create it elsewhere and rename, so that another process finds it complete or not at all.
	aside, err := os.MkdirTemp(filepath.Dir(dir), "new")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(aside)
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

// needNode skips the test without node; with CI set it fails.
func needNode(t *testing.T) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal("no " + program + " on this machine")
			}
			t.Skip("no " + program + " on this machine: install Node.js to test the clients")
		}
	}
}

// play runs a script of clients/ against the house as the user, with the official clients available, and decodes its
// output.
func (p *person) play(script string, into any) {
	p.t.Helper()
	needNode(p.t)
	dir, err := npmInstall()
	require.NoError(p.t, err)
	p.playIn(dir, script, into)
}

// playIn is play with the packages installed in a folder.
func (p *person) playIn(dir, script string, into any) {
	p.t.Helper()
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

// readThenChat is the conversation of the clients' scripts.
const readThenChat = `
turns:
  - understand: {intent: read}
    think: {goal: Look, decision: plan, steps: [{type: read, subdomain: recipes, description: Read the recipes}]}
    act: {calls: [{tool: db_read, args: {table: recipes}}, {tool: step_complete, args: {summary: read}}]}
    reply: You have three of them.` + chat

// OpenAI's own JavaScript client finds what it expects.
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

// Our own client: packed, installed elsewhere and used like any package; its types match the API, and its streams
// resume after a broken connection.
func TestY16TypeScriptClient(t *testing.T) {
	t.Parallel()
	needNode(t)
	p := scripted(t, readThenChat).resident("ada")
	dir := t.TempDir()
	npm := func(in string, args ...string) {
		command := exec.CommandContext(t.Context(), "npm", args...)
		command.Dir = in
		out, err := command.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	npm(filepath.Join("..", "..", "client", "typescript"), "pack", "--ignore-scripts", "--pack-destination", dir)
	packed, err := filepath.Glob(filepath.Join(dir, "alfred-client-*.tgz"))
	require.NoError(t, err)
	require.Len(t, packed, 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type": "module", "private": true}`), 0o600))
	npm(dir, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", packed[0])
	var got struct {
		Reply, Code, Streamed, Told string
		Kinds                       []string
		Connections, Turns          int
	}
	p.playIn(dir, "alfred.mjs", &got)
	require.Equal(t, "You have three of them.", got.Reply)
	require.Equal(t, "Sure.", got.Streamed)
	require.Equal(t, "not_found", got.Code)
	require.Equal(t, 2, got.Turns, "a message under one key arrives once")
	require.Greater(t, got.Connections, 2, "each was cut after an event")
	require.Equal(t, "turn.finished", got.Kinds[len(got.Kinds)-1])
	seen := map[string]bool{}
	for _, kind := range got.Kinds {
		require.False(t, seen[kind] && kind != "node.started" && kind != "node.finished", "%s twice: %v", kind, got.Kinds)
		seen[kind] = true
	}
	if tsc := filepath.Join("..", "..", "client", "typescript", "node_modules", ".bin", "tsc"); exists(tsc) {
		source, err := os.ReadFile(filepath.Join("clients", "alfred.ts"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "use.ts"), source, 0o600))
		out, err := exec.CommandContext(t.Context(), tsc, "--noEmit", "--strict", "--skipLibCheck", "--target", "es2024", "--module", "nodenext", filepath.Join(dir, "use.ts")).CombinedOutput()
		require.NoError(t, err, string(out))
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)

	return err == nil
}
