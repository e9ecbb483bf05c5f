// Package anthropic is the provider for Anthropic's Messages API.
//
// It owns the translation of requests and answers. A structured answer is requested
// as a tool that the model is forced to call; tools and instructions, the stable
// parts of a prompt, are marked for the prompt cache. It never retries, except once
// without a temperature if a model rejects it.
//
// It must not know which node asks or read the environment. Start reading at
// anthropic.go.
package anthropic
