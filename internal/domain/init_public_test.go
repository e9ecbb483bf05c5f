package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// What each row of an owned table has for itself alone is as private as that row: shared, everybody would read
// everybody's documents.
func TestInitSharesNothingThatIsOnePersons(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA paper;
CREATE TABLE paper.users (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE paper.scans (id serial PRIMARY KEY, data text NOT NULL);
CREATE TABLE paper.contents (id serial PRIMARY KEY, words text NOT NULL, scan_id integer UNIQUE REFERENCES paper.scans);
CREATE TABLE paper.inks (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE paper.blots (ink_id integer REFERENCES paper.inks, form integer, PRIMARY KEY (ink_id, form));
CREATE TABLE paper.cities (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE paper.capitals (city_id integer PRIMARY KEY REFERENCES paper.cities, since date);
CREATE TABLE paper.letters (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES paper.users, title text NOT NULL,
	content_id integer NOT NULL UNIQUE REFERENCES paper.contents, city_id integer REFERENCES paper.cities);`)
	d := bound(t, tx, "paper")
	text := d.Text
	require.Contains(t, text, "# left out, contents: each of its rows is that of one row of letters, and shared, everybody would see all of them; if they may, declare it reference: true")
	require.Contains(t, text, "# left out, scans: each of its rows is that of one row of contents")
	require.NotContains(t, text, "  - type: content\n")
	require.NotContains(t, text, "refers to content")
	require.Contains(t, text, "# left out, inks: no foreign key connects it", "nothing of theirs points at it")
	require.Contains(t, text, "  - type: city\n", "what a row of a shared table has for itself is shared")
	require.True(t, d.ByType("letter").Column("content_id").Hidden, "a key without a ref")
	require.False(t, d.ByType("letter").Column("city_id").Hidden)
}

// Contacts of people in a shared table are not everybody's business.
func TestInitHidesContactsThatAllWouldShare(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA fleet;
CREATE TABLE fleet.places (place_id serial PRIMARY KEY, address text NOT NULL, address2 text, district text NOT NULL, phone text NOT NULL, last_update timestamptz NOT NULL DEFAULT now());
CREATE TABLE fleet.drivers (driver_id serial PRIMARY KEY, first_name text NOT NULL, last_name text NOT NULL, title text NOT NULL, birth_date timestamp, home_phone text, email text, email_confirmed boolean NOT NULL DEFAULT false, salary numeric);
CREATE TABLE fleet.customers (customer_id serial PRIMARY KEY, name text NOT NULL, email text, place_id integer NOT NULL REFERENCES fleet.places);
CREATE TABLE fleet.rides (ride_id serial PRIMARY KEY, customer_id integer NOT NULL REFERENCES fleet.customers, driver_id integer NOT NULL REFERENCES fleet.drivers, starts_at timestamptz NOT NULL)`)
	text := bound(t, tx, "fleet").Text
	require.Contains(t, text, "hidden: [address, address2, phone] # unsure: part of it tells of people, and all users share the rows")
	require.Contains(t, text, "hidden: [birth_date, home_phone, email, salary] # unsure: part of it tells of people, and all users share the rows")
	require.Contains(t, text, `display: "{district}"`)
	require.NotContains(t, text, "{last_update")
	require.Contains(t, text, `label: "{first_name} {last_name}"`, "a person is called by name, not by title")
	require.NotContains(t, text, "hidden: [email]", "their own email is theirs to see")
}

// What is named like a date holds days, even where programs store a time with them.
func TestInitLabelsByDates(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA bills; CREATE TABLE bills.users (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE bills.bills (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES bills.users, bill_date timestamp NOT NULL, total numeric);
CREATE TABLE bills.calls (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES bills.users, made_at timestamptz NOT NULL)`)
	text := bound(t, tx, "bills").Text
	require.Contains(t, text, `label: "{bill_date:Jan 2, 2006}"`)
	require.Contains(t, text, `label: "{made_at:Jan 2, 2006 15:04}"`)
}

// Names of other languages than English tell what a column holds as well, and a domain type how many digits an amount has.
func TestInitReadsNamesOfOtherLanguages(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA buero; CREATE DOMAIN buero.geld AS numeric(12,2) CHECK (VALUE >= 0);
CREATE TABLE buero.konto (id serial PRIMARY KEY, email text NOT NULL);
CREATE TABLE buero.projekt (id serial PRIMARY KEY, konto_id integer NOT NULL REFERENCES buero.konto, bezeichnung text NOT NULL);
CREATE TABLE buero.aufgabe (id serial PRIMARY KEY, projekt_id integer NOT NULL REFERENCES buero.projekt, titel text NOT NULL, faellig date);
CREATE TABLE buero.rechnung (id serial PRIMARY KEY, konto_id integer NOT NULL REFERENCES buero.konto, nummer text NOT NULL UNIQUE, projekt_id integer NOT NULL REFERENCES buero.projekt, datum date, betrag buero.geld NOT NULL);
CREATE TABLE buero.art (id serial PRIMARY KEY, code varchar(3) NOT NULL UNIQUE, libelle text NOT NULL);
CREATE TABLE buero.beitrag (konto_id integer NOT NULL REFERENCES buero.konto, art_id integer NOT NULL REFERENCES buero.art, jahr smallint NOT NULL, betrag buero.geld, PRIMARY KEY (konto_id, art_id, jahr));
CREATE TABLE buero.cliente (id serial PRIMARY KEY, konto_id integer NOT NULL REFERENCES buero.konto, nom text NOT NULL, prenom text NOT NULL)`)
	text := bound(t, tx, "buero").Text
	require.Contains(t, text, `accounts: "konto"}`)
	require.Contains(t, text, `label: "{titel}"`)
	require.Contains(t, text, `label: "{nummer}"`)
	require.Contains(t, text, `label: "{prenom} {nom}"`)
	require.Contains(t, text, `label: "{libelle}"`)
	require.Contains(t, text, `label: "{_art_id_label} · {jahr}"`, "there is a fee each year")
	require.Contains(t, text, "{?betrag: betrag:{betrag:0.00}}")
}

// Types have no accents, what people call rows has them; what is called a name beside one part of one is the other; and keys may be
// called so in front.
func TestInitReadsASpanishProgram(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA alquiler;
CREATE TABLE alquiler.usuarios (id serial PRIMARY KEY, nombre text NOT NULL, apellidos text NOT NULL);
CREATE TABLE alquiler."vehículos" (id serial PRIMARY KEY, id_usuario integer NOT NULL REFERENCES alquiler.usuarios, modelo text NOT NULL);
CREATE TABLE alquiler."años" (id serial PRIMARY KEY, "id_vehículo" integer NOT NULL, nota text NOT NULL);
CREATE TABLE alquiler.sucursales (id serial PRIMARY KEY, id_usuario integer NOT NULL REFERENCES alquiler.usuarios, nombre text NOT NULL);
CREATE TABLE alquiler."bücher" (id serial PRIMARY KEY, id_sucursal_recogida integer NOT NULL REFERENCES alquiler.sucursales, nombre text NOT NULL);
CREATE TABLE alquiler."книги" (id serial PRIMARY KEY, id_usuario integer NOT NULL REFERENCES alquiler.usuarios, nombre text NOT NULL);
CREATE TABLE alquiler."счета" (id serial PRIMARY KEY, id_usuario integer NOT NULL REFERENCES alquiler.usuarios, nombre text NOT NULL);
CREATE TABLE alquiler.ausleihen (id serial PRIMARY KEY, buch_id integer NOT NULL REFERENCES alquiler."bücher", nombre text NOT NULL);
CREATE TABLE alquiler.socios (id serial PRIMARY KEY, id_usuario integer NOT NULL REFERENCES alquiler.usuarios, name text NOT NULL, vorname text NOT NULL)`)
	text := bound(t, tx, "alquiler").Text
	require.Contains(t, text, "type: vehiculo\n")
	require.Contains(t, text, `name: "vehículo"`)
	require.Contains(t, text, `name: "año"`)
	require.Contains(t, text, `name: "sucursal"`)
	require.Contains(t, text, "type: buch\n")
	require.Contains(t, text, `name: "buch"`)
	require.Contains(t, text, `type: row_other`)
	require.Contains(t, text, `name: "книги"`)
	require.Contains(t, text, `name: "счета"`)
	require.Contains(t, text, `label: "{nombre} {apellidos}"`)
	require.Contains(t, text, `references: {"id_vehículo": vehiculo}`)
	require.Contains(t, text, `label: "{vorname} {name}"`)
	require.Contains(t, text, "{?id_vehículo:, vehículo: {_id_vehículo_label}}")
}

// One table with a column that is named like an owner says less than a table of people that several tables name.
func TestInitTakesNoLoginForAnOwner(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA forum;
CREATE TABLE forum.person (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE forum.oauth_provider (id serial PRIMARY KEY, client_id text NOT NULL, display_name text NOT NULL);
CREATE TABLE forum.post (id serial PRIMARY KEY, creator_id integer NOT NULL REFERENCES forum.person, name text NOT NULL);
CREATE TABLE forum.comment (id serial PRIMARY KEY, creator_id integer NOT NULL REFERENCES forum.person, post_id integer NOT NULL REFERENCES forum.post, content text NOT NULL)`)
	text := bound(t, tx, "forum").Text
	require.Contains(t, text, `accounts: "person"}`)
	require.Contains(t, text, `owner: "creator_id"`)
}

// Where no column is named like an owner, a table of people says who it is.
func TestInitFindsPeopleByTheirTable(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA vault;
CREATE TABLE vault.organizations (uuid varchar(40) PRIMARY KEY, name text NOT NULL);
CREATE TABLE vault.users (uuid varchar(40) PRIMARY KEY, email text NOT NULL, password_hint text, totp_recover text, backup_codes text[], cookie text, security_stamp text, pass_crypt text, user_pass text, user_activation_key text, boarding_pass text, keywords text);
CREATE TABLE vault.folders (uuid varchar(40) PRIMARY KEY, user_uuid varchar(40) NOT NULL REFERENCES vault.users, name text NOT NULL);
CREATE TABLE vault.groups (uuid varchar(40) PRIMARY KEY, organizations_uuid varchar(40) NOT NULL REFERENCES vault.organizations, name text NOT NULL);`)
	text := bound(t, tx, "vault").Text
	require.Contains(t, text, `accounts: "users"}`)
	require.Contains(t, text, `owner: "user_uuid" # unsure`)
	require.Contains(t, text, "hidden: [password_hint, totp_recover, backup_codes, cookie, security_stamp, pass_crypt, user_pass, user_activation_key]")
	require.NotContains(t, text, "speakable", "nobody speaks a uuid, whatever its type")
}

