package agui

import (
	"context"
	"encoding/json"
	"errors"
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
}

func (r *run) send(kind string, fields map[string]any) error {
	fields["type"] = kind

	return r.out.Data(fields)
}

// stepEvent decodes both step and node events.
type stepEvent struct {
	Node        string `json:"node"`
	Step        int    `json:"step"`
	Description string `json:"description"`
}

// event maps one event. Nodes and the plan's steps are both steps here; act appears only through its steps.
func (r *run) event(ctx context.Context, e *follow.Event) error {
	switch e.Type {
	case "node.started", "node.finished", "step.started", "step.finished":
		return r.step(e)
	case "tool.called":
		return r.tool(e)
	case "entities":
		return r.snapshot(ctx)
	case "question":
		return r.send("CUSTOM", map[string]any{"name": "question", "value": e.Data})
	case "reply.delta", "reply.reset":
		piece, err := r.speech.Hear(e)
		if err != nil {
			return err
		}

		return r.say(piece)
	}

	return nil
}

func (r *run) step(e *follow.Event) error {
	var s stepEvent
	if err := e.Decode(&s); err != nil {
		return err
	}
	name := s.Node
	if e.Type == "step.started" || e.Type == "step.finished" {
		name = fmt.Sprintf("step %d", s.Step)
	}
	switch {
	case name == vocab.NodeAct:
		return nil
	case e.Type == "node.started", e.Type == "step.started":
		return r.startStep(name)
	}

	return r.finishStep(name)
}

func (r *run) startStep(name string) error {
	if slices.Contains(r.open, name) {
		return nil // restarted after a worker was lost
	}
	r.open = append(r.open, name)

	return r.send("STEP_STARTED", map[string]any{"stepName": name})
}

// finishStep ignores a skipped step, which was never started.
func (r *run) finishStep(name string) error {
	at := slices.Index(r.open, name)
	if at < 0 {
		return nil
	}
	r.open = slices.Delete(r.open, at, at+1)

	return r.send("STEP_FINISHED", map[string]any{"stepName": name})
}

func (r *run) finishSteps() error {
	for len(r.open) > 0 {
		if err := r.finishStep(r.open[0]); err != nil {
			return err
		}
	}

	return nil
}

// tool reports a completed call with the four events that AG-UI requires.
func (r *run) tool(e *follow.Event) error {
	var call struct {
		Tool       string          `json:"tool"`
		EntityType string          `json:"entity_type"`
		RowCount   int             `json:"row_count"`
		Error      json.RawMessage `json:"error,omitempty"`
	}
	if err := e.Decode(&call); err != nil {
		return err
	}
	args, argsErr := json.Marshal(map[string]any{"entity_type": call.EntityType})
	result, err := json.Marshal(map[string]any{"row_count": call.RowCount, "error": call.Error})
	if err := errors.Join(argsErr, err); err != nil {
		return fmt.Errorf("encode call: %w", err)
	}
	id := fmt.Sprintf("%s-%d", r.turn, e.Seq)
	for _, event := range []map[string]any{
		{"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": call.Tool},
		{"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": string(args)},
		{"type": "TOOL_CALL_END", "toolCallId": id},
		{"type": "TOOL_CALL_RESULT", "toolCallId": id, "messageId": id + "-result", "content": string(result), "role": "tool"},
	} {
		if err := r.out.Data(event); err != nil {
			return err
		}
	}

	return nil
}

func (r *run) say(text string) error {
	if text == "" {
		return nil
	}
	if !r.speaking {
		r.speaking = true
		if err := r.send("TEXT_MESSAGE_START", map[string]any{"messageId": r.turn, "role": "assistant"}); err != nil {
			return err
		}
	}

	return r.send("TEXT_MESSAGE_CONTENT", map[string]any{"messageId": r.turn, "delta": text})
}

// finishSpeech ends the reply. If the streamed reply differs from the committed one, the client gets its messages
// again, with the committed reply.
func (r *run) finishSpeech(turn *follow.Turn) error {
	rest, corrected := r.speech.Rest(turn.Said())
	if !corrected {
		if err := r.say(rest); err != nil {
			return err
		}
	}
	if r.speaking {
		if err := r.send("TEXT_MESSAGE_END", map[string]any{"messageId": r.turn}); err != nil {
			return err
		}
	}
	if !corrected {
		return nil
	}
	committed, err := json.Marshal(map[string]any{"id": r.turn, "role": "assistant", "content": rest})
	if err != nil {
		return fmt.Errorf("encode reply: %w", err)
	}

	return r.send("MESSAGES_SNAPSHOT", map[string]any{"messages": append(r.in.Messages, committed)})
}

// maxState bounds a snapshot; background refs are dropped first.
const maxState = 1000

// snapshot sends the session's refs as the run's state.
func (r *run) snapshot(ctx context.Context) error {
	refs, err := pg.Value(ctx, r.Reader(ctx).Read, func(tx pgx.Tx) (any, error) { return r.refs(ctx, tx, r.session, maxState) })
	if err != nil {
		return fmt.Errorf("list entities: %w", err)
	}

	return r.send("STATE_SNAPSHOT", map[string]any{"snapshot": map[string]any{"session_id": r.session, "turn_id": r.turn, "entities": refs}})
}
