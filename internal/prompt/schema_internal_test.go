package prompt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
)

// A generated column cannot be filled, but found and added up: an invoice's due day, a line's total.
func TestColumnsNameGeneratedOnes(t *testing.T) {
	t.Parallel()
	line := columnsLine(&domain.Entity{Table: "invoices", Columns: []*domain.Column{
		{Name: "issued_on", Kind: domain.KindDate}, {Name: "due_on", Kind: domain.KindDate, Generated: true, Derived: true}, {Name: "owner", Hidden: true},
	}})
	require.Equal(t, "- invoices: issued_on, due_on", line)
}
