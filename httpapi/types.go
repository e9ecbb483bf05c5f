package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"alfred/domain"
)

// rowType is an entity type as user interfaces need to know it.
type rowType struct {
	Type      string   `doc:"As in /v1/data/{type}." json:"type"`
	Name      string   `json:"name"`
	Plural    string   `json:"plural"`
	Columns   []string `doc:"Worth a column in a list, in order; rows may have more." json:"columns"`
	Reference bool     `doc:"Shared data that nobody may change." json:"reference"`
}

type rowTypesOut struct {
	Body struct {
		Items []rowType `json:"items"`
	}
}

func (a *api) registerTypes() {
	huma.Register(a.huma, operation(http.MethodGet, "/v1/data", "list-types", "Types of rows", http.StatusOK), a.typeList)
}

func (a *api) typeList(context.Context, *struct{}) (*rowTypesOut, error) {
	out := &rowTypesOut{}
	for _, entity := range a.Domain.Entities {
		out.Body.Items = append(out.Body.Items, rowType{
			Type: entity.Type, Name: entity.Name, Plural: entity.Plural, Columns: listColumns(entity), Reference: entity.Reference,
		})
	}

	return out, nil
}

// listColumns are the columns of a type's summary that people can read.
func listColumns(entity *domain.Entity) []string {
	columns := []string{}
	for _, name := range entity.Sets["summary"] {
		column := entity.Column(name)
		if column != nil && column != entity.Key && column.FK == nil && !column.Hidden && column.Kind != domain.KindUUID {
			columns = append(columns, name)
		}
	}

	return columns
}
