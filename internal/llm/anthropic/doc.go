// Package anthropic is the provider for Anthropic's Messages API. It translates requests and answers, asks for
// structured answers with a forced tool call, and marks tools, instructions and conversation for the prompt cache. It
// retries only without a parameter that a model rejected. It must not know which node asks, or read the environment.
// Start reading at anthropic.go.
package anthropic
