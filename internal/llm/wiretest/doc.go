// Package wiretest has test servers that speak the providers' wire protocols on a loopback port: OpenAI's Chat
// Completions, Gemini's generateContent, Anthropic's Messages, and embeddings. A Handler says what the model answers,
// faults included; Play puts an llm.Model behind the wire; Conform is the suite that every provider passes. It is only
// for tests and must not import a provider. Start reading at server.go.
package wiretest
