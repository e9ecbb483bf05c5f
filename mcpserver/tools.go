package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"alfred/db"
	"alfred/follow"
	"alfred/jobs"
	"alfred/nodes"
	"alfred/pg"
	"alfred/recall"
)

// tools are the tools of one caller.
type tools struct {
	Config

	caller Caller
	turns  *follow.Reader
}

func (t *tools) register(server *mcp.Server) {
	add(server, t, "list_entities", "What a session knows: refs with label, tier and the reason why they are kept.", t.listEntities)
	add(server, t, "search_history", "Past turns by words and meaning, best first; without a query the newest turn of each of the newest sessions.", t.searchHistory)
	add(server, t, "explain_context", "What stood in the prompts of a turn, item by item, and why; without a turn what a node would see of the coming one, with its text.", t.explainContext)
	add(server, t, "get_turn", "A turn: message, plan, steps, reply, question, cost.", t.getTurn)
	if t.caller.MaySend {
		add(server, t, "send_message", "Say something to Alfred, in a session or a new one, and wait for the reply.", t.sendMessage)
	}
}

// add registers a tool. Answers have no schema: they are the API's objects.
func add[In any](server *mcp.Server, t *tools, name, description string, work func(context.Context, In) (any, error)) {
	sends := name == "send_message"
	tool := &mcp.Tool{
		Name: name, Description: description,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: !sends, DestructiveHint: &sends, OpenWorldHint: new(false)},
	}
	mcp.AddTool(server, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		out, err := work(ctx, in)
		if err != nil {
			return nil, nil, t.callerError(ctx, name, err)
		}

		return nil, out, nil
	})
}

func (t *tools) read(ctx context.Context, work func(tx pgx.Tx) error) error {
	return pg.InReadTx(ctx, t.Pool, func(tx pgx.Tx) error { return pg.AsTenant(ctx, tx, t.caller.UserID, work) })
}

// parseID parses an id; a malformed one is treated as unknown.
func parseID(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, errNotFound
	}

	return id, nil
}

type entitiesIn struct {
	SessionID string `json:"session_id" jsonschema:"id of the session"`
}

const maxEntities = 1000

func (t *tools) listEntities(ctx context.Context, in entitiesIn) (any, error) {
	id, err := parseID(in.SessionID)
	if err != nil {
		return nil, err
	}
	items := []map[string]any{}
	var current int32
	err = t.read(ctx, func(tx pgx.Tx) error {
		session, err := db.New().SessionGet(ctx, tx, id)
		if err != nil {
			return err
		}
		current = session.LastTurn
		refs, err := db.New().EntityList(ctx, tx, &db.EntityListParams{SessionID: id, PageSize: maxEntities})
		for _, r := range refs {
			items = append(items, map[string]any{
				"ref": r.Ref, "type": r.EntityType, "label": r.Label, "action": r.Action, "state": r.State, "tier": r.Tier,
				"reason": r.Reason, "turn_created": r.TurnCreated, "turn_last_ref": r.TurnLastRef,
			})
		}

		return err
	})

	return map[string]any{"current_turn": current, "items": items}, err
}

type turnIn struct {
	TurnID string `json:"turn_id" jsonschema:"id of the turn"`
}

func (t *tools) getTurn(ctx context.Context, in turnIn) (any, error) {
	id, err := parseID(in.TurnID)
	if err != nil {
		return nil, err
	}

	return t.turns.Turn(ctx, id)
}

type contextIn struct {
	SessionID string `json:"session_id" jsonschema:"id of the session"`
	Turn      int32  `json:"turn,omitempty" jsonschema:"number of a past turn; without it the coming one"`
	Node      string `json:"node,omitempty" jsonschema:"of the coming turn: understand, think (default), act or reply"`
}

func (t *tools) explainContext(ctx context.Context, in contextIn) (any, error) {
	id, err := parseID(in.SessionID)
	if err != nil {
		return nil, err
	}
	if in.Turn > 0 {
		return t.explainTurn(ctx, id, in.Turn)
	}
	switch in.Node {
	case "":
		in.Node = "think"
	case "understand", "think", "act", "reply":
	default:
		return nil, &Error{"invalid_request", "node is understand, think, act or reply."}
	}
	var frame nodes.Frame
	err = t.read(ctx, func(tx pgx.Tx) error {
		frame, err = t.Preview.Frame(ctx, tx, id, in.Node)

		return err
	})
	items := []map[string]any{}
	for _, i := range frame.Items {
		items = append(items, map[string]any{"section": i.Section, "ref": i.Ref, "turn_number": i.Turn, "reason": i.Reason, "tokens": i.Tokens})
	}

	return map[string]any{"node": in.Node, "text": nodes.RenderBlocks(frame.Blocks), "items": items}, err
}

