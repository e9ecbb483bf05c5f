package telemetry

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Scope names the instrumentation in traces and metrics.
const Scope = "alfred"

// InTurn puts spans started with the returned context into the turn's trace, below its root.
func InTurn(ctx context.Context, turn uuid.UUID) context.Context {
	return trace.ContextWithRemoteSpanContext(ctx, rootOf(turn))
}

// LinkTurn links the current span, such as that of the request which enqueued a turn, to the turn's trace.
func LinkTurn(ctx context.Context, turn uuid.UUID) {
	span := trace.SpanFromContext(ctx)
	span.SetAttributes(attribute.String("alfred.turn.id", turn.String()))
	span.AddLink(trace.Link{SpanContext: rootOf(turn)})
}

// Turn is a turn that has ended.
type Turn struct {
	ID       uuid.UUID
	Session  uuid.UUID
	Number   int
	Enqueued time.Time
	Status   string // succeeded or failed
	Code     string // of a failure
}

// EndTurn reports the root span of a turn's trace, from its enqueueing until now. Whoever commits the turn's end calls
// it, once.
func EndTurn(ctx context.Context, tracer trace.Tracer, turn *Turn) {
	ctx = context.WithValue(trace.ContextWithSpanContext(ctx, trace.SpanContext{}), rootKey{}, turn.ID)
	_, span := tracer.Start(ctx, "turn", trace.WithTimestamp(turn.Enqueued), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.agent.name", Scope),
		attribute.String("gen_ai.conversation.id", turn.Session.String()), attribute.String("alfred.turn.id", turn.ID.String()),
		attribute.Int("alfred.turn.number", turn.Number), attribute.String("alfred.turn.status", turn.Status)))
	if turn.Code != "" {
		span.SetAttributes(attribute.String("error.type", turn.Code))
		span.SetStatus(codes.Error, turn.Code)
	}
	span.End()
}

// TraceID is the id of ctx's trace, nil if it has none.
func TraceID(ctx context.Context) *string {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return nil
	}
	id := span.SpanContext().TraceID().String()

	return &id
}

func rootOf(turn uuid.UUID) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID(turn), SpanID: rootSpan(turn), TraceFlags: trace.FlagsSampled, Remote: true})
}

// rootSpan is the random half of a UUID v7. Its variant bits keep it from being zero, which would be invalid.
func rootSpan(turn uuid.UUID) trace.SpanID { return trace.SpanID(turn[8:]) }

type rootKey struct{}

// ids generates random ids, except for the root spans of turns, which are derived from the turn's id.
type ids struct{}

// NewIDs implements sdktrace.IDGenerator.
func (g ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if turn, ok := ctx.Value(rootKey{}).(uuid.UUID); ok {
		return trace.TraceID(turn), rootSpan(turn)
	}
	var id trace.TraceID
	rand.Read(id[:]) // documented never to fail

	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements sdktrace.IDGenerator.
func (ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID {
	var id trace.SpanID
	rand.Read(id[:]) // documented never to fail

	return id
}
