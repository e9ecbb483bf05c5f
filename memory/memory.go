package memory

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/domain"
	"alfred/nodes"
)

// Memory builds the inputs of nodes. It is immutable and safe for concurrent use.
type Memory struct {
	domain *domain.Domain
	config Config
}

// New makes a Memory for a bound domain.
func New(d *domain.Domain, cfg Config) *Memory {
	return &Memory{domain: d, config: cfg}
}

// Understand loads what the memory manager sees of a turn whose UI changes and
// mentions are already applied.
func (m *Memory) Understand(ctx context.Context, tx pgx.Tx, t *db.Turns) (nodes.UnderstandInput, error) {
	return nodes.UnderstandInput{}, nil
}

// Think loads what the planner sees.
func (m *Memory) Think(ctx context.Context, tx pgx.Tx, t *db.Turns) (nodes.ThinkInput, error) {
	return nodes.ThinkInput{}, nil
}

// Act loads what one decision of a step sees.
func (m *Memory) Act(ctx context.Context, tx pgx.Tx, t *db.Turns, step int) (nodes.ActInput, error) {
	return nodes.ActInput{}, nil
}

// Reply loads the facts of a turn whose steps have ended.
func (m *Memory) Reply(ctx context.Context, tx pgx.Tx, t *db.Turns) (nodes.ReplyInput, error) {
	return nodes.ReplyInput{}, nil
}

// Summarize loads a turn that has been replied to.
func (m *Memory) Summarize(ctx context.Context, tx pgx.Tx, t *db.Turns) (nodes.SummarizeInput, error) {
	return nodes.SummarizeInput{}, nil
}

// Compress loads the turns from..to (inclusive) of a session for one text of the
// given kind, conversation or narrative.
func (m *Memory) Compress(ctx context.Context, tx pgx.Tx, sessionID uuid.UUID, kind string, from, to int) (nodes.CompressInput, error) {
	return nodes.CompressInput{}, nil
}

// Preview builds the frame that a node of the session's coming turn would see.
func (m *Memory) Preview(ctx context.Context, tx pgx.Tx, sessionID uuid.UUID, node string) (nodes.Frame, error) {
	return nodes.Frame{}, nil
}

// QuickReply words the reply of a quick turn from the rows it read.
func (m *Memory) QuickReply(ctx context.Context, tx pgx.Tx, t *db.Turns) (string, error) {
	return "", nil
}
