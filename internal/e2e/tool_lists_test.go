package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/crud"
	"alfred/nodes"
)

// What a model is offered and what the data tools take are decided in two
// packages that must not know each other.
func TestOfferedToolsAreThoseThatAreTaken(t *testing.T) {
	t.Parallel()
	for _, stepType := range []string{"read", "analyze", "generate", "write", "unknown"} {
		offered := nodes.DataTools(stepType)
		require.ElementsMatch(t, crud.StepTools(stepType), offered, stepType)
	}
}
