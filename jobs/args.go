package jobs

import (
	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"alfred/internal/vocab"
)

// The queues. Nobody waits for background work.
const (
	queueBackground = "background"
	queueTurns      = "turns"
)

const kindEmbed = "embed"

const (
	// maxAttempts of a job; job_insert writes the same number.
	maxAttempts = 6

	// argsVersion is raised when the arguments change meaning, so that a worker of another version leaves the job to
	// one that knows it.
	argsVersion = 1
)

// TurnArgs are the arguments of every job of a turn: which decision it makes. The job may commit only while the turn is
// still at Position.
type TurnArgs struct {
	TurnID   uuid.UUID `json:"turn_id"`
	Position int       `json:"position"`
	Version  int       `json:"version"`
}

func (a TurnArgs) turn() TurnArgs { return a }

// InsertOpts match job_insert.
func (TurnArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: maxAttempts, Queue: queueTurns}
}

// turnArgs are the arguments of a turn's five nodes.
type turnArgs interface {
	river.JobArgs
	turn() TurnArgs
}

// UnderstandArgs are the arguments of a turn's first decision.
type UnderstandArgs struct{ TurnArgs }

// Kind is the node's name.
func (UnderstandArgs) Kind() string { return vocab.NodeUnderstand }

// ThinkArgs are the arguments of a plan.
type ThinkArgs struct{ TurnArgs }

// Kind is the node's name.
func (ThinkArgs) Kind() string { return vocab.NodeThink }

// ActArgs are the arguments of one decision of a step.
type ActArgs struct{ TurnArgs }

// Kind is the node's name.
func (ActArgs) Kind() string { return vocab.NodeAct }

// ReplyArgs are the arguments of a reply.
type ReplyArgs struct{ TurnArgs }

// Kind is the node's name.
func (ReplyArgs) Kind() string { return vocab.NodeReply }

// SummarizeArgs are the arguments of a summary.
type SummarizeArgs struct{ TurnArgs }

// Kind is the node's name.
func (SummarizeArgs) Kind() string { return vocab.NodeSummarize }

// EmbedArgs request embeddings for what a turn changed.
type EmbedArgs struct{ TurnArgs }

// Kind is embed.
func (EmbedArgs) Kind() string { return kindEmbed }

// InsertOpts match job_insert.
func (EmbedArgs) InsertOpts() river.InsertOpts { return backgroundOpts() }

// CompressArgs request the compressed texts of a range of older turns: what was said, and what was done.
type CompressArgs struct {
	SessionID uuid.UUID `json:"session_id"`
	FromTurn  int       `json:"from_turn"`
	ToTurn    int       `json:"to_turn"` // inclusive
}

// Kind is the node's name.
func (CompressArgs) Kind() string { return vocab.NodeCompress }

// InsertOpts match job_insert.
func (CompressArgs) InsertOpts() river.InsertOpts { return backgroundOpts() }

func backgroundOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: maxAttempts, Queue: queueBackground}
}
