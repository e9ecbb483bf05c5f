// Package openai serves OpenAI's chat completions. Its clients resend the whole conversation with each message;
// history.go finds the session it belongs to. It must not know our own routes, or how a turn is worked. Start reading
// at [Register].
package openai
