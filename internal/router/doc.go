// Package router sends each request to the database of its user, where several databases share the users, and follows
// those who move: what a database refuses because it does not serve the user any more is sent again to where they are.
//
// It must not know of routes or rows: behind it stands the whole API once for each database.
//
// Start reading at router.go.
package router
