package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/vocab"
)

// oddSQL has what is rare in a schema and allowed.
const oddSQL = `
CREATE SCHEMA odd;
GRANT USAGE ON SCHEMA odd TO alfred_tenant;
CREATE TYPE odd.unit AS ENUM ('m', 'M', 'g');
CREATE TABLE odd.things (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid,
	name text NOT NULL, unit odd.unit, UNIQUE (user_id, id));
ALTER TABLE odd.things ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON odd.things TO alfred_tenant USING (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
GRANT SELECT, DELETE, INSERT (name, unit), UPDATE (name, unit) ON odd.things TO alfred_tenant;`

const oddYAML = `
name: odd
schema: odd
owner: user_id
persona: You keep odd things.
entities:
  - {type: thing, table: things, label: "{name}", order: [name], writes: [create, update, delete], columns: [name, unit]}
subdomains:
  - {name: things, description: All., tables: [things]}
`

// An enum's values may differ only in their case.
func TestEnumValuesThatDifferInCase(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, oddSQL, oddYAML)
	row := b.rows(b.ok("write", vocab.ToolCreate, `{"table": "things", "data": {"name": "way", "unit": "M"}}`))[0]
	require.Equal(t, "M", row["unit"])
	b.scope.Call++
	row = b.rows(b.ok("write", vocab.ToolCreate, `{"table": "things", "data": {"name": "load", "unit": "G"}}`))[0]
	require.Equal(t, "g", row["unit"])
}
