// Package telemetry turns what happens into OpenTelemetry traces and metrics.
//
// It owns the providers (Open) and one idea: a turn is a trace whose id is the turn's id. Any process that works on a
// turn, now or after a crash, adds spans to the same trace without a header, a column or a word to another process, and
// an operator finds the trace of a row by pasting its id.
//
// It knows nothing of Alfred but that turns have ids; what is measured stands with those who measure. Start reading at Open.
package telemetry
