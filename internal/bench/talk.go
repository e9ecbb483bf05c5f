package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/llm/offline"
	"alfred/internal/vocab"
)

// message is one message of the conversation. If its plan is fully determined, Call is what a planner writes out
// ($draft is the newest draft), and Reply the answer.
type message struct{ Kind, Say, Call, Reply string }

// points are the turns at which the same messages are repeated.
func points() []int { return []int{1, 10, 50, 200} }

// repeated are the messages that are compared.
func repeated() []message {
	all := []message{
		{Say: "What is in my fridge?"}, adding("oat milk", "shopping list", "shopping_list"), {Say: "How do I make Pad See Ew?"},
		{Say: "Draft a lentil curry"}, saving("the lentil curry"), {Say: "Thanks!"},
	}
	for i, kind := range []string{"plain read", "plain write", "detail", "draft", "saving a draft", "small talk"} {
		all[i].Kind = kind
	}

	return all
}

func adding(name, place, table string) message {
	return message{
		Say: "Add 2 " + name + " to my " + place, Reply: "I have added 2 " + name + " to your " + place + ". Anything else?",
		Call: fmt.Sprintf(`{"step": 1, "tool": "db_create", "table": %q, "set": [{"column": "name", "value": %q}, {"column": "quantity", "value": 2}]}`, table, name),
	}
}

func saving(dish string) message {
	return message{
		Say: "Save it", Reply: "I have saved " + dish + " with all its ingredients. Shall I plan it for a day?",
		Call: `{"step": 1, "tool": "db_create", "table": "recipes", "from_ref": "$draft"}`,
	}
}

// between are the messages before the n-th point, always of the same kinds about other things.
func between(n int) message {
	dish := []string{"tomato soup", "mushroom risotto", "chickpea stew", "beef chili", "salmon bowl", "potato salad", "pumpkin curry", "egg fried rice"}[n/13%8]
	thing := []string{"eggs", "carrots", "apples", "lentils", "leeks", "lemons", "walnuts", "mushrooms"}[n/13%8]

	return []message{
		{Say: "What is in my pantry?"},
		adding(thing, "pantry", "inventory"),
		{Say: "Show my recipes"},
		{Say: "How do I make Shakshuka Classic?"},
		{Say: "Draft a " + dish},
		{Say: "Make it vegetarian"},
		saving("the vegetarian " + dish),
		{Say: "Put it on Friday's dinner"},
		{Say: "What is planned?"},
		adding(thing, "shopping list", "shopping_list"),
		{Say: "What's on my shopping list?"},
		{Say: "No cod this week"},
		{Say: "Thanks!"},
	}[n%13]
}

// conversation is all messages, in order.
func conversation() []message {
	var all []message
	filled := 0
	for _, at := range points() {
		for len(all) < at-1 {
			all = append(all, between(filled))
			filled++
		}
		all = append(all, repeated()...)
	}

	return all
}

// part is a part of a prompt, in the order in which providers read it: tools and schema, instructions, messages.
type part struct {
	Text string
	Mark bool // a cache mark follows
}

// call is one model call.
type call struct {
	Parts  []part
	Output int  // tokens
	Words  bool // it contains the reply, shown while it arrives
	Ahead  int  // tokens that it writes before the reply
	Behind bool // nobody waits for it
}

// listening is the offline model with answers as long as other models', and records its requests.
type listening struct {
	llm.Model

	mu    sync.Mutex
	now   message
	calls []call
	tools map[string]llm.Tool
}

// Generate implements llm.Model.
func (m *listening) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	quiet := *req
	quiet.OnDelta = nil
	resp, err := m.Model.Generate(ctx, &quiet)
	if err != nil {
		return resp, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.reword(req, resp); err != nil {
		return nil, fmt.Errorf("%s of %q: %w", req.Node, m.now.Say, err)
	}
	c := call{Output: resp.EstimateTokens(), Behind: req.Node == "summarize" || req.Node == "compress"}
	if req.OnDelta != nil {
		c.Words, c.Ahead = shown(req, resp.Text)
	}
	var tools strings.Builder
	for _, tool := range req.Tools {
		m.tools[tool.Name] = tool
		tools.WriteString(tool.Name + tool.Description + string(tool.Schema))
	}
	// The marks are those of package internal/llm/anthropic.
	c.Parts = []part{{tools.String() + string(req.Schema), true}, {req.System, true}}
	for i, said := range req.Messages {
		text := said.Content
		for _, called := range said.ToolCalls {
			text += called.Name + string(called.Args)
		}
		c.Parts = append(c.Parts, part{text, said.Role == llm.RoleTool && i == len(req.Messages)-1})
	}
	m.calls = append(m.calls, c)

	return resp, nil
}