// Rows are called by words that tell them apart: of a table's own name, rather than a code, and with the year of a day.
func TestInitCallsRowsByTheirNames(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA trade;
CREATE TABLE trade.countries (country_id serial PRIMARY KEY, updated timestamptz NOT NULL, country varchar(40) NOT NULL);
CREATE TABLE trade.cities (city_id serial PRIMARY KEY, last_update timestamptz NOT NULL, country_id integer NOT NULL REFERENCES trade.countries, city varchar(40) NOT NULL);
CREATE TABLE trade.customers (customer_id varchar(5) PRIMARY KEY, company_name varchar(40) NOT NULL, contact_name varchar(30), city_id integer REFERENCES trade.cities);
CREATE TABLE trade.orders (order_id serial PRIMARY KEY, customer_id varchar(5) NOT NULL REFERENCES trade.customers, city_id integer NOT NULL REFERENCES trade.cities, placed_at timestamp NOT NULL);
CREATE TABLE trade.order_tags (order_id integer NOT NULL REFERENCES trade.orders ON DELETE CASCADE, k varchar(20) NOT NULL, v varchar(20) NOT NULL, PRIMARY KEY (order_id, k));
CREATE TABLE trade.follows (target_id varchar(5) NOT NULL REFERENCES trade.customers, who_id varchar(5) NOT NULL REFERENCES trade.customers, PRIMARY KEY (who_id, target_id));`)
	d := bound(t, tx, "trade")
	text := d.Text
	for _, part := range []string{
		`label: "{country}"`, `label: "{city}"`, `label: "{company_name}"`, `label: "{placed_at:Jan 2, 2006 15:04} · {_city_id_label}"`,
		`display: "{k} {v}"`, `owner: "who_id" # unsure: its rows are those of whom it names; if not, owner: target_id`,
	} {
		require.Contains(t, text, part)
	}
	require.True(t, d.ByType("customer").Speakable, "it is called by its code, too")
}

