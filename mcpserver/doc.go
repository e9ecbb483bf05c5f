// Package mcpserver offers what Alfred knows to programs that speak the Model
// Context Protocol: what a session knows, what was said, what prompts held and
// why, and, where it is allowed, sending a message.
//
// It owns the tools: their names, parameters and answers. Everything runs as one
// user under the tenant's role, and another user's session answers like one that
// does not exist. It must not know how callers are told apart: httpapi (/mcp) and
// `api mcp` (standard input and output) stand above it and say for whom it acts.
//
// Start reading at server.go.
package mcpserver
