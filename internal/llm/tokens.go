package llm

import "unicode/utf8"

// runesPerToken is the usual ratio for English; tokenizers differ by a quarter.
const runesPerToken = 4

// EstimateTokens estimates a text's tokens, for when no provider counts them.
func EstimateTokens(text string) int {
	return (utf8.RuneCountInString(text) + runesPerToken - 1) / runesPerToken
}

// EstimateTokens estimates the prompt's tokens: instructions, messages, tools and
// schema.
func (r *Request) EstimateTokens() int {
	total := EstimateTokens(r.System) + EstimateTokens(string(r.Schema))
	for _, message := range r.Messages {
		total += EstimateTokens(message.Content) + EstimateTokens(message.Reasoning) + tokensOf(message.ToolCalls)
	}
	for _, tool := range r.Tools {
		total += EstimateTokens(tool.Name) + EstimateTokens(tool.Description) + EstimateTokens(string(tool.Schema))
	}

	return total
}

// EstimateTokens estimates the answer's tokens: text and tool calls.
func (r *Response) EstimateTokens() int {
	return EstimateTokens(r.Text) + tokensOf(r.ToolCalls)
}

func tokensOf(calls []ToolCall) int {
	total := 0
	for _, call := range calls {
		total += EstimateTokens(call.Name) + EstimateTokens(string(call.Args))
	}

	return total
}
