package domain

import _ "embed"

// The statements about the catalog.
var (
	//go:embed catalog/closed_below.sql
	closedBelowSQL string
	//go:embed catalog/columns.sql
	columnsSQL string
	//go:embed catalog/constraints.sql
	constraintsSQL string
	//go:embed catalog/filled.sql
	filledSQL string
	//go:embed catalog/detach.sql
	detachSQL string
	//go:embed catalog/facts.sql
	factsSQL string
	//go:embed catalog/functions.sql
	functionsSQL string
	//go:embed catalog/hash.sql
	hashSQL string
	//go:embed catalog/reaching.sql
	reachingSQL string
	//go:embed catalog/sequences.sql
	sequencesSQL string
	//go:embed catalog/tables.sql
	tablesSQL string
	//go:embed catalog/view_columns.sql
	viewColumnsSQL string
	//go:embed catalog/view_rules.sql
	viewRulesSQL string
)
