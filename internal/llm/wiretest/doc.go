// Package wiretest provides test servers that speak the providers' real wire
// protocols on a loopback port: OpenAI's Chat Completions (streamed and not, and
// embeddings), Gemini's generateContent (and embeddings) and Anthropic's Messages.
//
// A Handler says what the model would answer, faults included; Play lets an
// llm.Model, for example a script, answer behind the wire, so that whole turns can
// run over HTTP. Conform is the suite that every provider passes.
//
// It is only for tests and must not import a provider. Start reading at server.go.
package wiretest
