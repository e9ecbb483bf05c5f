// Package gemini is the provider for Google's Gemini models, through the endpoint
// of theirs that is compatible with Chat Completions.
//
// It owns the address and the name; package openai speaks to it. Google's own SDK
// brings gRPC, OpenCensus and its cloud authentication along, for an API key and
// one POST request. Start reading at gemini.go.
package gemini
