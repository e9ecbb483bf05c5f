// Package openai is the provider for every server that speaks OpenAI's Chat
// Completions: OpenAI itself, Ollama, vLLM, llama.cpp and others.
//
// It owns the translation of requests and answers, and the tolerance for less capable
// servers: the schema is also in the prompt, JSON is found in prose, and optional
// parameters that a server rejects are left out from then on. It never retries
// otherwise; that is the caller's decision.
//
// It must not know which node asks or read the environment. Start reading at
// openai.go.
package openai
