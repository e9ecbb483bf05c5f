// Package wiretest has test servers that speak the providers' wire protocols on a loopback port: OpenAI's Chat
// Completions, Gemini's generateContent, Anthropic's Messages, and embeddings. A Handler says what the model answers,
// faults included; Conform is the suite that every provider passes; Checked sends
// a model's requests to all of them. It is only for tests. Start reading at server.go, then dialect.go.
package wiretest
