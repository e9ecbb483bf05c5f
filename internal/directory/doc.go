// Package directory is the map from users to databases, if several share the users: where each user is, whose a key is,
// and how far a move has come. It is asked for a key's hash or a user's name, and answers with a [User], cached briefly
// and for longer while the directory does not answer. It must not know requests, or what those databases contain. Start
// reading at directory.go.
package directory
