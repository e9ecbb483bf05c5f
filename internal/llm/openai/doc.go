// Package openai is the provider for every server that speaks OpenAI's Chat Completions: OpenAI itself, Ollama, vLLM,
// llama.cpp and others. It translates requests and answers, and tolerates less capable servers: it puts the schema into
// the prompt too, and leaves out parameters that a server rejects. Otherwise it never retries. It must not know which
// node asks, or read the environment. Start reading at openai.go.
package openai
