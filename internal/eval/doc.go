// Package eval measures how good an assistant is: it plays a suite's conversations, each trial on a scratch database,
// and checks what must be true afterwards.
//
// It owns the suite format (suite.go), the checks (check.go, watch.go), how one trial runs (trial.go) and the reports
// (report.go and its neighbours), cases made from real conversations (case.go), and replays of such a conversation
// beside the original (replay.go). Whoever makes a [Lab] tells it which models exist and how a worker is built; it must
// not know settings, HTTP or the page.
//
// Start reading at [Lab.Run].
package eval
