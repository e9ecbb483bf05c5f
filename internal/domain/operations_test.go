package domain_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// yard has all kinds of functions that cannot be operations.
const yard = `
CREATE SCHEMA yard;
GRANT USAGE ON SCHEMA yard TO alfred_tenant;
CREATE TABLE yard.carts (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid,
	name text NOT NULL, load numeric GENERATED ALWAYS AS (length(name)) STORED, UNIQUE (user_id, id));
ALTER TABLE yard.carts ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON yard.carts TO alfred_tenant USING (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
GRANT SELECT ON yard.carts TO alfred_tenant;
CREATE TYPE yard.pair AS (x integer, y integer);
CREATE TYPE yard.colour AS ENUM ('red', 'blue');
CREATE FUNCTION yard.fine(this bigint, colour yard.colour DEFAULT 'red') RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION yard.composite(this bigint, at yard.pair) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION yard.overloaded(this bigint) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION yard.overloaded(this bigint, x integer) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION yard.nameless(bigint) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION yard.wrong_key(this text) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION yard.definer(this bigint) RETURNS void LANGUAGE sql SECURITY DEFINER AS '';
CREATE FUNCTION yard.private(this bigint) RETURNS void LANGUAGE sql AS '';
REVOKE ALL ON FUNCTION yard.private FROM PUBLIC;
CREATE PROCEDURE yard.procedure(this bigint) LANGUAGE sql AS '';`

const yardYAML = `
name: yard
schema: yard
owner: user_id
persona: You keep carts.
entities:
  - {type: cart, table: carts, label: "{name}", order: [name]%s}
subdomains:
  - {name: carts, description: All., tables: [carts], guidance: none}
operations:
  - {name: do_it, on: cart, %s}
`

// W06: a function that cannot be an operation is rejected by name before anybody calls it, with what the owner can do;
// so is a declaration that allows more writes than the SQL grants.
func TestW06InvalidOperations(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, yard)
	bind := func(entity, operation string) error {
		decl, err := domain.Load(fstest.MapFS{"yard.yaml": {Data: fmt.Appendf(nil, yardYAML, entity, operation)}}, "yard.yaml")
		if err != nil {
			return err
		}
		_, err = domain.Bind(t.Context(), tx, decl)

		return err
	}
	require.NoError(t, bind("", "function: fine, confirm: {when: \"load > 3\"}"))
	for operation, says := range map[string]string{
		"function: composite":                         "no model can give at, which is yard.pair; take its parts as parameters",
		"function: overloaded":                        "there are 2 functions yard.overloaded; give the one that is meant a name of its own",
		"function: nameless":                          "every parameter of the function needs a name",
		"function: wrong_key":                         "this is text, the key of cart is bigint",
		"function: definer":                           "SECURITY DEFINER: it runs with its owner's rights, which trusted: true allows",
		"function: private":                           "alfred_tenant may not call yard.private: GRANT EXECUTE",
		"function: procedure":                         "yard.procedure is no plain function",
		"function: gone":                              "function yard.gone does not exist",
		"function: fine, preview: gone":               "function yard.gone does not exist",
		"function: fine, changes: [wagon]":            `there is no entity type "wagon"`,
		"function: fine, arguments: {colour: wagon}":  `there is no entity type "wagon"`,
		"function: fine, confirm: sometimes":          "confirm is always, never, or when: and an expression",
		"function: fine, confirm: {when: weight > 3}": "weight",
	} {
		require.ErrorContains(t, bind("", operation), says, operation)
	}
	require.ErrorContains(t, bind(", writes: [create], columns: [name]", "function: fine"), "alfred_tenant may not write name of carts: GRANT INSERT (name)", "what the SQL does not grant")
	require.ErrorContains(t, bind(", writes: [create], columns: [load]", "function: fine"), "load", "what is computed")
	exec(t, tx, `GRANT UPDATE (name) ON yard.carts TO alfred_tenant`)
	require.ErrorContains(t, bind("", "function: fine"), "which the declaration does not allow", "what the SQL grants beyond it")
}
