package offline

import (
	"regexp"
	"strconv"
	"strings"

	"alfred/nodes"
)

// undoWords are the ways of saying that what was done shall be taken back. A row named beside it is another wish.
var undoWords = regexp.MustCompile(`^(?:please |can you |could you |no,? )*(?:undo|revert|take (?:it|that|this) back|take back)(?: (?:it|that|this|the last (?:one|change|turn)|what you did))?(?: (?:in )?turn (\d+))?(?: please)?[.!?]*$`)

// wantsUndone is what the message wants taken back, nil for another message.
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
