package say

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
)

// Whoever words a reply has to know what a template leaves out: the hour of a day, and who a shared row is. Only the
// canonical row of the row's own name goes without saying.
func TestLinesLeaveOutNothing(t *testing.T) {
	t.Parallel()
	template, err := domain.ParseTemplate("{at:Jan 2} {_patient_id_label}")
	require.NoError(t, err)
	shared := &domain.Entity{Type: "vet", Reference: true}
	column := func(name string, kind domain.Kind) *domain.Column { return &domain.Column{Name: name, Kind: kind} }
	vet, food := column("vet_id", domain.KindText), column("food_id", domain.KindText)
	vet.FK, food.FK = &domain.ForeignKey{Entity: shared}, &domain.ForeignKey{Entity: shared}
	def := &domain.Entity{
		Label: template, Display: template, Spoken: template, Key: column("id", domain.KindText), Match: &domain.Match{Link: food},
		Columns: []*domain.Column{column("at", domain.KindTimestamp), column("patient_id", domain.KindText), vet, food},
	}
	row := map[string]any{"at": "2026-11-26T08:00:00+00:00", "_patient_id_label": "Bello", "vet_id": "vet_1", "_vet_id_label": "Dr. Vogt", "food_id": "food_1", "_food_id_label": "oats"}
	require.Equal(t, "Nov 26 Bello at:2026-11-26T08:00:00+00:00 vet:Dr. Vogt", (&Teller{}).lineOf(def, row, forReply))
	require.Equal(t, "Nov 26 Bello, vet: Dr. Vogt", (&Teller{}).lineOf(def, row, forPerson))
}
