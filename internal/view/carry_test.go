package view_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/view"
)

// A text for older turns may be committed after a turn was loaded and still count as from before it: whoever carries the
// turn does without it.
func TestTextsCommittedLateAreNoDifference(t *testing.T) {
	t.Parallel()

	carried, loaded := &view.View{Turn: &db.Turns{}}, &view.View{Turn: &db.Turns{}}
	require.Empty(t, carried.Diff(loaded))

	loaded.Earlier = map[string]*db.HistorySummaryListNewestRow{"conversation": {Kind: "conversation", FromTurn: 1, ToTurn: 4, Text: "earlier turns"}}
	require.Empty(t, carried.Diff(loaded))

	loaded.Earlier = nil
	loaded.Turn.Position = 2
	require.Contains(t, carried.Diff(loaded), "turn: ")
}
