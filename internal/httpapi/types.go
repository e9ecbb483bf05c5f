package httpapi

import (
	"context"
	"strings"

	"alfred/internal/domain"
)

// rowType is an entity type for user interfaces.
type rowType struct {
	Type      string        `doc:"As in /v1/data/{type}." json:"type"`
	Name      string        `json:"name"`
	Plural    string        `json:"plural"`
	Key       string        `doc:"The column whose value is a row's {id} in /v1/data/{type}/{id}." json:"key"`
	Columns   []string      `doc:"Worth a column in a list, in order; rows may have more." json:"columns"`
	Reference bool          `doc:"Shared data that nobody may change." json:"reference"`
	Writes    []domain.Verb `doc:"What may be done with rows of it; nothing else is." enum:"create,update,delete" json:"writes"`
	Singleton bool          `doc:"A user has one row at most." json:"singleton"`

	Fields     []rowField     `doc:"What a form for a row needs to know: the columns that people read or write." json:"fields"`
	Operations []rowOperation `doc:"What can be done to a row beside changing it." json:"operations"`
	Children   []rowChild     `doc:"Types whose rows are parts of this type's rows." json:"children"`
}

// rowField is a column of a form.
type rowField struct {
	Name       string      `json:"name"`
	Kind       domain.Kind `enum:"array,bool,date,json,number,text,time,timestamp,uuid" json:"kind"`
	Element    domain.Kind `doc:"Kind of an array's elements." json:"element,omitempty"`
	Writable   bool        `doc:"May be set where the type allows rows to be created or updated." json:"writable"`
	Required   bool        `doc:"Neither empty nor filled by the database." json:"required"`
	Options    []string    `doc:"The values there are, where they are few." json:"options,omitempty"`
	References string      `doc:"Entity type of the row that the value is the key of." json:"references,omitempty"`
	Matched    bool        `doc:"That row is found from this row's name when a write leaves the column out." json:"matched,omitempty"`
	Comment    string      `json:"comment"`
}

// rowOperation is a function of the domain's owner that a person may call on a row.
type rowOperation struct {
	Name        string     `doc:"As in /v1/data/{type}/{id}/{operation}." json:"name"`
	Description string     `json:"description"`
	Fields      []rowField `doc:"Its arguments, the row aside." json:"fields"`
}

func operations(d *domain.Domain, entity *domain.Entity) []rowOperation {
	return mapped(d.OperationsOn(entity), func(o *domain.Operation) rowOperation {
		args := *o.Args
		args.Columns = args.Columns[1:]

		return rowOperation{Name: o.Name, Description: o.Description, Fields: fields(&args)}
	})
}

// rowChild is a type whose rows belong to another type's row.
type rowChild struct {
	Type   string `json:"type"`
	Table  string `doc:"The name under which a row has its parts." json:"table"`
	Column string `doc:"The part's column with its row's key." json:"column"`
}

type rowTypesOutBody struct {
	Page[rowType]

	Domain string `doc:"Name of the declaration whose types these are; of a session with another one, rows and drafts are out of reach." json:"domain"`
}

func (a *api) typeList(context.Context, *struct{}) (rowTypesOutBody, error) {
	return rowTypesOutBody{Domain: a.Domain.Name, Page: Page[rowType]{Items: mapped(a.Domain.Entities, func(entity *domain.Entity) rowType {
		return rowType{
			Type: entity.Type, Name: entity.Name, Plural: entity.Plural, Columns: listColumns(entity), Reference: entity.Reference, Writes: append([]domain.Verb{}, entity.Writes...),
			Key: entity.Key.Name, Singleton: entity.Singleton, Fields: fields(entity), Operations: operations(a.Domain, entity),
			Children: mapped(entity.Children, func(c *domain.Child) rowChild {
				return rowChild{Type: c.Entity.Type, Table: c.Entity.Table, Column: c.FK.Name}
			}),
		}
	})}}, nil
}

// listColumns are the readable columns of a type's summary.
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

// help is a column's comment, and how its values are written where nobody knows that.
func help(c *domain.Column) string {
	if form := c.Written(); form != "" && c.Writable {
		return strings.TrimPrefix(c.Comment+"; "+form, "; ")
	}

	return c.Comment
}

func fields(entity *domain.Entity) []rowField {
	list := []rowField{}
	for _, column := range entity.Columns {
		if column == entity.Key || column == entity.Owner || column.Hidden || column.Generated || column.Kind == domain.KindVector {
			continue
		}
		field := rowField{
			Name: column.Name, Kind: column.Kind, Element: column.Elem, Options: column.Enum, Comment: help(column),
			Required: !column.Nullable && !column.HasDefault, Writable: column.Writable,
		}
		if column.FK != nil && column.FK.Entity != nil {
			field.References, field.Matched = column.FK.Entity.Type, entity.Match != nil && entity.Match.Link == column
		}
		list = append(list, field)
	}

	return list
}
