package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/httpapi/door"
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

type feedbackOut struct {
	Body feedback
}

func (a *api) registerFeedback() {
	huma.Register(a.huma, operation(http.MethodPut, "/v1/turns/{id}/feedback", "give-feedback", "Say what you think of a reply; the last word counts", http.StatusOK, http.StatusRequestEntityTooLarge), a.feedbackGive)
	huma.Register(a.huma, operation(http.MethodDelete, "/v1/turns/{id}/feedback", "take-back-feedback", "Take back what you thought of a reply", http.StatusNoContent), a.feedbackTakeBack)
}

func (a *api) feedbackGive(ctx context.Context, in *feedbackIn) (*feedbackOut, error) {
	id, err := door.ParseID(in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	row, err := a.q.FeedbackSet(ctx, a.Pool, &db.FeedbackSetParams{
		TurnID: id, UserID: userOf(ctx), Rating: in.Body.Rating, Text: strings.TrimSpace(in.Body.Text),
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = problem.ErrNotFound
	}
	if err != nil {
		return nil, failed(ctx, fmt.Errorf("give feedback: %w", err))
	}

	return &feedbackOut{Body: feedback{Rating: row.Rating, Text: row.Text, At: row.UpdatedAt}}, nil
}

func (a *api) feedbackTakeBack(ctx context.Context, in *TurnPath) (*struct{}, error) {
	id, err := door.ParseID(in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	n, err := a.q.FeedbackDelete(ctx, a.Pool, &db.FeedbackDeleteParams{TurnID: id, UserID: userOf(ctx)})
	if err == nil && n == 0 {
		err = problem.ErrNotFound
	}

	return &struct{}{}, failed(ctx, err)
}

// feedbackOf is nil if none was given.
func feedbackOf(rating, text *string, at *time.Time) *feedback {
	if rating == nil || text == nil || at == nil {
		return nil
	}

	return &feedback{Rating: *rating, Text: *text, At: *at}
}