func (t *tools) explainTurn(ctx context.Context, session uuid.UUID, number int32) (any, error) {
	items := []map[string]any{}
	err := t.read(ctx, func(tx pgx.Tx) error {
		turns, err := db.New().TurnPage(ctx, tx, &db.TurnPageParams{SessionID: session, AfterNumber: number - 1, PageSize: 1})
		if err != nil {
			return err
		}
		if len(turns) == 0 || turns[0].Number != number {
			return errNotFound
		}
		held, err := db.New().ContextItemSumTurn(ctx, tx, &turns[0].ID)
		for _, h := range held {
			items = append(items, map[string]any{
				"node": h.Node, "step": h.Step, "call": h.Call, "section": h.Section, "reason": h.Reason,
				"items": h.Items, "tokens": h.Tokens, "refs": h.Refs,
			})
		}

		return err
	})

	return map[string]any{"turn": number, "items": items}, err
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

func (t *tools) searchHistory(ctx context.Context, in searchIn) (any, error) {
	if in.Query == "" {
		return t.newest(ctx)
	}
	if len(in.Query) > maxQuery {
		return nil, &Error{"invalid_request", "A query has at most 1000 bytes."}
	}
	vectors, err := t.Search.EmbedTexts(ctx, []string{in.Query})
	if err != nil {
		return nil, fmt.Errorf("embed query: %w", err)
	}
	items := []map[string]any{}
	err = t.read(ctx, func(tx pgx.Tx) error {
		hits, err := t.Search.Search(ctx, tx, &recall.Query{UserID: t.caller.UserID, Text: in.Query, Vectors: vectors, Limit: maxFound, Kinds: []string{recall.KindTurn}})
		for _, hit := range hits {
			items = append(items, map[string]any{
				"turn_id": hit.ID, "session_id": hit.SessionID, "number": hit.Turn, "at": hit.At,
				"message": excerpt(hit.Message), "reply": excerpt(hit.Reply), "summary": excerpt(hit.Summary),
			})
		}

		return err
	})

	return map[string]any{"items": items, "notice": vectors.Notice}, err
}

func (t *tools) newest(ctx context.Context) (any, error) {
	items := []map[string]any{}
	err := t.read(ctx, func(tx pgx.Tx) error {
		sessions, err := db.New().SessionPage(ctx, tx, &db.SessionPageParams{UserID: t.caller.UserID, PageSize: maxNewest})
		if err != nil {
			return err
		}
		for _, s := range sessions {
			item := map[string]any{"session_id": s.ID, "title": s.Title, "at": s.LastActivityAt, "number": s.LastTurn}
			last, err := db.New().TurnLast(ctx, tx, s.ID)
			if err != nil && !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
			if err == nil {
				item["turn_id"], item["message"] = last.ID, excerpt(last.Message)
			}
			items = append(items, item)
		}

		return nil
	})

	return map[string]any{"items": items}, err
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

func (t *tools) sendMessage(ctx context.Context, in messageIn) (any, error) {
	session, err := t.sessionOf(ctx, in)
	if err != nil {
		return nil, err
	}
	var made *jobs.Enqueued
	err = pg.InTx(ctx, t.Pool, func(tx pgx.Tx) error {
		return pg.AsTenant(ctx, tx, t.caller.UserID, func(tx pgx.Tx) error {
			made, err = jobs.EnqueueTurn(ctx, tx, jobs.EnqueueParams{
				SessionID: session, Message: in.Message, IdempotencyKey: in.IdempotencyKey, Limits: t.Limits,
			})

			return err
		})
	})
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, sendPatience)
	defer cancel()
	if err := t.turns.Wait(waiting, made.TurnID); err != nil && waiting.Err() == nil {
		return nil, err
	}

	return t.turns.Turn(ctx, made.TurnID)
}

// sessionOf derives a new session's id from the idempotency key, so that a resent message finds it.
func (t *tools) sessionOf(ctx context.Context, in messageIn) (uuid.UUID, error) {
	if in.SessionID != "" {
		return parseID(in.SessionID)
	}
	id := uuid.Must(uuid.NewV7())
	if in.IdempotencyKey != "" {
		id = uuid.NewSHA1(t.caller.UserID, []byte("mcp:"+in.IdempotencyKey))
	}
	err := db.New().SessionEnsure(ctx, t.Pool, &db.SessionEnsureParams{ID: id, UserID: t.caller.UserID, Domain: t.Domain.Name})

	return id, err
}
