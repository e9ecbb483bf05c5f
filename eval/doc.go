// Package eval says how good an assistant is: it plays the conversations of a suite, each trial on a scratch database,
// and checks what must then be true.
//
// It owns the form of a suite (suite.go), what is checked (check.go, watch.go), how one trial runs (trial.go) and what
// is reported (report.go and beside it); cases made of real conversations (case.go), and such a conversation held again
// beside what happened (replay.go). Which models there are, and how a worker is put together, it is told by whoever
// makes a [Lab]; it must not know settings, HTTP or the page.
//
// Start reading at [Lab.Run].
package eval
