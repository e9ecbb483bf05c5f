package agui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/internal/follow"
	"alfred/internal/httpapi/sse"
	"alfred/internal/pg"
	"alfred/internal/vocab"
)

// run reports one run's events in AG-UI's terms. Clients check that everything that was started ends before the
// run does, hence open.
type run struct {
	*server

	out     *sse.Writer
	in      *input
	session uuid.UUID
	turn    uuid.UUID

	speech   follow.Speech
	speaking bool
	open     []string // names of steps
	err      error    // after which nothing more is sent
}

func (r *run) send(kind string, fields map[string]any) {
	fields["type"] = kind
	if r.err == nil {
		r.out.Data(fields)
		r.err = r.out.Err()
	}
}

// stepEvent decodes both step and node events.
type stepEvent struct {
	Node        string `json:"node"`
	Step        int    `json:"step"`
	Description string `json:"description"`
}

// event maps one event. Nodes and the plan's steps are both steps here; act appears only through its steps.
func (r *run) event(ctx context.Context, e *follow.Event) {
	switch e.Type {
	case "node.started", "node.finished", "step.started", "step.finished":
		r.step(e)
	case "tool.called":
		r.tool(e)
	case "entities":
		r.snapshot(ctx)
	case "question":
		r.send("CUSTOM", map[string]any{"name": "question", "value": e.Data})
	case "reply.delta", "reply.reset":
		piece, err := r.speech.Hear(e)
		r.err = cmp.Or(r.err, err)
		r.say(piece)
	}
}

func (r *run) step(e *follow.Event) {
	var s stepEvent
	r.err = cmp.Or(r.err, e.Decode(&s))
	name := s.Node
	if e.Type == "step.started" || e.Type == "step.finished" {
		name = fmt.Sprintf("step %d", s.Step)
	}
	switch {
	case name == vocab.NodeAct:
	case e.Type == "node.started", e.Type == "step.started":
		r.startStep(name)
	default:
		r.finishStep(name)
	}
}

// startStep ignores a step that is started again after a worker was lost.
func (r *run) startStep(name string) {
	if !slices.Contains(r.open, name) {
		r.open = append(r.open, name)
		r.send("STEP_STARTED", map[string]any{"stepName": name})
	}
}

// finishStep ignores a skipped step, which was never started.
func (r *run) finishStep(name string) {
	if at := slices.Index(r.open, name); at >= 0 {
		r.open = slices.Delete(r.open, at, at+1)
		r.send("STEP_FINISHED", map[string]any{"stepName": name})
	}
}

// tool reports a completed call with the four events that AG-UI requires.
func (r *run) tool(e *follow.Event) {
	var call struct {
		Tool       string          `json:"tool"`
		EntityType string          `json:"entity_type"`
		RowCount   int             `json:"row_count"`
		Error      json.RawMessage `json:"error,omitempty"`
	}
	r.err = cmp.Or(r.err, e.Decode(&call))
	id := fmt.Sprintf("%s-%d", r.turn, e.Seq)
	r.send("TOOL_CALL_START", map[string]any{"toolCallId": id, "toolCallName": call.Tool})
	r.send("TOOL_CALL_ARGS", map[string]any{"toolCallId": id, "delta": r.text(map[string]any{"entity_type": call.EntityType})})
	r.send("TOOL_CALL_END", map[string]any{"toolCallId": id})
	r.send("TOOL_CALL_RESULT", map[string]any{
		"toolCallId": id, "messageId": id + "-result", "content": r.text(map[string]any{"row_count": call.RowCount, "error": call.Error}), "role": "tool",
	})
}

// text is a value as JSON within JSON.
func (r *run) text(value any) string {
	encoded, err := json.Marshal(value)
	r.err = cmp.Or(r.err, err)

	return string(encoded)
}

func (r *run) say(text string) {
	if text == "" {
		return
	}
	if !r.speaking {
		r.speaking = true
		r.send("TEXT_MESSAGE_START", map[string]any{"messageId": r.turn, "role": "assistant"})
	}
	r.send("TEXT_MESSAGE_CONTENT", map[string]any{"messageId": r.turn, "delta": text})
}

// finishSpeech ends the reply. If the streamed reply differs from the committed one, the client gets its messages
// again, with the committed reply.
func (r *run) finishSpeech(turn *follow.Turn) {
	rest, corrected := r.speech.Rest(turn.PlainText())
	if !corrected {
		r.say(rest)
	}
	if r.speaking {
		r.send("TEXT_MESSAGE_END", map[string]any{"messageId": r.turn})
	}
	if corrected {
		committed := r.text(map[string]any{"id": r.turn, "role": "assistant", "content": rest})
		r.send("MESSAGES_SNAPSHOT", map[string]any{"messages": append(r.in.Messages, json.RawMessage(committed))})
	}
}

// maxState bounds a snapshot; background refs are dropped first.
const maxState = 1000

// snapshot sends the session's refs as the run's state.
func (r *run) snapshot(ctx context.Context) {
	refs, err := pg.Value(ctx, r.Reader(ctx).Read, func(tx pgx.Tx) (any, error) { return r.refs(ctx, tx, r.session, maxState) })
	if err != nil {
		r.err = cmp.Or(r.err, fmt.Errorf("list entities: %w", err))
	}
	r.send("STATE_SNAPSHOT", map[string]any{"snapshot": map[string]any{"session_id": r.session, "turn_id": r.turn, "entities": refs}})
}
