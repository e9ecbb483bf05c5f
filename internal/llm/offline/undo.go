package offline

import (
	"regexp"
	"slices"
	"strconv"

	"alfred/internal/vocab"
	"alfred/nodes"
)

// undoWords matches requests to undo the last changes. If a row is named as well, it is a different request.
var undoWords = regexp.MustCompile(`(?i)^(?:no,? )?(?:undo|revert|take (?:it|that|this) back|take back|bring (?:it|that|them|those) back)(?: (?:it|that|this|the last (?:one|change|turn)|what you did))?(?: (?:in )?turn (\d{1,9}))?$`)

var redoWords = regexp.MustCompile(`(?i)^redo(?: (?:it|that|this))?$`)

// wantsUndone is the undo that a message requests, nil for other messages.
func wantsUndone(message string) *nodes.UndoRequest {
	said := undoWords.FindStringSubmatch(bare(message))
	if said == nil {
		return nil
	}
	turn, _ := strconv.Atoi(said[1])

	return &nodes.UndoRequest{Turn: turn}
}

// undo is the undo that the current message requests. After a turn that only changed a draft
// there is nothing to take back: no earlier turn is meant.
func (s *scene) undo() *nodes.UndoRequest {
	asked, n := wantsUndone(s.Message), len(s.Said)
	switch {
	case n == 0:
	case redoWords.MatchString(bare(s.Message)):
		return &nodes.UndoRequest{Redo: true}
	case asked != nil && asked.Turn == 0 && s.onlyDrafted(s.Said[n-1].Turn):
		return nil
	}

	return asked
}

// onlyDrafted reports whether a turn wrote drafts and nothing else.
func (s *scene) onlyDrafted(turn int) bool {
	done := filtered(s.Results, func(r nodes.Result) bool { return r.Turn == turn && r.ErrorCode == "" })
	return slices.ContainsFunc(done, func(r nodes.Result) bool { return r.Tool == vocab.ToolGenerate }) &&
		!slices.ContainsFunc(done, func(r nodes.Result) bool { return vocab.Writes(r.Tool) })
}
