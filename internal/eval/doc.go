// Package eval measures how good an assistant is: it holds a suite's conversations, each trial on a scratch database,
// and checks the rows. It owns the suite format (suite.go), the checks (check.go, watch.go), the reports (report.go),
// cases made from real conversations (case.go) and replays (replay.go). It must not know settings, HTTP or the page:
// whoever creates a [Lab] passes in the models. Start reading at [Lab.Run].
package eval
