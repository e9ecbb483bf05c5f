package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/nodes"
)

// The tools a model is offered and those the data tools accept are defined in two packages that must not know each
// other.
func TestOfferedToolsAreAccepted(t *testing.T) {
	t.Parallel()
	for _, stepType := range []string{"read", "analyze", "generate", "write", "unknown"} {
		offered := nodes.DataTools(stepType)
		require.ElementsMatch(t, crud.StepTools(stepType), offered, stepType)
	}
}
