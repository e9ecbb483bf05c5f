package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// A trigger that only checks leaves nothing that an undo would have to speak of. Whatever might write does.
func TestTriggersThatOnlyCheck(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA gate; CREATE TABLE gate.users (id serial PRIMARY KEY, name text NOT NULL); CREATE TABLE gate.log (id serial PRIMARY KEY, said text);
CREATE FUNCTION gate.noted(said text) RETURNS boolean LANGUAGE sql AS 'INSERT INTO gate.log (said) VALUES (said); SELECT true';
CREATE FUNCTION gate.limit_of(who integer) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 3';`)
	for name, body := range map[string]string{
		"checks": `IF TG_OP <> 'DELETE' AND (SELECT count(*) FROM gate.checks WHERE user_id = NEW.user_id) > gate.limit_of(NEW.user_id) THEN RAISE EXCEPTION 'too many'; END IF; RETURN NULL;`,
		"writes": `INSERT INTO gate.log (said) VALUES ('x'); RETURN NULL;`,
		"calls":  `IF gate.noted('x') THEN RAISE NOTICE 'noted'; END IF; RETURN NULL;`,
		"runs":   `EXECUTE 'DELETE' || ' FROM gate.log'; RETURN NULL;`,
		"tells":  `SELECT pg_notify('x', 'y') INTO STRICT NEW; RETURN NULL;`,
	} {
		exec(t, tx, `CREATE TABLE gate.`+name+` (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES gate.users, name text NOT NULL);
CREATE FUNCTION gate.on_`+name+`() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN `+body+` END $f$;
CREATE TRIGGER t AFTER INSERT OR UPDATE OR DELETE ON gate.`+name+` FOR EACH ROW EXECUTE FUNCTION gate.on_`+name+`()`)
	}
	d := bound(t, tx, "gate")
	reacts := map[string]bool{}
	for _, e := range d.Entities {
		if e.Table != "users" {
			reacts[e.Table] = e.Reacts
		}
	}
	require.Equal(t, map[string]bool{"checks": false, "writes": true, "calls": true, "runs": true, "tells": true}, reacts)
}
