package main

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
	"alfred/internal/llm/wiretest"
)

func TestDoctorAsksTheModels(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	url, _ := database(t)
	reply := wiretest.Reply{Status: http.StatusUnauthorized, Message: "Incorrect API key provided"}
	server := wiretest.Start(t, wiretest.OpenAI, func(context.Context, *wiretest.Call) wiretest.Reply { return reply })
	ask := func(e settings.Env) string {
		e["DATABASE_URL"] = url
		out, err := worker(t, e, "doctor")
		require.ErrorIs(t, err, program.ErrUnwell)

		return out
	}
	remote := func(key string) settings.Env {
		return settings.Env{"ALFRED_LLM": "openai", "OPENAI_API_KEY": key, "OPENAI_BASE_URL": server.BaseURL}
	}
	out := ask(remote("sk-secret"))
	require.Contains(t, out, "FAIL models     openai: auth: status 401")
	require.NotContains(t, out, "sk-secret")
	reply = wiretest.Reply{Text: "ok"}
	require.Contains(t, ask(remote(wiretest.Key)), "ok   models     openai answers with its default model")
	out = ask(settings.Env{
		"ALFRED_FALLBACK_LLM": "openai", "ALFRED_EMBEDDER": "openai", "OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": server.BaseURL,
	})
	require.Contains(t, out, "ok   models     offline")
	require.Contains(t, out, "FAIL fallback   openai: auth: status 401")
	require.Contains(t, out, "FAIL embedder   openai: auth: status 401; searches go by words alone. text-embedding-3-small has vectors of 0 of about")
	out = ask(settings.Env{"ALFRED_LLM": "anthropic"})
	require.Contains(t, out, "no API key")
	require.Regexp(t, `ok   embedder   lexical-2 has vectors of 0 of about \d+ texts; a running worker makes the others`, out)
}

// Where every role may create functions and operators, as in databases older than Postgres 15, one could have Alfred's
// owner run its own.
func TestDoctorNamesASchemaOpenToAll(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	url, pool := database(t)
	examined := func() string {
		out, err := worker(t, settings.Env{"DATABASE_URL": url}, "doctor")
		require.ErrorIs(t, err, program.ErrUnwell) // there is no worker

		return out
	}
	require.Contains(t, examined(), "ok   strangers")
	_, err := pool.Exec(t.Context(), `GRANT CREATE ON SCHEMA public TO PUBLIC`)
	require.NoError(t, err)
	require.Contains(t, examined(), "FAIL strangers  any role may create functions in public, which Alfred's SQL would call: REVOKE CREATE ON SCHEMA public FROM PUBLIC")
}

func TestDoctorShowsTheSettings(t *testing.T) {
	t.Parallel()

	out := mustWork(t, settings.Env{"DATABASE_URL": "postgres://a:hunter2@h/db", "ALFRED_LMM": "x"}, "doctor", "--config")
	require.Regexp(t, `(?m)^ALFRED_LLM +offline +offline +the provider of models`, out)
	require.Regexp(t, `(?m)^ALFRED_LMM +no setting`, out)
	require.NotContains(t, out, "hunter2")
	require.NotContains(t, out, "ALFRED_ADDR", "the API's")
	out = mustWork(t, settings.Env{}, "doctor", "--config", "--json")
	require.True(t, json.Valid([]byte(out)))
}

// What a server refuses is printed by node; success is reported with the model's name.
func TestDoctorTriesEveryNode(t *testing.T) {
	t.Parallel()

	server := wiretest.Start(t, wiretest.OpenAI, func(_ context.Context, call *wiretest.Call) wiretest.Reply {
		switch {
		case call.Temperature != nil:
			return wiretest.Reply{Status: http.StatusBadRequest, Message: "Unsupported value: 'temperature' does not support 0.2 with this model."}
		case len(call.Tools) > 0:
			return wiretest.Reply{Status: http.StatusBadRequest, Message: "this-model does not support tools"}
		case call.Stream:
			return wiretest.Reply{Text: "Milk is on your list."}
		case call.SchemaName == "": // a server that has cut off the prompt's beginning
			return wiretest.Reply{Text: "I know of no password."}
		}

		return wiretest.Reply{Text: map[string]string{
			"understand": `{"intent": "write", "think": {"goal": "g", "decision": "plan", "steps": []}}`, "think": `{"goal": "g", "decision": "plan", "steps": []}`, "summarize": `{"response_summary": "s"}`, "compress": `{"text": "t"}`,
		}[call.SchemaName]}
	})
	out, err := worker(t, settings.Env{"ALFRED_LLM": "openai", "OPENAI_API_KEY": wiretest.Key, "OPENAI_BASE_URL": server.BaseURL}, "doctor", "--model")
	require.ErrorIs(t, err, program.ErrUnwell)
	for _, node := range []string{"understand", "think", "reply", "summarize", "compress"} {
		require.Regexp(t, `(?m)^ok +`+node+` .*answers, in \d+ ms; refused, and left out from then on: .*temperature`, out)
	}
	require.Regexp(t, `(?m)^ok +understand and think in one .*answers`, out)
	for _, step := range []string{"read", "analyze", "generate", "write"} {
		require.Regexp(t, `(?m)^FAIL +act, `+step+` .*does not support tools`, out)
	}
	require.Regexp(t, `(?m)^FAIL +a prompt of 8,000 tokens .*OLLAMA_CONTEXT_LENGTH`, out)
	require.Empty(t, server.Refusals(), "by OpenAI's own rules")
}
