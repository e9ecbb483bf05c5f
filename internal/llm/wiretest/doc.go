// Package wiretest has test servers that speak the providers' wire protocols on a loopback port: OpenAI's Chat
// Completions, Gemini's generateContent, Anthropic's Messages, and embeddings. A Handler says what the model answers,
// faults included; Checked sends a model's requests to all of them. Its own tests are those that every provider passes
// (conform_test.go). It is only for tests. Start reading at server.go, then dialect.go.
package wiretest
