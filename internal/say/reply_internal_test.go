package say

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/view"
)

// A step's description may be a sentence already, or a question that the user has approved.
func TestStepsThatAreNotDoneAreToldInSentences(t *testing.T) {
	t.Parallel()

	for description, want := range map[string]string{
		"Read the pantry":  "This did not work: Read the pantry.",
		"Read the pantry.": "This did not work: Read the pantry.",
		"Do what the user has approved: Delete 3 recipes?": "This did not work: Do what the user has approved: Delete 3 recipes?",
	} {
		failed := db.StepOutcomeFailed
		step := &db.TurnSteps{Description: description, Outcome: &failed}
		require.Equal(t, []string{want}, (&Teller{&view.Scene{View: &view.View{Steps: []*db.TurnSteps{step}}}}).stepTexts())
	}
}

// Rows of a list that would read alike say all that is short.
func TestRowsThatReadAlikeAreToldApart(t *testing.T) {
	t.Parallel()
	template, err := domain.ParseTemplate("{title}{?status:, {status}}")
	require.NoError(t, err)
	column := func(name string, references *domain.ForeignKey) *domain.Column {
		return &domain.Column{Name: name, Kind: domain.KindText, FK: references}
	}
	def := &domain.Entity{
		Label: template, Display: template, Spoken: template, Key: column("id", nil),
		Columns: []*domain.Column{column("title", nil), column("status", nil), column("flat_id", &domain.ForeignKey{Entity: &domain.Entity{Type: "flat"}}), column("by", nil)},
	}
	rows := map[string]*view.Row{}
	for ref, values := range map[string][]string{"job_1": {"Leak", "1A", "Ada"}, "job_2": {"Leak", "1B", "Eve"}, "job_3": {"Leak", "1B", "Bo"}, "job_4": {"Lift", "1B", "Bo"}, "job_5": {"Lift", "1B", "Bo"}} {
		rows[ref] = &view.Row{Kind: def, Ref: ref, Columns: map[string]any{"title": values[0], "status": "open", "flat_id": "flat_1", "_flat_id_label": values[1], "by": values[2]}}
	}
	teller := &Teller{&view.Scene{View: &view.View{}, Rows: &view.RowSet{ByRef: rows}}}
	require.Equal(t, []string{"- Leak, open; by: Ada; flat: 1A", "- Leak, open; by: Eve; flat: 1B", "- Leak, open; by: Bo; flat: 1B", "- Lift, open; by: Bo; flat: 1B", "- Lift, open; by: Bo; flat: 1B"},
		teller.rowTexts(&view.Effect{Result: &view.Result{TurnStepResultListWindowRow: &db.TurnStepResultListWindowRow{}}, Kind: def}, []string{"job_1", "job_2", "job_3", "job_4", "job_5"}))
}
