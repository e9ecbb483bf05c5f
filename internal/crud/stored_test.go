package crud_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

// garage has columns that views show in another form, each with an index. It was made with Rails, so times without a zone are UTC.
const garage = `CREATE SCHEMA garage; CREATE TABLE garage.ar_internal_metadata (key varchar PRIMARY KEY);
CREATE TABLE garage.users (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE garage.cars (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES garage.users, name text NOT NULL);
CREATE TABLE garage.vans (id uuid PRIMARY KEY, user_id integer NOT NULL REFERENCES garage.users, name text NOT NULL);
CREATE TABLE garage.jobs (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES garage.users, name text NOT NULL, status smallint, started_at bigint, price_cents integer, ended_at timestamp, about_type varchar, about_id bigint,
	held_type varchar, held_id varchar);
INSERT INTO garage.users (name) VALUES ('Ada'); INSERT INTO garage.cars (user_id, name) VALUES (1, 'Mini'), (1, 'Golf'); INSERT INTO garage.vans VALUES ('0198c0de-0000-7000-8000-00000000000a', 1, 'Bulli');
INSERT INTO garage.jobs (user_id, name, status, started_at, price_cents, ended_at, about_type, about_id, held_type, held_id)
	SELECT 1, 'job ' || n, 1, 1764547200000 + n * 60000::bigint, 10 * n, '2025-12-01'::timestamp + n * interval '1 min', 'Car', 9 + n, 'Car', (9 + n)::text FROM generate_series(1, 20000) AS n;
INSERT INTO garage.jobs (user_id, name, status, started_at, price_cents, ended_at, about_type, about_id, held_type, held_id) VALUES
	(1, 'odd', 2, 1767344400500, 300015, '2026-01-02 09:00:00.5', 'Car', 2, 'Van', '0198C0DE-0000-7000-8000-00000000000A'), (1, 'none', NULL, NULL, NULL, NULL, NULL, NULL, 'Car', '2');
CREATE INDEX ON garage.jobs (status); CREATE INDEX ON garage.jobs (started_at); CREATE INDEX ON garage.jobs (price_cents); CREATE INDEX ON garage.jobs (ended_at); CREATE INDEX ON garage.jobs (about_id, about_type); CREATE INDEX ON garage.jobs (held_id, held_type);
ANALYZE garage.jobs`

// A condition on a column that a view shows in another form is also one on the table's, so that an index serves it: all rows were read.
func TestIndexesServeColumnsInAnotherForm(t *testing.T) {
	t.Parallel()

	tx := dbtest.OwnTx(t)
	_, err := tx.Exec(t.Context(), garage)
	require.NoError(t, err)
	d := testfactory.Views(t, tx, "garage", strings.NewReplacer("\n  - type: job\n", "\n  - type: job\n    words: {status: {0: open, 1: done, 2: stuck}}\n    writes: [create, update, delete]\n    columns: [name, status, started_at, ended_at]\n",
		`polymorphic: {about_id: {by: about_type, types: {"Car": car}}}`, `polymorphic: {about_id: {by: about_type, types: {Car: car}}, held_id: {by: held_type, types: {Car: car, Van: van}}}`,
		"\n  - type: car\n", "\n  - type: car\n    writes: [delete]\n"))
	_, err = tx.Exec(t.Context(), `INSERT INTO garage_alfred.alfred_accounts VALUES ($1, 1)`, demoUser)
	require.NoError(t, err)
	b := setupOn(t, tx, uuid.MustParse(demoUser), d.Domain)
	require.Nil(t, d.ByType("job").Column("_alfred_status"), "nobody else sees it")
	scans := func() int {
		return query[int](b, `SELECT seq_scan::int FROM pg_stat_xact_all_tables WHERE schemaname = 'garage' AND relname = 'jobs'`)
	}
	for filter, want := range map[string]string{
		`"status", "op": "=", "value": "stuck"`:                      "odd",
		`"status", "op": "in", "value": ["open", "Stuck"]`:           "odd",
		`"status", "op": "is_null"`:                                  "none",
		`"started_at", "op": "is_null"`:                              "none",
		`"started_at", "op": ">", "value": "2026-01-01"`:             "odd",
		`"started_at", "op": "=", "value": "2026-01-02"`:             "odd",
		`"started_at", "op": "=", "value": "2026-01-02T09:00:00.5Z"`: "odd",
		`"started_at", "op": "<=", "value": "2025-12-01T00:01:00Z"`:  "job 1",
		`"ended_at", "op": ">=", "value": "2026-01-02T09:00:00.5Z"`:  "odd",
		`"ended_at", "op": "<", "value": "2025-12-01T00:02:00Z"`:     "job 1",
		`"ended_at", "op": "=", "value": "2026-01-02"`:               "odd",
		`"price", "op": "=", "value": 3000.15`:                       "odd",
		`"price", "op": ">", "value": 2000`:                          "odd",
		`"price", "op": "<=", "value": 0.1`:                          "job 1",
		`"price", "op": "is_null"`:                                   "none",
		`"about_car", "op": "=", "value": "Golf"`:                    "odd",
		`"held_car", "op": "=", "value": "Golf"`:                     "none",
		`"held_van", "op": "=", "value": "Bulli"`:                    "odd",
		`"about_car", "op": "=", "value": "Golf"}, {"field": "started_at", "op": ">=", "value": "2026-01-02T08:59Z"`: "odd",
	} {
		before := scans()
		require.Equal(t, []string{want}, column[string](b.rows(b.ok("read", vocab.ToolRead, `{"table": "jobs", "filters": [{"field": `+filter+`}]}`)), "name"), filter)
		require.Equal(t, before, scans(), filter)
	}
	stuck := b.ok("read", vocab.ToolRead, `{"table": "cars", "filters": [{"field": "jobs.about_car", "op": "exists", "value": ["status = stuck", "started_at > 2026-01-01"]}]}`)
	require.Equal(t, []string{"Golf"}, column[string](b.rows(stuck), "name"))
	b.nextTurn()
	before := scans()
	require.Contains(t, b.decide("write", call(vocab.ToolDelete, `{"table": "cars", "filters": [{"field": "name", "op": "=", "value": "Golf"}]}`)).Company, "Left without it: 2 jobs.")
	require.Equal(t, before, scans())
}
