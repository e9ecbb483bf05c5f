package httpapi

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
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

type plannedStep struct {
	Step        int32       `json:"step"`
	StepType    db.StepType `enum:"read,analyze,generate,write" json:"step_type"`
	Subdomain   string      `json:"subdomain"`
	Description string      `json:"description"`
}

// describedEvents are the events of a stream with the fields that each has besides [EventHead] and its type.
var describedEvents = []struct {
	kind string
	own  any
}{
	{"turn.started", struct{}{}},
	{"node.started", struct {
		Node string `enum:"understand,think,act,reply,summarize" json:"node"`
		Step int32  `doc:"Of the plan, for act." json:"step,omitempty"`
	}{}},
	{"node.waiting", struct {
		Node    string `json:"node"`
		Seconds int32  `doc:"So long has the model said nothing." json:"seconds"`
		Attempt int32  `json:"attempt"`
	}{}},
	{"node.finished", struct {
		Node       string `enum:"understand,think,act,reply,summarize" json:"node"`
		Step       int32  `json:"step,omitempty"`
		DurationMS int64  `json:"duration_ms,omitempty"`
	}{}},
	{"plan", struct {
		Goal  string        `json:"goal,omitempty"`
		Steps []plannedStep `doc:"Take the place of those of an earlier plan that have not begun." json:"steps"`
	}{}},
	{"step.started", struct {
		Step        int32       `json:"step"`
		StepType    db.StepType `enum:"read,analyze,generate,write" json:"step_type"`
		Description string      `json:"description"`
	}{}},
	{"tool.called", struct {
		Step       int32      `json:"step"`
		Call       int32      `json:"call"`
		Tool       string     `json:"tool"`
		EntityType string     `json:"entity_type,omitempty"`
		RowCount   int32      `json:"row_count"`
		Error      *turnError `json:"error,omitempty"`
	}{}},
	{"step.finished", struct {
		Step    int32          `json:"step"`
		Outcome db.StepOutcome `enum:"ok,partial,empty,failed,skipped" json:"outcome"`
		Summary string         `json:"summary"`
	}{}},
	{"entities", struct {
		Refs []string `doc:"What the session has just read or written." json:"refs"`
	}{}},
	{"reply.delta", struct {
		Text    string `doc:"The next piece; provisional until reply." json:"text"`
		Attempt int32  `json:"attempt"`
	}{}},
	{"reply.reset", struct {
		Attempt int32 `doc:"Begins; what the one before has said is taken back." json:"attempt"`
	}{}},
	{"reply", struct {
		Text string `doc:"The whole reply, as it stays." json:"text"`
	}{}},
	{"question", struct {
		ID      uuid.UUID       `json:"id"`
		Kind    string          `enum:"clarify,disambiguate,propose,ask_user,approve" json:"kind"`
		Text    string          `json:"text"`
		Options []follow.Option `json:"options"`
	}{}},
	{"turn.finished", struct {
		Status db.TurnStatus `enum:"succeeded" json:"status"`
	}{}},
	{"turn.failed", struct {
		Error turnError `json:"error"`
	}{}},
	{"turn.cancelled", struct {
		Error turnError `json:"error"`
	}{}},
}

// dataOf is the type of an event's data, and its name in the description: turn.started is a TurnStartedEvent.
func dataOf(kind string, own any) (data reflect.Type, name string) {
	fields := []reflect.StructField{{Name: "Type", Type: reflect.TypeFor[string](), Tag: reflect.StructTag(fmt.Sprintf(`enum:%q json:"type"`, kind))}}
	fields = slices.Concat(fields, reflect.VisibleFields(reflect.TypeOf(own)), reflect.VisibleFields(reflect.TypeFor[EventHead]()))
	for word := range strings.SplitSeq(kind, ".") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}

	return reflect.StructOf(fields), name + "Event"
}

// eventSchema describes the data of a stream's events as a union, discriminated by type.
func eventSchema(components *huma.Components) *huma.Schema {
	const name = "TurnEvent"
	all := components.Schemas.Map()
	if all[name] == nil {
		events := &huma.Schema{Description: "The data of a server-sent event.", Discriminator: &huma.Discriminator{PropertyName: "type", Mapping: map[string]string{}}}
		for _, e := range describedEvents {
			data, title := dataOf(e.kind, e.own)
			ref := components.Schemas.Schema(data, true, title)
			events.OneOf = append(events.OneOf, ref)
			events.Discriminator.Mapping[e.kind] = ref.Ref
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
