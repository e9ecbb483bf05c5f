// Package tour is a conversation about the kitchen, message by message, with the facts that each must leave in the
// database. `make demo` holds it with a running API, the end-to-end tests with their own. It uses HTTP to talk and SQL
// to check, and must not know more than any client. Start reading at conversation.go, then tour.go.
package tour
