package clean_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/clean"
)

func TestValuesForPeople(t *testing.T) {
	t.Parallel()

	for want, value := range map[string]any{
		"a, , yes": []any{"a", nil, true},
		`{"a":1}`:  map[string]any{"a": 1},
		"":         nil,
	} {
		require.Equal(t, want, clean.Value(value))
	}
}
