package domain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// agency has sites that several people share, by memberships of which some are only invitations, and what belongs to sites. Ada is a
// member of two, Eve of one of these, and invited to the third.
const agency = `
CREATE SCHEMA agency;
CREATE TABLE agency.users (id bigserial PRIMARY KEY, name text NOT NULL, email text NOT NULL);
CREATE TABLE agency.sites (id bigserial PRIMARY KEY, domain text NOT NULL);
CREATE TABLE agency.memberships (id bigserial PRIMARY KEY, site_id bigint NOT NULL REFERENCES agency.sites ON DELETE CASCADE, user_id bigint NOT NULL REFERENCES agency.users, role text NOT NULL DEFAULT 'editor', former boolean NOT NULL DEFAULT false, UNIQUE (site_id, user_id));
CREATE TABLE agency.goals (id bigserial PRIMARY KEY, site_id bigint NOT NULL REFERENCES agency.sites, name text NOT NULL, assignee_id bigint REFERENCES agency.users);
INSERT INTO agency.users (name, email) VALUES ('Ada', 'ada@x'), ('Eve', 'eve@x'), ('Bob', 'bob@x');
INSERT INTO agency.sites (domain) VALUES ('a.example'), ('b.example'), ('c.example');
INSERT INTO agency.memberships (site_id, user_id, role) VALUES (1, 1, 'owner'), (2, 1, 'editor'), (2, 2, 'owner'), (3, 3, 'owner'), (3, 2, 'invited');
INSERT INTO agency.goals (site_id, name) VALUES (1, 'Sell'), (2, 'Sign up'), (3, 'Call');`

var agencyReview = []string{
	"\n  - type: goal\n", "\n  - type: goal\n    writes: [create, update, delete]\n    columns: [site_id, name, assignee_id]\n",
	"\n  - type: membership\n", "\n  - type: membership\n    gone: former\n", "{?former: former:{former}}", "", "{?former:, former}", "",
	`members: [{table: "memberships"}]`, `members: [{table: memberships, where: "role <> 'invited'"}]`,
}

// Each sees what memberships give to them, with all that belongs to it, and can point at nothing else.
func TestMembersShareRows(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, agency)
	decl := attached(t, tx, "agency", agencyReview...).Decl
	const sites, goals = `SELECT string_agg(domain, ' ' ORDER BY domain) FROM agency_alfred.sites`, `SELECT string_agg(name, ' ' ORDER BY name) FROM agency_alfred.goals`
	require.Equal(t, "a.example b.example", as(t, tx, adaID, sites))
	require.Equal(t, "b.example", as(t, tx, eveID, sites), "an invitation is no membership")
	require.Equal(t, "Sell Sign up", as(t, tx, adaID, goals))
	require.Equal(t, "Sign up", as(t, tx, eveID, goals))
	require.Equal(t, "eve@x", as(t, tx, eveID, `SELECT string_agg(email, ' ') FROM agency_alfred.users`))
	exec(t, tx, `UPDATE agency.memberships SET former = true WHERE site_id = 1`)
	require.Equal(t, "b.example", as(t, tx, adaID, sites), "a membership that is marked as deleted is none")
	exec(t, tx, `UPDATE agency.memberships SET former = false`)

	require.Equal(t, "2", as(t, tx, eveID, `INSERT INTO agency_alfred.goals (site_id, name) VALUES (2, 'Stay') RETURNING site_id::text`))
	require.Contains(t, as(t, tx, eveID, `INSERT INTO agency_alfred.goals (site_id, name) VALUES (3, 'Spy') RETURNING name`), "There is no such row of sites.")
	require.Contains(t, as(t, tx, eveID, `UPDATE agency_alfred.goals SET site_id = 1 RETURNING name`), "There is no such row of sites.")

	proof, err := domain.Probe(t.Context(), tx, decl)
	require.NoError(t, err)
	require.Empty(t, proof.Broken)
	exec(t, tx, `CREATE OR REPLACE VIEW agency_alfred.goals WITH (security_barrier = true) AS SELECT t.*, t.xmin::text AS _version FROM agency.goals AS t`)
	proof, err = domain.Probe(t.Context(), tx, decl)
	require.NoError(t, err)
	require.Equal(t, []string{"goal: a user who owns nothing sees 3 rows"}, proof.Broken)
}

