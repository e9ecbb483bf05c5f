package prompt

import (
	"alfred/internal/view"
	"alfred/nodes"
)

// Config holds windows (counted in turns) and budgets (in estimated tokens).
type Config struct {
	view.Windows

	// Apart asks Understand and Think in two separate calls.
	Apart bool

	// ShortRows is how many short rows are shown whatever they cost: an analysis of part of a list is worse than a long prompt.
	ShortRows int
	// Shortened says that a whole prompt was too long for the model.
	Shortened bool

	MaxSteps map[string]int // steps per plan, by mode
	Budget   Budget
	Prompts  *nodes.Prompts // the fixed wording; nil: the built-in prompts
}

// Budget bounds each section in estimated tokens, so that a prompt does not grow with the conversation.
type Budget struct {
	Profile      Tokens
	Guidance     int // characters per subdomain's guidance
	Snapshot     Tokens
	Entities     Tokens // the lines of one tier
	Drafts       Tokens // JSON of unsaved content
	Rows         Tokens // Active Entities (Full Data)
	Conversation Tokens
	Earlier      Tokens // older turns, in Conversation and in What Happened separately
	Message      Tokens // one message or reply within Conversation
	Narrative    Tokens
	Constraints  Tokens
	Schema       Tokens
	Results      Tokens // Step Results, and the rows of Execution Results
}

// Halved returns the same windows with half the budgets, for a prompt that exceeded the model's context.
func (c Config) Halved() Config {
	c.Shortened, c.ShortRows = true, c.ShortRows/2
	b := &c.Budget
	b.Guidance /= 2
	for _, budget := range []*Tokens{
		&b.Profile, &b.Snapshot, &b.Entities, &b.Drafts, &b.Rows, &b.Conversation, &b.Earlier, &b.Message, &b.Narrative,
		&b.Constraints, &b.Schema, &b.Results,
	} {
		*budget /= 2
	}

	return c
}

// DefaultConfig returns the documented defaults.
func DefaultConfig() Config {
	return Config{
		Windows:   view.Windows{RetentionWindow: 2, FullDetailTurns: 3, UnderstandTurns: 5, CompressOlder: true, CompressEvery: 4},
		ShortRows: 200,
		MaxSteps:  map[string]int{"quick": 2, "plan": 8, "create": 4},
		Budget: Budget{
			Profile: 800, Guidance: 800, Snapshot: 600, Entities: 2500, Drafts: 8000, Rows: 12000,
			Conversation: 6000, Earlier: 1200, Message: 2000, Narrative: 2500, Constraints: 600,
			Schema: 6000, Results: 4000,
		},
	}
}
