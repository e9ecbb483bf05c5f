package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
	"alfred/internal/recall"
	"alfred/internal/vocab"
	"alfred/jobs"
	"alfred/nodes"
)

func (t *Place) read(ctx context.Context, work func(tx pgx.Tx) error) error {
	return pg.InReadTx(ctx, t.Pool, func(tx pgx.Tx) error { return pg.AsTenant(ctx, tx, t.Turns.UserID, work) })
}

func (t *Place) write(ctx context.Context, work func(tx pgx.Tx) error) error {
	return pg.InTx(ctx, t.Pool, func(tx pgx.Tx) error { return pg.AsTenant(ctx, tx, t.Turns.UserID, work) })
}

// parseID parses an id; a malformed one is treated as unknown.
func parseID(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, problem.ErrNotFound
	}

	return id, nil
}

type entitiesIn struct {
	SessionID string `json:"session_id" jsonschema:"id of the session"`
}

const maxEntities = 1000

func (t *Place) listEntities(ctx context.Context, in entitiesIn) (*entitiesOut, error) {
	id, err := parseID(in.SessionID)
	if err != nil {
		return nil, err
	}
	out := &entitiesOut{SessionID: id.String(), Entities: []entity{}}
	err = t.read(ctx, func(tx pgx.Tx) error {
		session, err := db.New().SessionGet(ctx, tx, id)
		if err != nil {
			return err
		}
		out.LastNumber = session.LastTurn
		refs, err := db.New().EntityList(ctx, tx, &db.EntityListParams{SessionID: id, PageSize: maxEntities})
		for _, r := range refs {
			out.Entities = append(out.Entities, entityOf(r))
		}

		return err
	})

	return out, err
}

type turnIn struct {
	TurnID string `json:"turn_id" jsonschema:"id of the turn"`
}

func (t *Place) getTurn(ctx context.Context, in turnIn) (*turnOut, error) {
	id, err := parseID(in.TurnID)
	if err != nil {
		return nil, err
	}

	return t.turn(ctx, id)
}

func (t *Place) turn(ctx context.Context, id uuid.UUID) (*turnOut, error) {
	turn, err := t.Turns.Turn(ctx, id)
	if err != nil {
		return nil, err
	}

	return turnOf(turn), nil
}

type contextIn struct {
	TurnID    string `json:"turn_id,omitempty" jsonschema:"id of a past turn; this or session_id"`
	SessionID string `json:"session_id,omitempty" jsonschema:"id of the session whose coming turn is meant"`
	Node      string `json:"node,omitempty" jsonschema:"of the coming turn: understand, think (default), act, reply or summarize"`
}

func (t *Place) explainContext(ctx context.Context, in contextIn) (*contextOut, error) {
	if (in.TurnID == "") == (in.SessionID == "") {
		return nil, problem.Invalid("Say a turn_id or a session_id, one of the two.")
	}
	if in.TurnID != "" {
		return t.explainTurn(ctx, in.TurnID)
	}
	id, err := parseID(in.SessionID)
	if err != nil {
		return nil, err
	}
	switch in.Node {
	case "":
		in.Node = vocab.NodeThink
	case vocab.NodeUnderstand, vocab.NodeThink, vocab.NodeAct, vocab.NodeReply, vocab.NodeSummarize:
	default:
		return nil, problem.Invalid("node is understand, think, act, reply or summarize.")
	}
	frame, err := pg.Value(ctx, t.read, func(tx pgx.Tx) (nodes.Frame, error) { return t.Preview.Frame(ctx, tx, id, in.Node) })
	out := &contextOut{SessionID: id.String(), Text: nodes.RenderBlocks(frame.Blocks), Held: []held{}}
	for _, i := range frame.Items {
		one := held{Node: in.Node, Section: i.Section, Reason: i.Reason, Items: 1, Tokens: int32(i.Tokens), Refs: []string{}}
		if i.Ref != "" {
			one.Refs = append(one.Refs, i.Ref)
		}
		out.Held = append(out.Held, one)
	}

	return out, err
}

func (t *Place) explainTurn(ctx context.Context, turn string) (*contextOut, error) {
	id, err := parseID(turn)
	if err != nil {
		return nil, err
	}
	out := &contextOut{TurnID: id.String(), Held: []held{}}
	err = t.read(ctx, func(tx pgx.Tx) error {
		of, err := db.New().TurnGet(ctx, tx, id)
		if err != nil {
			return err
		}
		out.SessionID = of.SessionID.String()
		rows, err := db.New().ContextItemSumTurn(ctx, tx, &id)
		for _, row := range rows {
			out.Held = append(out.Held, held(*row))
		}

		return err
	})

	return out, err
}

