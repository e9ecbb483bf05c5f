package say

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/db"
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
