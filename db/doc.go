// Package db is what sqlc generates from sql/schema/alfred and sql/queries: one method per query, one struct per table.
// Only this file is written by hand; change the SQL and run `make generate`. It must not import any other package of
// Alfred.
package db
