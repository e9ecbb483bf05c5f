package offline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"alfred/internal/vocab"
	"alfred/nodes"
)

// undoWords matches requests to undo the last changes. If a row is named as well, it is a different request.
var undoWords = regexp.MustCompile(`^(?:please |can you |could you |no,? )*(?:undo|revert|take (?:it|that|this) back|take back)(?: (?:it|that|this|the last (?:one|change|turn)|what you did))?(?: (?:in )?turn (\d{1,9}))?(?: please)?[.!?]*$`)

var redoWords = regexp.MustCompile(`(?i)^redo(?: (?:it|that|this))?$`)

// undo is the undo that the message requests, nil for other messages. To redo is to undo the undo before it. A turn that only
// changed a draft has nothing to take back, and no turn before it is meant.
func (s *scene) undo(text string) *nodes.UndoRequest {
	asked := wantsUndone(text)
	n := len(s.Said)
	switch {
	case n == 0:
	case redoWords.MatchString(text) && wantsUndone(bare(s.Said[n-1].Message)) != nil:
		return &nodes.UndoRequest{Turn: s.Said[n-1].Turn}
	case asked != nil && asked.Turn == 0 && s.drafting(s.Said[n-1].Turn):
		return nil
	}

	return asked
}

// drafting reports whether a turn wrote drafts and nothing else.
func (s *scene) drafting(turn int) bool {
	did := func(fits func(nodes.Result) bool) bool {
		return slices.ContainsFunc(s.Results, func(r nodes.Result) bool { return r.Turn == turn && r.ErrorCode == "" && fits(r) })
	}

	return did(func(r nodes.Result) bool { return r.Tool == vocab.ToolGenerate }) && !did(func(r nodes.Result) bool { return vocab.Writes(r.Tool) })
}

// wantsUndone is the undo that the message requests, nil for other messages.
func wantsUndone(text string) *nodes.UndoRequest {
	found := undoWords.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if found == nil {
		return nil
	}
	turn, _ := strconv.Atoi(found[1])

	return &nodes.UndoRequest{Turn: turn}
}
