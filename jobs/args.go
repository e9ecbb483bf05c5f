package jobs

import (
	"github.com/google/uuid"

	"alfred/internal/vocab"
)

// The queues. Nobody waits for background work.
const (
	queueBackground = "background"
	queueTurns      = "turns"
)

// kindEmbed is the kind of the jobs that embed what a turn changed.
const kindEmbed = "embed"

const (
	// maxAttempts of a job; job_insert writes the same number.
	maxAttempts = 6

	// argsVersion is raised when the arguments change meaning, so that a worker of another version leaves the job to
	// one that knows it.
	argsVersion = 1
)

// TurnArgs are the arguments of every job of a turn: which decision it makes, or follows. A decision may commit only
// while the turn is still at Position.
type TurnArgs struct {
	Node     string    `json:"-"` // the job's kind: a node, or embed
	TurnID   uuid.UUID `json:"turn_id"`
	Position int       `json:"position"`
	Version  int       `json:"version"`
}

// next is what follows at the next position.
func (a TurnArgs) next(node string) TurnArgs {
	return TurnArgs{Node: node, TurnID: a.TurnID, Position: a.Position + 1, Version: argsVersion}
}

// Kind is the node's name, or embed.
func (a TurnArgs) Kind() string { return a.Node }

// CompressArgs request the compressed texts of a range of older turns: what was said, and what was done.
type CompressArgs struct {
	SessionID uuid.UUID `json:"session_id"`
	FromTurn  int       `json:"from_turn"`
	ToTurn    int       `json:"to_turn"` // inclusive
}

// Kind is the node's name.
func (CompressArgs) Kind() string { return vocab.NodeCompress }
