// Package openai serves OpenAI's chat completions. Its clients resend the whole
// conversation: history.go finds the session that it is of.
//
// It must not know routes of our own, nor how a turn is worked.
//
// Start reading at [Register].
package openai
