// Package telemetry exports OpenTelemetry traces and metrics.
//
// It owns the providers (Open) and one idea: a turn is a trace whose id is the turn's id. Any process that works on a
// turn, now or after a crash, adds spans to the same trace without passing a header, a column or a message, and an
// operator finds a row's trace by pasting its id.
//
// It knows nothing of Alfred except that turns have ids; what is measured is defined where it happens. Start reading at
// Open.
package telemetry
