// Package crud is the model's data tools: db_read, db_create, db_update,
// db_delete, db_analyze, generate, calculate and recall. It checks a call against
// the domain, replaces refs by keys, runs it, and replaces keys by refs.
//
// One decision's calls run together or not at all, in a transaction that the
// caller owns, under the tenant's role and its row-level security. What a model
// wrote reaches SQL only as a parameter; identifiers come from the catalog.
// A filter that cannot be applied is an error for the model to correct, never a
// wider result, and no error text contains SQL, a row or a key.
//
// It must not know prompts, jobs or HTTP. The registry owns refs and drafts; the
// tools only call it. Start reading at crud.go (the calls), then execute.go (one
// decision), then filter.go and read.go; rows.go is the same data for user
// interfaces.
package crud
