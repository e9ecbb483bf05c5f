package mcpserver

import (
	"time"

	"alfred/db"
	"alfred/internal/follow"
)

// What the tools answer. A thing has one name in all of them, which is also that
// of the parameter that takes it: session_id and turn_id are ids, number is a
// turn's place in its session, a ref names a row within its session.

type entitiesOut struct {
	SessionID  string   `json:"session_id"`
	LastNumber int32    `json:"last_number" jsonschema:"number of the session's last turn, from which tiers are counted"`
	Entities   []entity `json:"entities"`
}

type entity struct {
	Ref         string  `json:"ref"`
	Type        string  `json:"type"`
	Label       string  `json:"label"`
	Action      string  `json:"action" jsonschema:"what happened to it last"`
	State       string  `json:"state" jsonschema:"stored, pending (a draft), promoted (a draft that was saved), dropped or deleted"`
	Tier        string  `json:"tier" jsonschema:"generated, recent, retained, excluded or background"`
	Reason      *string `json:"reason,omitempty" jsonschema:"why it is kept or excluded"`
	TurnCreated int32   `json:"turn_created" jsonschema:"number of the turn that it was first seen in"`
	TurnLastRef int32   `json:"turn_last_ref" jsonschema:"number of the turn that it was last spoken of in"`
}

func entityOf(r *db.EntityListRow) entity {
	return entity{
		Ref: r.Ref, Type: r.EntityType, Label: r.Label, Action: r.Action, State: string(r.State), Tier: r.Tier,
		Reason: r.Reason, TurnCreated: r.TurnCreated, TurnLastRef: r.TurnLastRef,
	}
}

type turnOut struct {
	TurnID    string        `json:"turn_id"`
	SessionID string        `json:"session_id"`
	Number    int32         `json:"number"`
	Status    string        `json:"status" jsonschema:"queued, running, succeeded, failed or cancelled"`
	Message   string        `json:"message"`
	Goal      string        `json:"goal,omitempty"`
	Steps     []follow.Step `json:"steps"`
	Reply     string        `json:"reply,omitempty"`
	Question  *question     `json:"question,omitempty" jsonschema:"what is asked instead of going on; answer with send_message"`
	Error     *follow.Error `json:"error,omitempty"`
	Usage     follow.Usage  `json:"usage" jsonschema:"of all calls of models"`
	CreatedAt time.Time     `json:"created_at"`
}

type question struct {
	Kind    string   `json:"kind"`
	Status  string   `json:"status" jsonschema:"open, answered, expired or superseded"`
	Text    string   `json:"text"`
	Options []string `json:"options" jsonschema:"labels; saying one chooses it"`
}

func turnOf(t *follow.Turn) *turnOut {
	out := &turnOut{
		TurnID: t.ID.String(), SessionID: t.SessionID.String(), Number: t.Number, Status: string(t.Status), Message: t.Message, Goal: t.Goal,
		Steps: t.Steps, Reply: t.Reply, Error: t.Error, Usage: t.Usage, CreatedAt: t.CreatedAt,
	}
	if q := t.Question; q != nil {
		out.Question = &question{Kind: q.Kind, Status: q.Status, Text: q.Text, Options: []string{}}
		for _, option := range q.Options {
			out.Question.Options = append(out.Question.Options, option.Label)
		}
	}

	return out
}

type foundOut struct {
	Turns  []found `json:"turns" jsonschema:"best first"`
	Notice string  `json:"notice,omitempty" jsonschema:"what the search could not do"`
}

type found struct {
	TurnID    string    `json:"turn_id,omitempty" jsonschema:"missing for a session without turns"`
	SessionID string    `json:"session_id"`
	Number    int32     `json:"number"`
	Title     string    `json:"title,omitempty" jsonschema:"of the session, where the newest ones are listed"`
	At        time.Time `json:"at"`
	Message   string    `json:"message,omitempty"`
	Reply     string    `json:"reply,omitempty"`
	Summary   string    `json:"summary,omitempty"`
}

type contextOut struct {
	SessionID string `json:"session_id"`
	TurnID    string `json:"turn_id,omitempty" jsonschema:"missing for the coming turn"`
	Text      string `json:"text,omitempty" jsonschema:"what the node would see of the coming turn"`
	Held      []held `json:"held" jsonschema:"what stands in the prompts"`
}

type held struct {
	Node    string   `json:"node"`
	Step    int32    `json:"step,omitempty" jsonschema:"of the plan, where the node is act"`
	Call    int32    `json:"call,omitempty" jsonschema:"which decision of the node"`
	Section string   `json:"section"`
	Reason  string   `json:"reason" jsonschema:"why it is in there"`
	Items   int32    `json:"items"`
	Tokens  int32    `json:"tokens"`
	Refs    []string `json:"refs" jsonschema:"the rows among them"`
}