// What only the partitions of a table reference, its rows reference.
func TestInitReadsForeignKeysOfPartitions(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA till;
CREATE TABLE till.customers (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE till.clerks (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE till.payments (id serial, customer_id integer NOT NULL, by_clerk integer NOT NULL, paid_on date NOT NULL, PRIMARY KEY (paid_on, id)) PARTITION BY RANGE (paid_on);
CREATE TABLE till.payments_25 PARTITION OF till.payments (FOREIGN KEY (customer_id) REFERENCES till.customers, FOREIGN KEY (by_clerk) REFERENCES till.clerks) FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE till.payments_26 PARTITION OF till.payments (FOREIGN KEY (customer_id) REFERENCES till.customers, FOREIGN KEY (by_clerk) REFERENCES till.clerks) FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');`)
	d := bound(t, tx, "till")
	require.NotNil(t, d.ByType("clerk"))
	require.Same(t, d.ByType("clerk"), d.ByType("payment").Column("by_clerk").Target())
	require.Equal(t, "customer_id", d.ByType("payment").Owner.Name)
	require.Equal(t, "Jan 12, 2026 · Bo", d.ByType("payment").Label.Render(map[string]any{"paid_on": "2026-01-12", "_by_clerk_label": "Bo"}))
}

// Rows that nobody owns are nobody's: they are no reason to give up.
func TestProbeWithoutAnOwner(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA den; CREATE TABLE den.users (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE den.settings (id serial PRIMARY KEY, name text NOT NULL, changed_by_user integer REFERENCES den.users);
INSERT INTO den.users (name) VALUES ('Ada'), ('Eve'); INSERT INTO den.settings (name, changed_by_user) VALUES ('a', NULL), ('b', 1), ('c', 2)`)
	decl := bound(t, tx, "den").Decl
	proof, err := domain.Probe(t.Context(), tx, decl)
	require.NoError(t, err)
	require.Empty(t, proof.Broken)
	require.Empty(t, proof.Untried)
}
