package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/internal/crud"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
	"alfred/internal/recall"
	"alfred/registry"
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
	Page[found]

	// Notice is set if the embedder failed and the search used words only.
	Notice string `json:"notice,omitempty"`
}

func (a *api) search(ctx context.Context, in *searchIn) (searchResult, error) {
	if in.Type != "" && in.Type != recall.KindTurn && a.Domain.ByType(in.Type) == nil {
		return searchResult{}, problem.Invalid("There is no such type: " + problem.OneLine(in.Type) + ".")
	}
	vectors, err := a.Search.EmbedTexts(ctx, []string{in.Q})
	if err != nil {
		return searchResult{}, fmt.Errorf("embed query: %w", err)
	}
	query := &recall.Query{UserID: userOf(ctx), Text: in.Q, Vectors: vectors, Limit: maxFound}
	if in.Type != "" {
		query.Kinds = []string{in.Type}
	}
	hits, err := pg.Value(ctx, a.door.Read, func(tx pgx.Tx) ([]recall.Hit, error) { return a.Search.Search(ctx, tx, query) })
	if err != nil {
		return searchResult{}, fmt.Errorf("search: %w", err)
	}
	items, err := a.label(ctx, hits)

	return searchResult{Page: Page[found]{Items: items}, Notice: vectors.Notice}, err
}

// label names the hits. A row deleted since it was embedded is left out.
func (a *api) label(ctx context.Context, hits []recall.Hit) ([]found, error) {
	labels, err := a.labelsOf(ctx, hits)
	items := make([]found, 0, len(hits))
	for _, hit := range hits {
		if hit.Kind == recall.KindTurn {
			items = append(items, foundTurn(hit))
		} else if label, there := labels[hit.Kind][hit.ID]; there {
			items = append(items, found{Type: hit.Kind, ID: hit.ID, Label: label, Score: hit.Score})
		}
	}

	return items, err
}

// labelsOf are the labels of the rows among the hits, by type and key: one list per type.
func (a *api) labelsOf(ctx context.Context, hits []recall.Hit) (map[string]map[string]string, error) {
	keys, labels := map[string][]any{}, map[string]map[string]string{}
	for _, hit := range hits {
		if hit.Kind != recall.KindTurn {
			keys[hit.Kind] = append(keys[hit.Kind], hit.ID)
		}
	}
	err := a.readAll(ctx, func(tx pgx.Tx) error {
		for kind, ids := range keys {
			entity := a.Domain.ByType(kind)
			params := crud.ListParams{Filters: []registry.Filter{{Field: entity.Key.Name, Op: "in", Value: ids}}, Named: true}
			list, err := a.Rows.List(ctx, tx, crud.User{ID: userOf(ctx)}, kind, params)
			if err != nil {
				return fmt.Errorf("label %s: %w", kind, err)
			}
			labels[kind] = map[string]string{}
			for _, row := range list.Rows {
				labels[kind][row.Key] = entity.Label.Render(row.Data)
			}
		}

		return nil
	})

	return labels, err
}

func foundTurn(hit recall.Hit) found {
	return found{
		Type: hit.Kind, ID: hit.ID, Label: shorten(hit.Message), Score: hit.Score,
		SessionID: &hit.SessionID, Number: hit.Turn, At: &hit.At, Text: shorten(cmp.Or(hit.Summary, hit.Reply)),
	}
}

// shorten shortens a text to one line.
func shorten(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= maxFoundText {
		return string(runes)
	}

	return string(runes[:maxFoundText-1]) + "…"
}

// How many rows an @-mention can choose from.
const (
	mentionsPerType = 5
	maxMentions     = 15
)

type mentionsIn struct {
	Q string `doc:"Part of the name." maxLength:"200" query:"q"`
}

// mention is a row as a message may name it: @[label](ref_type:uuid).
type mention struct {
	RefType string `json:"ref_type"`
	UUID    string `doc:"The row's key, of whatever type." json:"uuid"`
	Label   string `json:"label"`
}

// mentionList is what a message may mention.
type mentionList struct{ Page[mention] }

func (a *api) mentionList(ctx context.Context, in *mentionsIn) (mentionList, error) {
	out := mentionList{Page[mention]{Items: []mention{}}}
	err := a.readAll(ctx, func(tx pgx.Tx) error {
		for _, entity := range a.Domain.Entities {
			if entity.Reference || entity.Singleton || entity.Part { // not rows of the user's own
				continue
			}
			room := min(mentionsPerType, maxMentions-len(out.Items))
			if room == 0 {
				break
			}
			list, err := a.Rows.List(ctx, tx, crud.User{ID: userOf(ctx)}, entity.Type, crud.ListParams{Limit: room, Query: in.Q, Named: true})
			if err != nil {
				return fmt.Errorf("list %s: %w", entity.Table, err)
			}
			out.Items = append(out.Items, mapped(list.Rows, func(row crud.Row) mention {
				return mention{RefType: entity.Type, UUID: fmt.Sprint(row.Data[entity.Key.Name]), Label: entity.Label.Render(row.Data)}
			})...)
		}

		return nil
	})

	return out, rowProblem(err)
}