type searchIn struct {
	Query string `json:"query,omitempty" jsonschema:"what to look for, in words"`
}

const (
	maxFound   = 20
	maxQuery   = 1000
	maxNewest  = 10
	maxExcerpt = 300
)

func (t *Place) searchHistory(ctx context.Context, in searchIn) (*foundOut, error) {
	if in.Query == "" {
		return t.newest(ctx)
	}
	if len(in.Query) > maxQuery {
		return nil, problem.Invalid("A query has at most 1000 bytes.")
	}
	vectors, err := t.Search.EmbedTexts(ctx, []string{in.Query})
	if err != nil {
		return nil, fmt.Errorf("embed query: %w", err)
	}
	out := &foundOut{Turns: []found{}, Notice: vectors.Notice}
	err = t.read(ctx, func(tx pgx.Tx) error {
		hits, err := t.Search.Search(ctx, tx, &recall.Query{UserID: t.Turns.UserID, Text: in.Query, Vectors: vectors, Limit: maxFound, Kinds: []string{recall.KindTurn}})
		for _, hit := range hits {
			out.Turns = append(out.Turns, found{
				TurnID: hit.ID, SessionID: hit.SessionID.String(), Number: int32(hit.Turn), At: hit.At,
				Message: excerpt(hit.Message), Reply: excerpt(hit.Reply), Summary: excerpt(hit.Summary),
			})
		}

		return err
	})

	return out, err
}

func (t *Place) newest(ctx context.Context) (*foundOut, error) {
	out := &foundOut{Turns: []found{}}
	sessions, err := pg.Value(ctx, t.read, func(tx pgx.Tx) ([]*db.SessionNewestRow, error) {
		return db.New().SessionNewest(ctx, tx, &db.SessionNewestParams{UserID: t.Turns.UserID, PageSize: maxNewest})
	})
	for _, s := range sessions {
		out.Turns = append(out.Turns, found{
			TurnID: s.TurnID, SessionID: s.ID.String(), Number: s.LastTurn, Title: s.Title, At: s.LastActivityAt, Message: excerpt(s.Message),
		})
	}

	return out, err
}

func excerpt(text string) string {
	if runes := []rune(text); len(runes) > maxExcerpt {
		return string(runes[:maxExcerpt-1]) + "…"
	}

	return text
}

type messageIn struct {
	Message        string `json:"message" jsonschema:"what to say, at most 32 KiB"`
	SessionID      string `json:"session_id,omitempty" jsonschema:"the session to say it in; without it a new one"`
	IdempotencyKey string `json:"idempotency_key,omitempty" jsonschema:"the same key once more gives the first message's turn"`
}

// sendPatience is how long to wait for a reply; get_turn finds it later.
const sendPatience = 2 * time.Minute

func (t *Place) sendMessage(ctx context.Context, in messageIn) (*turnOut, error) {
	made, err := pg.Value(ctx, t.write, func(tx pgx.Tx) (*jobs.Enqueued, error) {
		session, err := t.sessionOf(ctx, tx, in)
		if err != nil {
			return nil, err
		}

		return jobs.EnqueueTurn(ctx, tx, jobs.EnqueueParams{
			SessionID: session, Message: in.Message, IdempotencyKey: in.IdempotencyKey, Limits: t.Limits,
		})
	})
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, sendPatience)
	defer cancel()
	if err := t.Turns.Wait(waiting, made.TurnID); err != nil && waiting.Err() == nil {
		return nil, err
	}

	return t.turn(ctx, made.TurnID)
}

// sessionOf is the session that a message names, or a new one, which is gone again if the message is refused. Its id is
// derived from the idempotency key, if there is one, so that a resent message finds it.
func (t *Place) sessionOf(ctx context.Context, tx pgx.Tx, in messageIn) (id uuid.UUID, err error) {
	if in.SessionID != "" {
		return parseID(in.SessionID)
	}
	if in.IdempotencyKey != "" {
		id = uuid.NewSHA1(t.Turns.UserID, []byte("mcp:"+in.IdempotencyKey))
	}
	err = pg.AsEngine(ctx, tx, func(tx pgx.Tx) (err error) {
		id, err = db.New().SessionMake(ctx, tx, &db.SessionMakeParams{ID: pg.OrNil(id), UserID: t.Turns.UserID, Domain: t.Domain.Name, Mode: "plan"})

		return err
	})

	return id, err
}
