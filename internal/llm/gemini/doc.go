// Package gemini is the provider for Google's Gemini models, using Google's own SDK
// and the Gemini API (generateContent), with an API key.
//
// It owns the translation of requests and answers. It uses nothing of Google's cloud:
// no project, no credentials but the key, and none of the environment variables that
// the SDK would read. Start reading at gemini.go.
package gemini
