// Package tour is a conversation about the kitchen, the README's and a little more,
// message by message, with the facts that each must leave in the database.
//
// `make demo` (internal/demo) runs it against a running API and prints it; the
// end-to-end tests run it against their own. It talks to Alfred like any client: HTTP
// for the conversation, SQL for what it left. Start reading at conversation.go, then
// tour.go.
package tour
