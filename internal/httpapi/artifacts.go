package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/httpapi/problem"
)

// artifact is a draft: generated content that is, or was, unsaved.
type artifact struct {
	Ref      string                 `json:"ref"`
	Type     string                 `json:"type"`
	Label    string                 `json:"label"`
	State    db.RefState            `enum:"pending,promoted,dropped,deleted" json:"state"`
	Saved    bool                   `doc:"It is a row now; entity_id is its key." json:"saved"`
	EntityID *string                `json:"entity_id"`
	Version  int32                  `doc:"Of the content; the newest unless another was asked for." json:"version"`
	Content  stored[map[string]any] `doc:"Columns by name, children under the child table's name, foreign keys as refs." json:"content"`
	Versions []artifactVersion      `doc:"Newest first, the last 100." json:"versions"`
}

type artifactVersion struct {
	Version    int32     `json:"version"`
	TurnNumber int32     `json:"turn_number"`
	Actor      string    `enum:"assistant,user" json:"actor"`
	CreatedAt  time.Time `json:"created_at"`
}

const maxVersions = 100

type artifactGetIn struct {
	RefPath

	Version int32 `doc:"An older version." minimum:"1" query:"version"`
}

// ArtifactChange names a draft to change.
type ArtifactChange struct {
	RefPath

	IfMatch string `doc:"ETag of the draft as you saw it; 412 if it changed since." header:"If-Match"`
}

// artifactChanges is the requested change of a draft.
type artifactChanges struct {
	Content map[string]json.RawMessage `doc:"The whole new content." json:"content"`
}

type artifactPatchIn struct {
	ArtifactChange

	Body artifactChanges
}

type artifactOut struct {
	ETag string `header:"ETag"` //nolint:tagliatelle // its name
	Body artifact
}

func (a *api) artifactGet(ctx context.Context, in *artifactGetIn) (*artifactOut, error) {
	var version *int32
	if in.Version > 0 {
		version = &in.Version
	}

	return a.artifact(ctx, in.RefPath, version)
}

// artifact reads a draft in any state: a discarded one can still be viewed.
func (a *api) artifact(ctx context.Context, path RefPath, version *int32) (*artifactOut, error) {
	if !utf8.ValidString(path.Ref) || strings.ContainsRune(path.Ref, 0) {
		return nil, problem.ErrNotFound
	}

	return inSession(ctx, a, path.ID, func(tx pgx.Tx, session *db.SessionGetRow) (*artifactOut, error) {
		row, err := a.q.ArtifactGet(ctx, tx, &db.ArtifactGetParams{SessionID: session.ID, Ref: path.Ref, Version: version})
		if err != nil {
			return nil, fmt.Errorf("get draft: %w", err)
		}
		versions, err := a.q.ArtifactVersions(ctx, tx, &db.ArtifactVersionsParams{SessionID: session.ID, Ref: path.Ref, PageSize: maxVersions})
		if err != nil {
			return nil, fmt.Errorf("list its versions: %w", err)
		}

		return &artifactOut{ETag: strconv.Quote(strconv.Itoa(int(row.Version))), Body: artifact{
			Ref: row.Ref, Type: row.EntityType, Label: row.Label, State: row.State, Saved: row.EntityID != nil, EntityID: row.EntityID,
			Version: row.Version, Content: stored[map[string]any]{row.Content},
			Versions: mapped(versions, func(v *db.ArtifactVersionsRow) artifactVersion { return artifactVersion(*v) }),
		}}, nil
	})
}

func (a *api) artifactPatch(ctx context.Context, in *artifactPatchIn) (*artifactOut, error) {
	if err := a.changeDraft(ctx, in.ID, func(tx pgx.Tx, user crud.User) error {
		return a.Rows.ChangeDraft(ctx, tx, user, in.Ref, draftVersionOf(in.IfMatch), encoded(in.Body.Content))
	}); err != nil {
		return nil, err
	}

	return a.artifact(ctx, in.RefPath, nil)
}

func (a *api) artifactDrop(ctx context.Context, in *ArtifactChange) error {
	return a.changeDraft(ctx, in.ID, func(tx pgx.Tx, user crud.User) error {
		return a.Rows.DropDraft(ctx, tx, user, in.Ref, draftVersionOf(in.IfMatch))
	})
}

func (a *api) artifactSave(ctx context.Context, in *ArtifactChange) (*rowOut, error) {
	var row crud.Row
	err := a.changeDraft(ctx, in.ID, func(tx pgx.Tx, user crud.User) (err error) {
		row, err = a.Rows.SaveDraft(ctx, tx, user, in.Ref, draftVersionOf(in.IfMatch))

		return err
	})

	return rowAnswer(row), err
}

// changeDraft changes a draft on behalf of its user, between two turns.
func (a *api) changeDraft(ctx context.Context, session pathID, change func(pgx.Tx, crud.User) error) error {
	err := a.writeAll(ctx, func(tx pgx.Tx) error { return change(tx, crud.User{ID: userOf(ctx), Session: &session.UUID}) })
	if refused, ok := errors.AsType[*crud.Error](err); ok && refused.Code == crud.CodeViolation {
		return problem.Invalid(refused.Message) // about a row that does not exist yet
	}

	return rowProblem(err)
}

// draftVersionOf is the version in an If-Match, the newest of a list; an invalid one matches no version.
func draftVersionOf(etag string) int {
	versions := versionOf(etag)
	if versions == "" {
		return crud.AnyVersion
	}
	newest := -1
	for text := range strings.SplitSeq(versions, ",") {
		if version, err := strconv.Atoi(text); err == nil && version > 0 {
			newest = max(newest, version)
		}
	}

	return newest
}
