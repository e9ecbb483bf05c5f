// Package mcpserver offers Alfred to programs that speak the Model Context Protocol: what a session knows, what was
// said, what prompts contained and why, and sending a message where that is allowed. It owns the tools' names,
// parameters and answers. Everything runs as one user under the tenant's role. It must not know how callers are
// authenticated: httpapi and `api mcp` say for whom it acts. Start reading at server.go.
package mcpserver
