// Package db is what sqlc generates from sql/schema/alfred and sql/queries: one method per query, one struct per table.
// Nothing in it but this file is written by hand; change the SQL and run `make generate`. It imports nothing of ours.
package db
