package jobs

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/vocab"
	"alfred/nodes"
)

// A look-up beside a yes is left out only if it has waited: one whose calls Act has to decide is like none that has.
func TestOnlyTheSameCallsHaveWaited(t *testing.T) {
	t.Parallel()

	look := func(calls ...string) nodes.Step {
		step := nodes.Step{Type: vocab.StepRead, Subdomain: "inventory"}
		for _, call := range calls {
			step.Calls = append(step.Calls, json.RawMessage(call))
		}

		return step
	}
	const milk, eggs = `{"tool": "db_read", "args": {"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "milk"}]}}`, `{"tool": "db_read", "args": {"table": "inventory"}}`
	require.True(t, callsWaited([]nodes.Step{look(eggs), look(milk)}, look(milk)))
	require.False(t, callsWaited([]nodes.Step{look(eggs)}, look(milk)))
	require.False(t, callsWaited([]nodes.Step{look()}, look(`{"tool": "none"}`)))
	require.False(t, callsWaited([]nodes.Step{look()}, look()))
}
