package anthropic_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"alfred/llm"
	"alfred/llm/anthropic"
	"alfred/llm/wiretest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestModel_Conforms(t *testing.T) {
	t.Parallel()
	wiretest.Conform(t, wiretest.Anthropic, open)
}

func open(t testing.TB, server *wiretest.Server, key string) llm.Model {
	t.Helper()
	model, err := anthropic.New(&anthropic.Config{APIKey: key, BaseURL: server.BaseURL, HTTPClient: server.Client(), Model: "test-model"})
	require.NoError(t, err)
	return model
}
