// Package entries is what sqlc generates from sql/schema/directory and sql/queries/directory, for the map from users to
// databases: one method per query, one struct per table. Nothing in it but this file is written by hand; change the SQL and
// run `make generate`. It imports nothing of ours.
package entries
