package exact_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/exact"
)

func TestDecodeKeepsNumbers(t *testing.T) {
	t.Parallel()

	var value any
	require.NoError(t, exact.Decode([]byte(`{"id": 12345678901234567890, "price": 29.90}`), &value))
	require.Equal(t, map[string]any{"id": json.Number("12345678901234567890"), "price": json.Number("29.90")}, value)
	require.ErrorIs(t, exact.Decode([]byte(`{} {}`), &value), exact.ErrMore)
	require.ErrorIs(t, exact.Decode([]byte(`1]`), &value), exact.ErrMore)
	require.Error(t, exact.Decode(nil, &value))
}

func TestStorable(t *testing.T) {
	t.Parallel()

	encoded, err := exact.Storable(map[string]any{
		"a\x00": "b\x00c", "raw": json.RawMessage(`{"q": "\u0000\ud800!", "n": 12345678901234567890}`), "list": []string{"\x00d"},
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"a": "bc", "raw": {"q": "\ufffd!", "n": 12345678901234567890}, "list": ["d"]}`, string(encoded))
	require.Contains(t, string(encoded), "12345678901234567890")
}

// Postgres writes out what an exponent leaves to imagine: 131,072 digits for eight characters.
func TestStorableKeepsVastNumbersShort(t *testing.T) {
	t.Parallel()

	encoded, err := exact.Storable(json.RawMessage(`{"vast": [1e131071, -2.5E+400, 1e-9999], "said": "\\\" 1e131071", "plain": [1e99, 6.02E+23, 1200]}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"vast": ["1e131071", "-2.5E+400", "1e-9999"], "said": "\\\" 1e131071", "plain": [1e99, 6.02E+23, 1200]}`, string(encoded))
	said := json.RawMessage(`"1e131071"`)
	encoded, err = exact.Storable(said)
	require.NoError(t, err)
	require.Equal(t, said, encoded)
}
