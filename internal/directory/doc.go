// Package directory is the map from users to databases, where several whole databases of Alfred share the users: who is
// where, whose a key is, and how far a move has come. It stands in a small database of its own or beside one of Alfred's.
//
// It must not know what stands in those databases, nor what requests are: it is asked for a key's hash or a user's name and
// answers with a [User]. What it says is remembered for a minute at most, and longer while it does not answer.
//
// Start reading at directory.go.
package directory
