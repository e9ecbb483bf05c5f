package jobs

import (
	"cmp"
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"alfred/internal/llm"
	"alfred/internal/telemetry"
	"alfred/internal/vocab"
)

// observer measures decisions and model calls. Names follow OpenTelemetry's conventions for generative AI where they
// exist.
type observer struct {
	clock  *clock
	tracer trace.Tracer

	turns, decisions, calls           metric.Float64Histogram
	tokens, leaks, retries, takeovers metric.Int64Counter
	cost                              metric.Float64Counter
}

func newObserver(config *Config, c *clock) (*observer, error) {
	traces, metrics := config.Traces, config.Metrics
	if traces == nil {
		traces = tracenoop.NewTracerProvider()
	}
	if metrics == nil {
		metrics = metricnoop.NewMeterProvider()
	}
	o, meter := &observer{clock: c, tracer: traces.Tracer(telemetry.Scope)}, metrics.Meter(telemetry.Scope)
	var errs [8]error
	seconds, unit := metric.WithUnit("s"), metric.WithUnit
	o.turns, errs[0] = meter.Float64Histogram("alfred.turn.duration", seconds, metric.WithDescription("From enqueued to ended, by status."))
	o.decisions, errs[1] = meter.Float64Histogram("alfred.node.duration", seconds, metric.WithDescription("A decision from load to commit, by node and outcome."))
	o.calls, errs[2] = meter.Float64Histogram("gen_ai.client.operation.duration", seconds, metric.WithDescription("A model's answer, by node and model."))
	o.tokens, errs[3] = meter.Int64Counter("alfred.tokens", unit("{token}"), metric.WithDescription("Tokens by node, model and kind; input counts cached ones too."))
	o.cost, errs[4] = meter.Float64Counter("alfred.cost_usd", metric.WithDescription("US dollars by the price table, by node and model."))
	o.leaks, errs[5] = meter.Int64Counter("alfred.gate.hits", metric.WithDescription("Identifiers taken out of prompts and replies. Each is a bug."))
	o.retries, errs[6] = meter.Int64Counter("alfred.node.retries", metric.WithDescription("Decisions that are tried again, by node and outcome."))
	o.takeovers, errs[7] = meter.Int64Counter("alfred.jobs.taken_over", metric.WithDescription("Jobs of dead workers that were given a successor."))

	return o, errors.Join(errs[:]...)
}

// begin starts the span of a decision in its turn's trace; decided ends it.
func (o *observer) begin(ctx context.Context, d delivery) context.Context {
	ctx, _ = o.tracer.Start(telemetry.InTurn(ctx, d.TurnID), d.Node, trace.WithAttributes( //nolint:spancheck // decided ends it
		attribute.String("alfred.turn.id", d.TurnID.String()), attribute.String("alfred.node", d.Node), attribute.Int("alfred.position", d.Position),
		attribute.Int64("alfred.job.id", d.jobID), attribute.Int("alfred.attempt", d.attempt)))

	return ctx
}

// decided records a settled decision, and its turn if that ended with it.
func (o *observer) decided(ctx context.Context, p *report, out outcome, err error) {
	o.worked(ctx, p.Node, out, time.Since(p.started))
	span := trace.SpanFromContext(ctx)
	span.SetAttributes(attribute.String("alfred.outcome", string(out.verdict)))
	if err != nil && out.verdict != verdictStale && out.verdict != verdictCancel {
		span.SetAttributes(attribute.String("error.type", cmp.Or(out.code, string(out.verdict))))
		span.SetStatus(codes.Error, string(out.verdict)) // the error's text may quote rows; it belongs in the log
	}
	span.End()
	if p.s == nil {
		return
	}
	o.leaks.Add(ctx, int64(p.s.guard.leaks))
	switch {
	case out.verdict == verdictFail && p.Node != vocab.NodeSummarize:
		o.ended(ctx, p, "failed", out.code)
	case out.verdict == verdictDone && p.Node == vocab.NodeReply:
		o.ended(ctx, p, "succeeded", "")
	}
}

// worked records a job of any kind.
func (o *observer) worked(ctx context.Context, kind string, out outcome, took time.Duration) {
	by := metric.WithAttributes(attribute.String("node", kind), attribute.String("outcome", string(out.verdict)))
	o.decisions.Record(ctx, took.Seconds(), by)
	if out.verdict == verdictRetry || out.verdict == verdictSnooze || out.verdict == verdictHandBack {
		o.retries.Add(ctx, 1, by)
	}
}

func (o *observer) ended(ctx context.Context, p *report, status, code string) {
	turn := p.s.Turn
	o.turns.Record(ctx, o.clock.Now().Sub(turn.CreatedAt).Seconds(), metric.WithAttributes(attribute.String("status", status)))
	telemetry.EndTurn(ctx, o.tracer, &telemetry.Turn{
		ID: turn.ID, Session: turn.SessionID, Number: int(turn.Number), Enqueued: turn.CreatedAt, Status: status, Code: code,
	})
}

// calling opens the span that a model is called in. done ends it and counts the call.
func (o *observer) calling(ctx context.Context, req *llm.Request) (called context.Context, done func(resp *llm.Response, err error)) {
	ctx, span := o.tracer.Start(ctx, "chat "+req.Node, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("gen_ai.operation.name", "chat"), attribute.String("alfred.node", req.Node)))
	started, attrs := time.Now(), []attribute.KeyValue{attribute.String("node", req.Node)}

	return ctx, func(resp *llm.Response, err error) {
		defer span.End()
		if err != nil {
			kind := cmp.Or(string(llm.KindOf(err)), codeInternal)
			span.SetStatus(codes.Error, kind)
			span.SetAttributes(attribute.String("error.type", kind))
			attrs = append(attrs, attribute.String("error.type", kind))
		}
		if resp != nil {
			span.SetName("chat " + resp.Model)
			span.SetAttributes(
				attribute.String("gen_ai.provider.name", resp.Provider), attribute.String("gen_ai.response.model", resp.Model),
				attribute.Int("gen_ai.usage.input_tokens", resp.Usage.Input), attribute.Int("gen_ai.usage.output_tokens", resp.Usage.Output),
				attribute.Int("gen_ai.usage.cache_read.input_tokens", resp.Usage.Cached))
			attrs = append(attrs, attribute.String("model", resp.Model))
		}
		o.calls.Record(ctx, time.Since(started).Seconds(), metric.WithAttributes(attrs...))
	}
}

// spent counts what an answer cost.
func (o *observer) spent(ctx context.Context, node, model string, usage llm.Usage, cost float64) {
	by := []attribute.KeyValue{attribute.String("node", node), attribute.String("model", model)}
	for kind, n := range map[string]int{"input": usage.Input, "output": usage.Output, "cached": usage.Cached} {
		o.tokens.Add(ctx, int64(n), metric.WithAttributes(append(by[:2:2], attribute.String("kind", kind))...))
	}
	o.cost.Add(ctx, cost, metric.WithAttributes(by...))
}
