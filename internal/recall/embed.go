package recall

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/pgvector/pgvector-go"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/pg"
)

const (
	// perCall is how many texts one call of the embedder takes.
	perCall = 96

	// maxText bounds an embedded text, in characters; the important part comes first.
	maxText = 6000
)

// Index maintains the embeddings of rows and turns. It opens its own transactions and holds none while the embedder
// works. Repeated work is skipped: a text is identified by its hash.
type Index struct {
	searcher *Searcher
	pool     *pgxpool.Pool
	q        *db.Queries

	// Used only by the sweeping process.
	retired bool            // no earlier model has embeddings
	marks   map[string]mark // of tables, as of their last sweep
}

// NewIndex returns the index that a searcher uses.
func NewIndex(searcher *Searcher, pool *pgxpool.Pool) *Index {
	return &Index{searcher: searcher, pool: pool, q: db.New(), marks: map[string]mark{}}
}

// text is something to embed.
type text struct {
	id, user string // user is "" for rows that all users share
	content  string
	hash     [sha256.Size]byte // of what is embedded of it
}

// EmbedTurn embeds the rows that a turn wrote and, once it succeeded, the turn.
func (x *Index) EmbedTurn(ctx context.Context, turnID uuid.UUID) error {
	turns, err := x.q.EmbeddingTurn(ctx, x.pool, turnID)
	if err != nil {
		return fmt.Errorf("read the turn: %w", err)
	}
	var texts []text
	for _, t := range turns {
		byType := map[string][]string{}
		for i, entityType := range t.EntityTypes {
			byType[entityType] = append(byType[entityType], t.EntityIds[i])
		}
		for _, e := range x.searcher.domain.Entities {
			if err := x.EmbedRows(ctx, t.UserID, e.Type, byType[e.Type]); err != nil {
				return err
			}
		}
		if t.Succeeded {
			texts = append(texts, turnText(t.ID, t.UserID, t.Message, t.ResponseSummary, t.Reply))
		}
	}

	return x.embedNew(ctx, KindTurn, texts)
}

// EmbedRows embeds rows of a type by key and drops the embeddings of deleted ones. Types that are not searched have
// none. userID is the user through whose view they are read, if there is one.
func (x *Index) EmbedRows(ctx context.Context, userID uuid.UUID, entityType string, ids []string) error {
	e := x.searcher.domain.ByType(entityType)
	if e == nil || !searched(e) || len(ids) == 0 {
		return nil
	}
	texts, err := x.rowTexts(ctx, userID, e, `WHERE `+e.Qualified(e.Key)+` = ANY($1::text[]::`+e.Key.Type+`[])`, ids)
	if err != nil {
		return err
	}
	if err := x.embedNew(ctx, e.Type, texts); err != nil {
		return err
	}
	found := map[string]bool{}
	for _, one := range texts {
		found[one.id] = true
	}
	gone := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return found[id] })
	if len(gone) == 0 {
		return nil
	}
	params := &db.EmbeddingDeleteParams{OwnerKind: e.Type, OwnerIds: gone}
	if isPerUser(e) {
		params.UserID = &userID
	}
	if err := x.q.EmbeddingDelete(ctx, x.pool, params); err != nil {
		return fmt.Errorf("drop vectors: %w", err)
	}

	return nil
}

// searched reports whether rows of the type have embeddings: it has a text to embed, and its rows are shared, their
// owner is a user's id, or its view knows their owner.
func searched(e *domain.Entity) bool {
	return !e.Semantic.IsZero() && (e.Viewed || e.Owner == nil || e.Owner.Kind == domain.KindUUID)
}

// isPerUser reports whether a row has an embedding for each user who sees it.
func isPerUser(e *domain.Entity) bool { return e.Viewed && !e.Shared }

// searched are the types whose rows have embeddings.
func (s *Searcher) searched() []*domain.Entity {
	return slices.DeleteFunc(slices.Clone(s.domain.Entities), func(e *domain.Entity) bool { return !searched(e) })
}

// rowTexts renders rows by the type's template; if a view separates users, only those the user sees.
func (x *Index) rowTexts(ctx context.Context, userID uuid.UUID, e *domain.Entity, where string, args ...any) (texts []text, err error) {
	if !e.Viewed {
		return x.textsOf(ctx, x.pool, e, where, args...)
	}
	err = pg.InTx(ctx, x.pool, func(tx pgx.Tx) error {
		return pg.AsTenant(ctx, tx, userID, func(tx pgx.Tx) error {
			texts, err = x.textsOf(ctx, tx, e, where, args...)

			return err
		})
	})
	if isPerUser(e) {
		for i := range texts {
			texts[i].user = userID.String()
		}
	}

	return texts, err
}

