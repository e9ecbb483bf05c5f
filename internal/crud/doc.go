// Package crud is the model's data tools: db_read, db_create, db_update, db_delete, db_analyze, generate, calculate,
// recall and the domain's operations. It checks a call against the domain, replaces refs by keys, runs it in the
// caller's transaction under the tenant's role, and replaces keys by refs. Identifiers in SQL come from the catalog,
// and what a model wrote is only ever a parameter. It must not know prompts, jobs or HTTP. Start reading at crud.go,
// then execute.go (one decision's calls). A read goes on to read.go, filter.go, filter_sql.go, order.go and load.go; a
// write to create.go or write.go, with its values through payload.go, its names of rows through by_name.go, and guard.go asking whether it may, then to
// insert.go or merge.go, journal.go and store.go. rows.go serves the same data to user interfaces.
package crud
