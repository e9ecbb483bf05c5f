// Package telemetry exports OpenTelemetry traces and metrics. It owns one idea: a turn is a trace whose id is the
// turn's id. So any process that works on the turn, now or after a crash, adds to the same trace, and an operator finds
// it by pasting the id. It must not know anything else of Alfred; metrics are defined where they are measured. Start
// reading at Open.
package telemetry
