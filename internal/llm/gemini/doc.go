// Package gemini is the provider for Google's Gemini models (generateContent), through Google's own SDK and with an API
// key. It translates requests and answers. It uses no cloud project and none of the environment variables that the SDK
// would read, and must not know which node asks. Start reading at gemini.go.
package gemini
