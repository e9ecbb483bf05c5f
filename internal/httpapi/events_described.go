package httpapi

import (
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/follow"
)

// EventHead is in every event's data.
type EventHead struct {
	Seq    int32     `doc:"Counts a turn's events; the stream's id ends in it." json:"seq"`
	TurnID uuid.UUID `json:"turn_id"`
	Number int32     `doc:"Of the turn." json:"number"`
	At     time.Time `json:"at"`
}

type (
	turnStartedEvent struct {
		EventHead

		Type string `enum:"turn.started" json:"type"`
	}
	nodeStartedEvent struct {
		EventHead

		Type string `enum:"node.started" json:"type"`
		Node string `enum:"understand,think,act,reply,summarize" json:"node"`
		Step int32  `doc:"Of the plan, for act." json:"step,omitempty"`
	}
	nodeWaitingEvent struct {
		EventHead

		Type    string `enum:"node.waiting" json:"type"`
		Node    string `json:"node"`
		Seconds int32  `doc:"So long has the model said nothing." json:"seconds"`
		Attempt int32  `json:"attempt"`
	}
	nodeFinishedEvent struct {
		EventHead

		Type       string `enum:"node.finished" json:"type"`
		Node       string `enum:"understand,think,act,reply,summarize" json:"node"`
		Step       int32  `json:"step,omitempty"`
		DurationMS int64  `json:"duration_ms,omitempty"`
	}
	plannedStep struct {
		Step        int32       `json:"step"`
		StepType    db.StepType `enum:"read,analyze,generate,write" json:"step_type"`
		Subdomain   string      `json:"subdomain"`
		Description string      `json:"description"`
	}
	planEvent struct {
		EventHead

		Type  string        `enum:"plan" json:"type"`
		Goal  string        `json:"goal,omitempty"`
		Steps []plannedStep `doc:"Take the place of those of an earlier plan that have not begun." json:"steps"`
	}
	stepStartedEvent struct {
		EventHead

		Type        string      `enum:"step.started" json:"type"`
		Step        int32       `json:"step"`
		StepType    db.StepType `enum:"read,analyze,generate,write" json:"step_type"`
		Description string      `json:"description"`
	}
	toolCalledEvent struct {
		EventHead

		Type       string     `enum:"tool.called" json:"type"`
		Step       int32      `json:"step"`
		Call       int32      `json:"call"`
		Tool       string     `json:"tool"`
		EntityType string     `json:"entity_type,omitempty"`
		RowCount   int32      `json:"row_count"`
		Error      *turnError `json:"error,omitempty"`
	}
	stepFinishedEvent struct {
		EventHead

		Type    string         `enum:"step.finished" json:"type"`
		Step    int32          `json:"step"`
		Outcome db.StepOutcome `enum:"ok,partial,empty,failed,skipped" json:"outcome"`
		Summary string         `json:"summary"`
	}
	entitiesEvent struct {
		EventHead

		Type string   `enum:"entities" json:"type"`
		Refs []string `doc:"What the session has just read or written." json:"refs"`
	}
	replyDeltaEvent struct {
		EventHead

		Type    string `enum:"reply.delta" json:"type"`
		Text    string `doc:"The next piece; provisional until reply." json:"text"`
		Attempt int32  `json:"attempt"`
	}
	replyResetEvent struct {
		EventHead

		Type    string `enum:"reply.reset" json:"type"`
		Attempt int32  `doc:"Begins; what the one before has said is taken back." json:"attempt"`
	}
	replyEvent struct {
		EventHead

		Type string `enum:"reply" json:"type"`
		Text string `doc:"The whole reply, as it stays." json:"text"`
	}
	questionEvent struct {
		EventHead

		Type    string          `enum:"question" json:"type"`
		ID      uuid.UUID       `json:"id"`
		Kind    string          `enum:"clarify,disambiguate,propose,ask_user,approve" json:"kind"`
		Text    string          `json:"text"`
		Options []follow.Option `json:"options"`
	}
	turnFinishedEvent struct {
		EventHead

		Type   string        `enum:"turn.finished" json:"type"`
		Status db.TurnStatus `enum:"succeeded" json:"status"`
	}
	turnFailedEvent struct {
		EventHead

		Type  string    `enum:"turn.failed" json:"type"`
		Error turnError `json:"error"`
	}
	turnCancelledEvent struct {
		EventHead

		Type  string    `enum:"turn.cancelled" json:"type"`
		Error turnError `json:"error"`
	}
)

var describedEvents = []reflect.Type{
	reflect.TypeFor[turnStartedEvent](), reflect.TypeFor[nodeStartedEvent](), reflect.TypeFor[nodeWaitingEvent](), reflect.TypeFor[nodeFinishedEvent](),
	reflect.TypeFor[planEvent](), reflect.TypeFor[stepStartedEvent](), reflect.TypeFor[toolCalledEvent](), reflect.TypeFor[stepFinishedEvent](),
	reflect.TypeFor[entitiesEvent](), reflect.TypeFor[replyDeltaEvent](), reflect.TypeFor[replyResetEvent](), reflect.TypeFor[replyEvent](),
	reflect.TypeFor[questionEvent](), reflect.TypeFor[turnFinishedEvent](), reflect.TypeFor[turnFailedEvent](), reflect.TypeFor[turnCancelledEvent](),
}

// eventSchema describes the data of a stream's events as a union, discriminated by type.
func eventSchema(components *huma.Components) *huma.Schema {
	const name = "TurnEvent"
	all := components.Schemas.Map()
	if all[name] == nil {
		events := &huma.Schema{Description: "The data of a server-sent event.", Discriminator: &huma.Discriminator{PropertyName: "type", Mapping: map[string]string{}}}
		for _, t := range describedEvents {
			ref := components.Schemas.Schema(t, true, "")
			events.OneOf = append(events.OneOf, ref)
			kind := components.Schemas.SchemaFromRef(ref.Ref).Properties["type"].Enum[0].(string)
			events.Discriminator.Mapping[kind] = ref.Ref
		}
		all[name] = events
	}

	return &huma.Schema{Ref: "#/components/schemas/" + name}
}

// streamed is the response of a route that streams events.
func (a *api) streamed(description string) *huma.Response {
	return &huma.Response{
		Description: description,
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: eventSchema(a.huma.OpenAPI().Components)}},
	}
}