// Whom people share rows with is shown where the declaration says so, and can be named in what they share.
func TestMembersSeeEachOther(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, agency)
	decl := attached(t, tx, "agency", append(agencyReview, "\n  - type: user\n", "\n  - type: user\n    members: [{table: memberships, where: \"role <> 'invited'\"}]\n")...).Decl
	const names = `SELECT string_agg(name, ' ' ORDER BY name) FROM agency_alfred.users`
	require.Equal(t, "Ada Eve", as(t, tx, adaID, names))
	require.Equal(t, "Ada Eve", as(t, tx, eveID, names), "not those of the site that she is invited to")
	require.Equal(t, "1", as(t, tx, eveID, `UPDATE agency_alfred.goals SET assignee_id = 1 RETURNING assignee_id::text`))
	require.Contains(t, as(t, tx, eveID, `UPDATE agency_alfred.goals SET assignee_id = 3 RETURNING name`), "There is no such row of users.")
	proof, err := domain.Probe(t.Context(), tx, decl)
	require.NoError(t, err)
	require.Empty(t, proof.Broken)
}

// What belongs to what they share says whose it is, by whatever column the others say to whom they belong: it is whoever creates it,
// unless another is named.
func TestMembersSeeWhoDidWhat(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, agency+`CREATE TABLE agency.shifts (id bigserial PRIMARY KEY, site_id bigint NOT NULL REFERENCES agency.sites, user_id bigint NOT NULL REFERENCES agency.users, hours integer NOT NULL, CHECK (hours = 4 * user_id));
INSERT INTO agency.shifts (site_id, user_id, hours) VALUES (2, 2, 8)`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"agency"}})
	require.NoError(t, err)
	require.Contains(t, text, `owner: "user_id" # unsure: its rows are those of whom it names; if not, owned_by: [site_id]`)
	d := attached(t, tx, "agency", append(agencyReview, `    owner: "user_id" # unsure: its rows are those of whom it names; if not, owned_by: [site_id]`, "    owned_by: [site_id]", "\n  - type: user\n", "\n  - type: user\n    members: [{table: memberships}]\n",
		"\n  - type: shift\n", "\n  - type: shift\n    writes: [create]\n    columns: [site_id, user_id, hours]\n")...).Domain
	whose := d.ByType("shift").Column("user_id")
	require.False(t, whose.Hidden)
	require.True(t, whose.Writable)
	require.Equal(t, "user", whose.Target().Type)
	require.Equal(t, "2", as(t, tx, adaID, `SELECT user_id::text FROM agency_alfred.shifts`))
	require.Equal(t, "4", as(t, tx, adaID, `INSERT INTO agency_alfred.shifts (site_id, hours) VALUES (2, 4) RETURNING hours::text`))
	require.Equal(t, "8", as(t, tx, adaID, `INSERT INTO agency_alfred.shifts (site_id, user_id, hours) VALUES (2, 2, 8) RETURNING hours::text`))
	require.Contains(t, as(t, tx, adaID, `INSERT INTO agency_alfred.shifts (site_id, user_id, hours) VALUES (2, 3, 12) RETURNING hours::text`), "There is no such row of users.")
}

// What cannot hold of memberships is refused when the views are written.
func TestMembersThatSayNothing(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, agency)
	for said, members := range map[string]string{
		"site: members: table agency.membership does not exist":                        `{table: membership}`,
		"site: members: sites has to name an account, and to reference what is shared": `{table: sites}`,
		`members: memberships: where: ERROR: column "domain" does not exist`:           `{table: memberships, where: "domain <> ''"}`,
		"site: writes: a row that is created would have no members":                    "{table: memberships}]\n    writes: [create]\n    columns: [domain",
	} {
		text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"agency"}})
		require.NoError(t, err)
		require.Contains(t, text, `members: [{table: "memberships"}]`)
		require.ErrorContains(t, refusedViews(t, tx, strings.Replace(text, `{table: "memberships"}`, members, 1)), said)
	}
}
