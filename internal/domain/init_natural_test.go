package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// flats were made by hand over the years: keys that people say, padded codes, numbers that triggers give out, and amounts with a currency.
const flats = `
CREATE SCHEMA flats;
CREATE TABLE flats.users (login text PRIMARY KEY, full_name text NOT NULL, pin_hash text);
CREATE TABLE flats.kinds (code char(3) PRIMARY KEY, description text NOT NULL);
CREATE TABLE flats.houses (code char(6) PRIMARY KEY, manager text NOT NULL REFERENCES flats.users, street text NOT NULL);
CREATE TABLE flats.units (house char(6) NOT NULL REFERENCES flats.houses, no smallint NOT NULL, kind char(3) NOT NULL REFERENCES flats.kinds, rooms smallint, PRIMARY KEY (house, no));
CREATE TABLE flats.leases (no text PRIMARY KEY, house char(6) NOT NULL, unit smallint NOT NULL, rent money NOT NULL CHECK (rent > 0::money), deposit money, FOREIGN KEY (house, unit) REFERENCES flats.units);
CREATE TABLE flats.bookings (id serial PRIMARY KEY, house char(6) NOT NULL REFERENCES flats.houses, booked date NOT NULL, what text NOT NULL, amount money NOT NULL DEFAULT 0);
CREATE FUNCTION flats.numbered() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.no := coalesce(NEW.no, '2026-0007'); RETURN NEW; END $$;
CREATE TRIGGER numbered BEFORE INSERT ON flats.leases FOR EACH ROW EXECUTE FUNCTION flats.numbered();
INSERT INTO flats.users VALUES ('ada', 'Ada', 'x'), ('eve', 'Eve', 'x'); INSERT INTO flats.kinds VALUES ('FLT', 'Flat');
INSERT INTO flats.houses VALUES ('LIN12', 'ada', 'Linden Street 12'), ('OAK3', 'eve', 'Oak Street 3'); INSERT INTO flats.units VALUES ('LIN12', 1, 'FLT', 2), ('LIN12', 2, 'FLT', 3), ('OAK3', 1, 'FLT', 3);
INSERT INTO flats.leases VALUES ('2025-0001', 'LIN12', 1, 572, 1000)`

// Rows are called by the codes and numbers that people know them by: a key called code was shown nowhere, all flats of a house were "Flat",
// and a lease had no number. Words stand beside them, though the house is a text, too.
func TestInitCallsRowsByNaturalKeys(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, flats)
	v := bound(t, tx, "flats")
	for entityType, label := range map[string]string{"house": "{house_code}", "unit": "{_house_label} · {no}", "lease": "{code}", "booking": "{booked:Jan 2, 2006} · {_house_label}", "kind": "{description}"} {
		require.Equal(t, label, v.ByType(entityType).Label.String(), entityType)
	}
	require.Equal(t, "{booked:Jan 2, 2006} · {_house_label} {what}{?amount: amount:{amount:0.00}}", v.ByType("booking").Display.String())
	require.True(t, v.ByType("user").Column("pin_hash").Hidden)
	require.NotContains(t, v.Text, "{pin_hash}")
	exec(t, tx, `INSERT INTO flats_alfred.alfred_accounts VALUES ('`+adaID+`', 'ada'), ('`+eveID+`', 'eve')`)
	require.Equal(t, "LIN12", as(t, tx, adaID, `SELECT `+v.ByType("house").Column("house_code").SQL()+` FROM flats_alfred.houses`))
}

// Amounts with a currency are numbers behind views, so that they can be added up and compared, and are written as numbers.
func TestViewsShowMoneyAsNumbers(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, flats)
	d := bound(t, tx, "flats", "\n  - type: lease\n", "\n  - type: lease\n    writes: [create, update, delete]\n    columns: [unit_key, rent, deposit]\n").Domain
	exec(t, tx, `INSERT INTO flats_alfred.alfred_accounts VALUES ('`+adaID+`', 'ada'), ('`+eveID+`', 'eve')`)
	rent := d.ByType("lease").Column("rent")
	require.Equal(t, domain.KindNumber, rent.Kind)
	require.False(t, rent.Nullable)
	require.Equal(t, "1572.00", as(t, tx, adaID, `SELECT sum(rent + deposit)::text FROM flats_alfred.leases WHERE rent > 500`))
	require.Equal(t, "0", as(t, tx, adaID, `SELECT count(*)::text FROM flats_alfred.leases WHERE rent > 1000`))
	require.Equal(t, "600.5", as(t, tx, adaID, `UPDATE flats_alfred.leases SET rent = 600.5, deposit = NULL RETURNING rent::text`))
	require.Equal(t, "80", as(t, tx, adaID, `INSERT INTO flats_alfred.leases (unit_key, rent) VALUES ('LIN12:2', 80) RETURNING rent::text`))
	require.Contains(t, as(t, tx, adaID, `INSERT INTO flats_alfred.leases (unit_key, rent) VALUES ('LIN12:2', 0) RETURNING rent::text`), "leases_rent_check")
}

// What takes place from one time to another is called by it: of two visits of a patient, nothing else tells which is which. Types that
// models do not read are named.
func TestInitCallsRowsByTheirRange(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA ward; CREATE TYPE ward.place AS (street text, city text);
		CREATE TABLE ward.patients (id serial PRIMARY KEY, name text NOT NULL, home ward.place, "wayHome" ward.place, words tsvector);
		CREATE TABLE ward.visits (id serial PRIMARY KEY, patient_id integer NOT NULL REFERENCES ward.patients, during tstzrange NOT NULL, notes text NOT NULL DEFAULT '');
		CREATE TABLE ward.stays (id serial PRIMARY KEY, patient_id integer NOT NULL REFERENCES ward.patients, nights daterange NOT NULL)`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"ward"}, Everybody: true})
	require.NoError(t, err)
	require.Contains(t, text, `label: "{during:Jan 2, 2006 15:04} · {_patient_id_label}"`)
	require.Contains(t, text, `order: ["during"]`)
	require.Contains(t, text, `label: "{nights:Jan 2, 2006} · {_patient_id_label}"`)
	require.Contains(t, text, `    # unsure: models read no ward.place: computed: [{name: home_text, sql: "home::text"}] would show home`)
	require.Contains(t, text, `[{name: way_home_text, sql: "\"wayHome\"::text"}]`)
	require.NotContains(t, text, "words_text")
}
