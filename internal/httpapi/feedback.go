package httpapi

import (
	"context"
	"fmt"
	"strings"
	"time"

	"alfred/db"
	"alfred/internal/httpapi/problem"
)

// feedback is what the user thought of a reply.
type feedback struct {
	Rating string    `enum:"up,down"        json:"rating"`
	Text   string    `doc:"Why."            json:"text"`
	At     time.Time `doc:"Of the last word." json:"at"`
}

type givenFeedback struct {
	Rating string `enum:"up,down" json:"rating"`
	Text   string `doc:"Why, in the user's words." json:"text,omitempty" maxLength:"4000"`
}

type feedbackIn struct {
	TurnPath

	Body givenFeedback
}

func (a *api) feedbackGive(ctx context.Context, in *feedbackIn) (feedback, error) {
	row, err := a.q.FeedbackSet(ctx, a.Pool, &db.FeedbackSetParams{
		TurnID: in.ID.UUID, UserID: userOf(ctx), Rating: in.Body.Rating, Text: strings.TrimSpace(in.Body.Text),
	})
	if err != nil {
		return feedback{}, fmt.Errorf("give feedback: %w", err)
	}

	return feedback{Rating: row.Rating, Text: row.Text, At: row.UpdatedAt}, nil
}

func (a *api) feedbackTakeBack(ctx context.Context, in *TurnPath) error {
	n, err := a.q.FeedbackDelete(ctx, a.Pool, &db.FeedbackDeleteParams{TurnID: in.ID.UUID, UserID: userOf(ctx)})
	if err == nil && n == 0 {
		err = problem.ErrNotFound
	}

	return err
}

// feedbackOf is nil if none was given.
func feedbackOf(r *db.TurnPageRow) *feedback {
	if r.FeedbackRating == nil {
		return nil
	}

	return &feedback{Rating: *r.FeedbackRating, Text: *r.FeedbackText, At: *r.FeedbackAt}
}
