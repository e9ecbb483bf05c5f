package offline

import (
	"regexp"
	"strconv"
	"strings"

	"alfred/nodes"
)

// undoWords matches requests to undo the last changes. If a row is named as well, it is a different request.
var undoWords = regexp.MustCompile(`^(?:please |can you |could you |no,? )*(?:undo|revert|take (?:it|that|this) back|take back)(?: (?:it|that|this|the last (?:one|change|turn)|what you did))?(?: (?:in )?turn (\d+))?(?: please)?[.!?]*$`)

// wantsUndone is the undo that the message requests, nil for other messages.
func wantsUndone(text string) *nodes.UndoRequest {
	found := undoWords.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if found == nil {
		return nil
	}
	turn, err := strconv.Atoi(found[1])
	if err != nil {
		turn = 0
	}

	return &nodes.UndoRequest{Turn: turn}
}
