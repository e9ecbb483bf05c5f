// Package router sends each request to its user's database, if several databases share the users. When a database
// refuses a user who has moved, it sends the request again to the new one. It must not know routes or rows: behind it
// stands a whole API for each database. Start reading at router.go.
package router
