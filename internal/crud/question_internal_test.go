package crud

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
)

// A long value is cut after ids are taken out of it: half an id is no longer known for one.
func TestAQuestionShowsNoPartOfAnID(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 70) + " 84a4786a-bbba-472e-98a5-15f3a9c0d7e1"
	require.NotContains(t, argumentWords(&domain.Column{Kind: domain.KindText}, text), "84a4")
	long := argumentWords(&domain.Column{Kind: domain.KindText}, strings.Repeat("many\nwords ", 20))
	require.Len(t, []rune(long), longestValue)
	require.Equal(t, "many words", argumentWords(&domain.Column{Kind: domain.KindText}, "many\u202e\x1b\nwords"))
	require.True(t, strings.HasPrefix(long, "many words many") && strings.HasSuffix(long, "…"), long)
}
