package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/internal/crud"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
	"alfred/internal/recall"
)

const (
	maxFound     = 20
	maxFoundText = 300 // characters
)

type searchIn struct {
	Q    string `doc:"What to search for, in words." maxLength:"1000" minLength:"1" query:"q" required:"true"`
	Type string `doc:"Entity type, or turn; all without it." maxLength:"100" query:"type"`
}

// found is one hit.
type found struct {
	Type  string  `doc:"Entity type, or turn." json:"type"`
	ID    string  `doc:"Key of the row or turn." json:"id"`
	Label string  `json:"label"`
	Score float64 `doc:"Compares within one answer alone." json:"score"`

	// For turns only.
	SessionID *uuid.UUID `json:"session_id,omitempty"`
	Number    int        `json:"number,omitempty"`
	At        *time.Time `json:"at,omitempty"`
	Text      string     `doc:"What the turn came to, cut." json:"text,omitempty"`
}

// searchResult is what was found, best first.
type searchResult struct {
	Items []found `json:"items"`
	// Notice is set if the embedder failed and the search used words only.
	Notice string `json:"notice,omitempty"`
}

type searchOut struct {
	Body searchResult
}

func (a *api) registerSearch() {
	huma.Register(a.huma, operation(http.MethodGet, "/v1/search", "search", "Search rows and past turns by words and meaning", http.StatusOK), a.search)
}

func (a *api) search(ctx context.Context, in *searchIn) (*searchOut, error) {
	if in.Type != "" && in.Type != recall.KindTurn && a.Domain.ByType(in.Type) == nil {
		return nil, failed(ctx, problem.Invalid("There is no such type: "+problem.OneLine(in.Type)+"."))
	}
	vectors, err := a.Search.EmbedTexts(ctx, []string{in.Q})
	if err != nil {
		return nil, failed(ctx, fmt.Errorf("embed query: %w", err))
	}
	hits, err := a.hits(ctx, in, vectors)
	if err != nil {
		return nil, failed(ctx, err)
	}
	out := &searchOut{}
	out.Body.Notice = vectors.Notice
	if out.Body.Items, err = a.label(ctx, hits); err != nil {
		return nil, failed(ctx, err)
	}

	return out, nil
}

func (a *api) hits(ctx context.Context, in *searchIn, vectors recall.Vectors) ([]recall.Hit, error) {
	query := &recall.Query{UserID: userOf(ctx), Text: in.Q, Vectors: vectors, Limit: maxFound}
	if in.Type != "" {
		query.Kinds = []string{in.Type}
	}
	var hits []recall.Hit
	err := a.read(ctx, func(tx pgx.Tx) (err error) {
		hits, err = a.Search.Search(ctx, tx, query)

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}

	return hits, nil
}

// label names the hits. A row deleted since it was embedded is left out.
func (a *api) label(ctx context.Context, hits []recall.Hit) ([]found, error) {
	items := make([]found, 0, len(hits))
	err := pg.InReadTx(ctx, a.Pool, func(tx pgx.Tx) error {
		for _, hit := range hits {
			if hit.Kind == recall.KindTurn {
				items = append(items, foundTurn(hit))

				continue
			}
			row, err := a.Rows.Get(ctx, tx, crud.User{ID: userOf(ctx)}, hit.Kind, hit.ID)
			if gone, ok := errors.AsType[*crud.Error](err); ok && gone.Code == crud.CodeNotFound {
				continue
			}
			if err != nil {
				return fmt.Errorf("label %s: %w", hit.Kind, err)
			}
			items = append(items, found{Type: hit.Kind, ID: hit.ID, Label: a.Domain.ByType(hit.Kind).Label.Render(row.Data), Score: hit.Score})
		}

		return nil
	})

	return items, err
}

func foundTurn(hit recall.Hit) found {
	text := cmp.Or(hit.Summary, hit.Reply)

	return found{
		Type: hit.Kind, ID: hit.ID, Label: cut(hit.Message), Score: hit.Score,
		SessionID: &hit.SessionID, Number: hit.Turn, At: &hit.At, Text: cut(text),
	}
}

// cut shortens a text to one line.
func cut(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= maxFoundText {
		return string(runes)
	}

	return string(runes[:maxFoundText-1]) + "…"
}
