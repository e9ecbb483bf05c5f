package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/internal/crud"
	"alfred/internal/exact"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
)

// RowsPath names a type of rows.
type RowsPath struct {
	Type string `doc:"Entity type of the domain." path:"type"`
}

// RowPath names one row.
type RowPath struct {
	RowsPath

	ID string `doc:"Key of the row." path:"id"`
}

// ToldSession names the conversation in which rows are changed.
type ToldSession struct {
	Session string `doc:"Session that learns of the change at its next message." query:"session"`
}

type rowListIn struct {
	RowsPath
	PageQuery

	Q       string `doc:"Part of the name or, where no single column is one, of the label and the line; its words may be in any order." query:"q"`
	Order   string `doc:"Column to sort by, with - before it from the greatest; the type's own order if left out." query:"order"`
	Filters string `doc:"JSON list of {field, op, value}, all of which hold; field may also be one of the row that a column points to, as item_id.state; op is = != > >= < <= in not_in ilike is_null is_not_null contains or overlaps, or exists or not_exists of a table whose rows point here, with conditions such as [\"state = new\"]." query:"filters"`
	Labels  bool   `doc:"Each row also says what it is called, as _label, and what its columns point to, as _<column>_label." query:"labels"`
}

// rowPage is a page of rows, with the total.
type rowPage struct {
	Page[map[string]any]

	Total int `json:"total"`
}

type rowOut struct {
	ETag string         `header:"ETag"` //nolint:tagliatelle // its name
	Body map[string]any `doc:"Its columns, and the rows that belong to it under their table's name, each with its own ETag as _etag."`
}

type rowCreateIn struct {
	RowsPath
	ToldSession
	IdempotencyHeader

	Body map[string]json.RawMessage
}

type rowChangeIn struct {
	RowPath
	ToldSession

	IfMatch string `doc:"ETag of the row as you saw it; 412 if it changed since. Without it the last write stands, and _was in the answer is what it wrote over." header:"If-Match"`
	Body    map[string]json.RawMessage
}

type rowDeleteIn struct {
	RowPath
	ToldSession

	IfMatch string `doc:"ETag of the row as you saw it; 412 if it changed since. Without it the row goes whatever it holds." header:"If-Match"`
	Confirm string `doc:"What the 409 confirmation_needed said would be deleted with it: carries it out if that still holds." query:"confirm"`
	Prefer  string `doc:"return=representation: answer 200 with the row that went whatever it held, in _was."                header:"Prefer"`
}

type operationIn struct {
	RowPath
	ToldSession
	IdempotencyHeader

	IfMatch   string `doc:"ETag of the row as you saw it; 412 if it changed since." header:"If-Match"`
	Operation string `doc:"Name of an operation of the type." path:"operation"`
	Confirm   string `doc:"What the 409 confirmation_needed said would be done: carries it out if that still holds." query:"confirm"`
	Body      map[string]json.RawMessage
}

func (a *api) rowOperate(ctx context.Context, in *operationIn) (*rowOut, error) {
	return a.changeRow(ctx, in.Session, func(tx pgx.Tx, user crud.User) (row crud.Row, err error) {
		asked := crud.Asked{Operation: in.Operation, Args: encoded(in.Body), Told: in.Confirm, Version: versionOf(in.IfMatch)}
		request := []any{"operate-row", in.RowPath, in.ToldSession, in.Operation, in.Confirm, in.Body}
		_, again, err := a.createOnce(ctx, tx, in.IdempotencyKey, request, func() (string, error) {
			row, err = a.Rows.Operate(ctx, tx, user, in.Type, in.ID, asked)

			return in.ID, err
		})
		if again {
			row, err = a.Rows.Get(ctx, tx, user, in.Type, in.ID)
		}

		return row, err
	})
}

// rowUser is the user, and the session if one is named, that change rows. The change checks that it is the user's.
func rowUser(ctx context.Context, sessionID string) (crud.User, error) {
	user := crud.User{ID: userOf(ctx)}
	if sessionID == "" {
		return user, nil
	}
	id, err := uuid.Parse(sessionID)
	if err != nil {
		return user, problem.ErrNotFound
	}
	user.Session = &id

	return user, nil
}

func (a *api) rowList(ctx context.Context, in *rowListIn) (rowPage, error) {
	params := crud.ListParams{Limit: in.Limit, After: in.Cursor, Query: in.Q, Order: in.Order, Named: in.Labels}
	if in.Filters != "" {
		if err := exact.Decode([]byte(in.Filters), &params.Filters); err != nil {
			return rowPage{}, problem.Invalid("filters is a JSON list of {field, op, value}.")
		}
	}
	list, err := pg.Value(ctx, a.readAll, func(tx pgx.Tx) (crud.RowList, error) {
		return a.Rows.List(ctx, tx, crud.User{ID: userOf(ctx)}, in.Type, params)
	})
	items := mapped(list.Rows, func(row crud.Row) map[string]any { return row.Data })

	return rowPage{Total: list.Total, Page: Page[map[string]any]{Items: items, NextCursor: list.Next}}, rowProblem(err)
}