func (x *Index) textsOf(ctx context.Context, conn db.DBTX, e *domain.Entity, where string, args ...any) ([]text, error) {
	columns := []string{e.Qualified(e.Key) + `::text AS _id`, `'' AS _user`}
	if e.Owner != nil && !e.Viewed {
		columns[1] = e.Qualified(e.Owner) + `::text AS _user`
	}
	for _, name := range e.Semantic.Columns() {
		if c := e.Column(name); c != nil {
			columns = append(columns, c.SQL()+` AS `+pgx.Identifier{c.Name}.Sanitize())
		}
	}
	sql := `SELECT r._id, r._user, to_jsonb(r.*) FROM (SELECT ` + strings.Join(columns, ", ") + ` FROM ` + e.SQL() + ` ` + where + `) AS r`

	return pg.Collect(ctx, conn, func(row pgx.CollectableRow) (text, error) {
		var (
			one    text
			raw    []byte
			values map[string]any
		)
		if err := row.Scan(&one.id, &one.user, &raw); err != nil {
			return one, err
		}
		if err := json.Unmarshal(raw, &values); err != nil {
			return one, err
		}
		one.content = e.Semantic.Render(values)

		return one, nil
	}, "read texts of "+e.Table, sql, args...)
}

func turnText(turn, user uuid.UUID, said ...string) text {
	return text{id: turn.String(), user: user.String(), content: strings.Join(said, "\n")}
}

// embedNew embeds what was just written, also for the earlier model while that serves: what the user said a minute ago
// must be findable.
func (x *Index) embedNew(ctx context.Context, kind string, texts []text) error {
	serves, err := x.searcher.serves(ctx)
	if err != nil {
		return err
	}
	if modelOf(serves) != modelOf(x.searcher.embedder) {
		if err := x.embed(ctx, serves, kind, texts); err != nil {
			return err
		}
	}

	return x.embedConfigured(ctx, kind, texts)
}

func (x *Index) embedConfigured(ctx context.Context, kind string, texts []text) error {
	return x.embed(ctx, x.searcher.embedder, kind, texts)
}

// embed embeds changed texts and stores the vectors. A text whose vector is refused gets none; the others are still
// stored.
func (x *Index) embed(ctx context.Context, embedder llm.Embedder, kind string, texts []text) error {
	texts, err := x.changed(ctx, embedder, kind, texts)
	if err != nil {
		return err
	}
	var refused error
	for some := range slices.Chunk(texts, perCall) {
		err := x.embedPart(ctx, embedder, kind, some)
		if errors.Is(err, ErrVector) {
			refused = err
		} else if err != nil {
			return err
		}
	}

	return refused
}

func (x *Index) embedPart(ctx context.Context, embedder llm.Embedder, kind string, texts []text) error {
	contents := make([]string, len(texts))
	for i, one := range texts {
		contents[i] = one.content
	}
	vectors, err := embedder.Embed(ctx, contents)
	if err != nil {
		return fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	if len(vectors) != len(texts) {
		return fmt.Errorf("%w: %s gave %d for %d texts", ErrVector, embedder.Model(), len(vectors), len(texts))
	}
	m := modelOf(embedder)
	params := &db.EmbeddingUpsertParams{OwnerKind: kind, Model: m.Model, Dimensions: m.Dimensions}
	if e := x.searcher.domain.ByType(kind); e != nil {
		params.Several = isPerUser(e)
	}
	var refused error
	for i, vector := range vectors {
		if err := check(embedder, vector); err != nil {
			refused = fmt.Errorf("%s %s: %w", kind, texts[i].id, err)

			continue
		}
		params.OwnerIds = append(params.OwnerIds, texts[i].id)
		params.UserIds = append(params.UserIds, texts[i].user)
		params.ContentHashes = append(params.ContentHashes, texts[i].hash[:])
		params.Vectors = append(params.Vectors, pgvector.NewVector(vector).String())
		params.Contents = append(params.Contents, texts[i].content)
	}
	if err := x.q.EmbeddingUpsert(ctx, x.pool, params); err != nil {
		return fmt.Errorf("store vectors: %w", err)
	}

	return refused
}

// changed keeps the texts whose hash differs from the stored one.
func (x *Index) changed(ctx context.Context, embedder llm.Embedder, kind string, texts []text) ([]text, error) {
	ids := make([]string, len(texts))
	for i := range texts {
		ids[i] = texts[i].id
		texts[i].content = cut(texts[i].content)
		texts[i].hash = sha256.Sum256([]byte(texts[i].content))
	}
	if len(ids) == 0 {
		return nil, nil
	}
	m := modelOf(embedder)
	stored, err := x.q.EmbeddingHashes(ctx, x.pool, &db.EmbeddingHashesParams{OwnerKind: kind, Model: m.Model, Dimensions: m.Dimensions, OwnerIds: ids})
	if err != nil {
		return nil, fmt.Errorf("read hashes: %w", err)
	}
	known := map[string]string{}
	for _, row := range stored {
		known[row.UserID+" "+row.OwnerID] = string(row.ContentHash)
	}

	return slices.DeleteFunc(slices.Clone(texts), func(one text) bool {
		return strings.TrimSpace(one.content) == "" || known[one.user+" "+one.id] == string(one.hash[:])
	}), nil
}

func cut(content string) string {
	runes := []rune(content)

	return string(runes[:min(len(runes), maxText)])
}
