package httpapi

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/internal/crud"
	"alfred/internal/domain"
)

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
type mentionList struct {
	Items []mention `json:"items"`
}

func (a *api) mentionList(ctx context.Context, in *mentionsIn) (mentionList, error) {
	out := mentionList{Items: []mention{}}
	err := a.readAll(ctx, func(tx pgx.Tx) error {
		for _, entity := range a.Domain.Entities {
			room := min(mentionsPerType, maxMentions-len(out.Items))
			if room <= 0 || !mentionable(a.Domain, entity) {
				continue
			}
			list, err := a.Rows.List(ctx, tx, crud.User{ID: userOf(ctx)}, entity.Type, crud.ListParams{Limit: room, Query: in.Q})
			if err != nil {
				return fmt.Errorf("list %s: %w", entity.Table, err)
			}
			for _, row := range list.Rows {
				out.Items = append(out.Items, mention{
					RefType: entity.Type, UUID: fmt.Sprint(row.Data[entity.Key.Name]), Label: entity.Label.Render(row.Data),
				})
			}
		}

		return nil
	})

	return out, rowProblem(err)
}

// mentionable reports whether rows are the user's own and not children.
func mentionable(d *domain.Domain, entity *domain.Entity) bool {
	if entity.Reference || entity.Singleton {
		return false
	}
	for _, parent := range d.Entities {
		for _, child := range parent.Children {
			if child.Entity == entity {
				return false
			}
		}
	}

	return true
}
