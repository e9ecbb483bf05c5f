// Package mcpserver offers what Alfred knows to programs that speak the Model
// Context Protocol: what a session knows, what was said, what prompts contained and
// why, and, where allowed, sending a message.
//
// It owns the tools: their names, parameters and answers. Everything runs as one
// user under the tenant's role, and another user's session looks like one that does
// not exist. It must not know how callers are authenticated: httpapi (/mcp) and
// `api mcp` (standard input and output) tell it for whom it acts.
//
// Start reading at server.go.
package mcpserver