// shown forwards an answer as it arrives. It reports whether the user sees any of it meanwhile, and the tokens before
// that: a reply on its own, the words beside a draft, or a reply within an answer that leaves nothing to do.
func shown(req *llm.Request, text string) (words bool, ahead int) {
	req.OnDelta(text)
	if req.Node != "understand" {
		return text != "", 0
	}
	var answer struct {
		Calls []json.RawMessage `json:"calls"`
		Think *struct{}         `json:"think"`
		Say   string            `json:"say"`
	}
	if json.Unmarshal([]byte(text), &answer) != nil || answer.Say == "" || answer.Think != nil || len(answer.Calls) > 0 {
		return false, 0
	}

	return true, llm.EstimateTokens(text) - llm.EstimateTokens(answer.Say)
}

// used is one tool call in a turn, and the rows it returned.
type used struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
	Rows json.RawMessage `json:"rows"`
}

// told is one turn, as any assistant with these tools could have run it.
type told struct {
	Message string   `json:"message"`
	Rounds  [][]used `json:"rounds"` // calls that can be made at once
	Reply   string   `json:"reply"`

	calls []call // Alfred's
}

// talk is a recorded conversation, and what any assistant for the domain needs to know.
type talk struct {
	Turns []*told `json:"turns"`

	system, tools string
}

// recordTalk holds the conversation with Alfred.
func recordTalk(ctx context.Context, address string, messages []message) (*talk, error) {
	t, model := &talk{}, &listening{tools: map[string]llm.Tool{}}
	err := onRig(ctx, address, model, 1, func(r *rig, sessions []uuid.UUID) error {
		model.Model, t.system = offline.New(r.kitchen), instructions(r.kitchen)
		for _, m := range messages {
			model.now, model.calls = m, nil
			turn, err := r.hold(ctx, sessions[0], m.Say)
			if err != nil {
				return fmt.Errorf("%q: %w", m.Say, err)
			}
			turn.calls = model.calls
			t.Turns = append(t.Turns, turn)
		}

		return nil
	})
	t.tools = dataTools(model.tools)

	return t, err
}

// hold runs one turn and waits until all its work is done.
func (r *rig) hold(ctx context.Context, session uuid.UUID, say string) (*told, error) {
	if _, err := r.turn(ctx, session, say); err != nil {
		return nil, err
	}
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	t := &told{Message: say}
	var id uuid.UUID
	err := r.pool.QueryRow(ctx, `SELECT id, reply FROM turns WHERE session_id = $1 ORDER BY number DESC LIMIT 1`, session).Scan(&id, &t.Reply)
	if err != nil {
		return nil, fmt.Errorf("read the turn: %w", err)
	}
	// For agents without drafts, a draft is text, and saving it means repeating it.
	rows, _ := r.pool.Query(ctx, `SELECT s.tool, CASE WHEN a.content IS NULL THEN s.params ELSE s.params - 'from_ref' || jsonb_build_object('data', a.content) END, s.rows
		FROM turn_step_results AS s
		LEFT JOIN LATERAL (SELECT content FROM artifacts WHERE session_id = $2 AND ref = s.params ->> 'from_ref' ORDER BY version DESC LIMIT 1) AS a ON true
		WHERE s.turn_id = $1 AND s.error_code IS NULL AND s.tool <> 'generate' ORDER BY s.step, s.call`, id, session)
	uses, err := pgx.CollectRows(rows, pgx.RowToStructByPos[used])
	t.Rounds = inRounds(uses)

	return t, err
}

// inRounds groups calls that need not wait for each other: reads, then writes.
func inRounds(uses []used) [][]used {
	var rounds [][]used
	wrote := false
	for _, u := range uses {
		writes := vocab.Writes(u.Tool)
		if len(rounds) == 0 || writes != wrote {
			rounds = append(rounds, nil)
		}
		wrote, rounds[len(rounds)-1] = writes, append(rounds[len(rounds)-1], u)
	}

	return rounds
}

// instructions are those of a plain agent: who it is, how to proceed, and the tables.
func instructions(d *domain.Domain) string {
	text := d.Persona + "\n\nAnswer the user with the help of the tools. Read before you tell, say only what the tools said, and save nothing that the user did not ask for.\n"
	for _, e := range d.Entities {
		text += "\n" + e.Describe() + "\n"
	}

	return text
}

// dataTools are the data tools among those Act was offered.
func dataTools(all map[string]llm.Tool) string {
	var text strings.Builder
	for _, step := range []string{vocab.StepRead, vocab.StepAnalyze, vocab.StepWrite} {
		for _, name := range vocab.StepTools(step) {
			tool := all[name]
			text.WriteString(tool.Name + tool.Description + string(tool.Schema))
			delete(all, name)
		}
	}

	return text.String()
}