func (a *api) rowGet(ctx context.Context, in *RowPath) (*rowOut, error) {
	row, err := pg.Value(ctx, a.readAll, func(tx pgx.Tx) (crud.Row, error) {
		return a.Rows.Get(ctx, tx, crud.User{ID: userOf(ctx)}, in.Type, in.ID)
	})

	return rowAnswer(row), rowProblem(err)
}

func (a *api) rowCreate(ctx context.Context, in *rowCreateIn) (*rowOut, error) {
	return a.changeRow(ctx, in.Session, func(tx pgx.Tx, user crud.User) (row crud.Row, err error) {
		made, again, err := a.createOnce(ctx, tx, in.IdempotencyKey, []any{"create-row", in.RowsPath, in.ToldSession, in.Body}, func() (string, error) {
			row, err = a.Rows.Create(ctx, tx, user, in.Type, encoded(in.Body))

			return row.Key, err
		})
		if again {
			row, err = a.Rows.Get(ctx, tx, user, in.Type, made)
		}

		return row, err
	})
}

func (a *api) rowPatch(ctx context.Context, in *rowChangeIn) (*rowOut, error) {
	return a.changeRow(ctx, in.Session, func(tx pgx.Tx, user crud.User) (crud.Row, error) {
		return a.Rows.Patch(ctx, tx, user, in.Type, in.ID, versionOf(in.IfMatch), encoded(in.Body))
	})
}

// encoded is an object as it was sent.
func encoded(object map[string]json.RawMessage) []byte {
	text, _ := json.Marshal(object) //nolint:errchkjson // it was JSON

	return text
}

// rowGone is what a deleted row held, for somebody who did not say which version of it they had seen.
type rowGone struct {
	Status int
	Body   map[string]any
}

func (a *api) rowDelete(ctx context.Context, in *rowDeleteIn) (*rowGone, error) {
	row, err := a.changeRow(ctx, in.Session, func(tx pgx.Tx, user crud.User) (crud.Row, error) {
		return a.Rows.Delete(ctx, tx, user, in.Type, in.ID, crud.Deletion{Version: versionOf(in.IfMatch), Told: in.Confirm})
	})
	if err == nil && in.Prefer == "return=representation" {
		return &rowGone{Status: http.StatusOK, Body: map[string]any{"_was": row.Body["_was"]}}, nil
	}

	return &rowGone{Status: http.StatusNoContent}, err
}

func (a *api) changeRow(ctx context.Context, sessionID string, change func(pgx.Tx, crud.User) (crud.Row, error)) (*rowOut, error) {
	user, err := rowUser(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	row, err := pg.Value(ctx, a.writeAll, func(tx pgx.Tx) (crud.Row, error) { return change(tx, user) })
	if err != nil {
		return nil, rowProblem(err)
	}

	return rowAnswer(row), nil
}

func rowAnswer(row crud.Row) *rowOut {
	if len(row.Was) > 0 {
		row.Data["_was"] = row.Was
	}
	for _, part := range row.Parts {
		part.Data["_etag"] = etagOf(part)
	}

	return &rowOut{ETag: etagOf(row), Body: row.Data}
}

func etagOf(row crud.Row) string { return strconv.Quote(row.Version) }

// versionOf is the row version in an If-Match, "" for any. Of a list it is all of them, separated by commas. A quoted
// nothing stays as it is, and matches none.
func versionOf(etag string) string {
	if etag == "*" {
		return ""
	}
	versions := strings.Split(etag, ",")
	for i, version := range versions {
		versions[i] = strings.TrimSpace(version)
		if unquoted, err := strconv.Unquote(versions[i]); err == nil && unquoted != "" {
			versions[i] = unquoted
		}
	}

	return strings.Join(versions, ",")
}

// codeConfirm is of what a person has to confirm first.
const codeConfirm = "confirmation_needed"

// rowProblem maps the data tools' refusals; other errors pass through.
func rowProblem(err error) error {
	if ask, ok := errors.AsType[*crud.ConfirmError](err); ok {
		return problem.New(http.StatusConflict, codeConfirm, ask.Text)
	}
	refused, ok := errors.AsType[*crud.Error](err)
	if !ok {
		return err
	}
	switch refused.Code {
	case crud.CodeNotFound, crud.CodeUnknownTable, crud.CodeUnknownTool:
		return problem.ErrNotFound
	case crud.CodeStale:
		return problem.New(http.StatusPreconditionFailed, "conflict", refused.Message)
	case crud.CodeConflict, crud.CodePendingRef:
		return problem.New(http.StatusConflict, "conflict", refused.Message)
	case crud.CodeViolation:
		if !refused.Refused {
			return problem.Invalid(refused.Message)
		}

		return problem.New(http.StatusBadRequest, string(refused.Code), refused.Message)
	case crud.CodeSchemaChanged:
		return problem.New(http.StatusServiceUnavailable, string(refused.Code), refused.Message)
	case crud.CodeNotAllowed:
		return problem.New(http.StatusForbidden, "forbidden", refused.Message)
	default:
		return problem.Invalid(refused.Message)
	}
}
