package domain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

const household = `CREATE SCHEMA fam_auth; CREATE TABLE fam_auth.users (id uuid PRIMARY KEY, email text);
CREATE SCHEMA fam;
CREATE TABLE fam.profiles (id uuid PRIMARY KEY REFERENCES fam_auth.users ON DELETE CASCADE, display_name text NOT NULL, avatar_url text);
CREATE TABLE fam.households (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), name text NOT NULL, created_by uuid NOT NULL REFERENCES fam_auth.users, created_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE fam.household_members (household_id uuid NOT NULL REFERENCES fam.households ON DELETE CASCADE, user_id uuid NOT NULL REFERENCES fam_auth.users ON DELETE CASCADE,
	role text NOT NULL DEFAULT 'member', joined_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (household_id, user_id));
CREATE TABLE fam.categories (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), household_id uuid NOT NULL REFERENCES fam.households ON DELETE CASCADE, name text NOT NULL, color text NOT NULL DEFAULT '#fff', UNIQUE (household_id, name));
CREATE TABLE fam.tasks (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), household_id uuid NOT NULL REFERENCES fam.households ON DELETE CASCADE, category_id uuid REFERENCES fam.categories ON DELETE SET NULL,
	title text NOT NULL, notes text, photo_path text, link_url text, colour text, created_by uuid REFERENCES fam_auth.users, assigned_to uuid REFERENCES fam_auth.users, done_at timestamptz, takes interval);
CREATE TABLE fam.receipts (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), household_id uuid NOT NULL REFERENCES fam.households ON DELETE CASCADE, paid_by uuid NOT NULL REFERENCES fam_auth.users,
	description text NOT NULL, storage_path text, total numeric(10, 2) NOT NULL);
CREATE TABLE fam.events (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), household_id uuid NOT NULL REFERENCES fam.households ON DELETE CASCADE, title text NOT NULL, starts_at timestamptz NOT NULL);
INSERT INTO fam_auth.users VALUES ('` + adaID + `', 'a'), ('` + eveID + `', 'e');
INSERT INTO fam.profiles SELECT id, 'u' || id FROM fam_auth.users;
INSERT INTO fam.households (name, created_by) VALUES ('Home', '` + adaID + `'), ('Hut', '` + adaID + `');
INSERT INTO fam.household_members (household_id, user_id) SELECT h.id, p.id FROM fam.households AS h, fam.profiles AS p WHERE h.name = 'Home';
INSERT INTO fam.tasks (household_id, title, created_by) SELECT id, CASE name WHEN 'Home' THEN 'Sweep' ELSE 'Scrub' END, created_by FROM fam.households`

// What a household has is its people's, whom memberships name: the households were taken for the accounts. What only programs read
// is searched for no meaning, and how long something takes is no time of day.
func TestInitSharesHouseholds(t *testing.T) {
	t.Parallel()
	tx := dbtest.Tx(t)
	exec(t, tx, household)
	d := bound(t, tx, "fam")
	given, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"fam"}, Accounts: "profiles"})
	require.NoError(t, err)
	for _, text := range []string{d.Text, given} {
		require.Contains(t, text, `accounts: "profiles"}`)
		require.Contains(t, text, `    members: [{table: "household_members"}] # unsure`)
		require.Equal(t, 4, strings.Count(text, `    owned_by: [household_id] # unsure`), "the household's, whoever made or paid it")
		require.Contains(t, text, `{?paid_by:, paid by: {_paid_by_label}}`)
		require.Contains(t, text, `    semantic: "{title}.{?notes: {notes}.}"`)
		require.NotContains(t, text, `{avatar_url}`)
		require.Contains(t, text, `{takes}}`)
		require.Contains(t, text, `, takes: {takes:length}}`)
	}
	exec(t, tx, `INSERT INTO fam_alfred.alfred_accounts VALUES ('`+adaID+`', '`+adaID+`'), ('`+eveID+`', '`+eveID+`')`)
	require.Equal(t, "Sweep", as(t, tx, eveID, `SELECT string_agg(title, ', ') FROM fam_alfred.tasks`), "Ada made it")
	require.Equal(t, "Home", as(t, tx, eveID, `SELECT string_agg(name, ', ') FROM fam_alfred.households`))
}
