package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// rowing is as a database of Access comes through MySQL into Postgres.
const rowing = `CREATE SCHEMA rowing; SET LOCAL search_path = rowing;
CREATE TABLE "tblClubs" ("ClubCode" char(6) PRIMARY KEY, "ClubName" varchar(80) NOT NULL);
CREATE TABLE "tblLogins" ("LoginID" bigserial PRIMARY KEY, "LoginName" varchar(40) NOT NULL, "PassWd" varchar(64), apikey text, "ClubCode" char(6) NOT NULL REFERENCES "tblClubs");
CREATE TABLE "lkpType" ("TypeCode" char(3) PRIMARY KEY, "Descr" varchar(40) NOT NULL, "Fee" numeric(19,4) NOT NULL);
CREATE TABLE "tblSections" ("ClubCode" char(6) NOT NULL REFERENCES "tblClubs", "SectionNo" smallint NOT NULL, "SectionName" varchar(60) NOT NULL, "ParentNo" smallint, PRIMARY KEY ("ClubCode", "SectionNo"),
	FOREIGN KEY ("ClubCode", "ParentNo") REFERENCES "tblSections");
CREATE TABLE "tblMembers" ("ClubCode" char(6) NOT NULL REFERENCES "tblClubs", "MemberNo" integer NOT NULL, "Surname" varchar(50) NOT NULL, "FirstName" varchar(50), "EMail" varchar(100), "TypeCode" char(3) REFERENCES "lkpType",
	"SectionNo" smallint, PRIMARY KEY ("ClubCode", "MemberNo"), FOREIGN KEY ("ClubCode", "SectionNo") REFERENCES "tblSections");
CREATE TABLE "tblEvents" ("EventID" bigserial PRIMARY KEY, "ClubCode" char(6) NOT NULL REFERENCES "tblClubs", "EventName" varchar(80) NOT NULL, "EventDate" timestamptz, "Cost" double precision);
CREATE TABLE "tblSignup" ("EventID" bigint NOT NULL REFERENCES "tblEvents", "ClubCode" char(6) NOT NULL, "MemberNo" integer NOT NULL, "PaidYN" char(1) NOT NULL DEFAULT 'N', PRIMARY KEY ("EventID", "ClubCode", "MemberNo"),
	FOREIGN KEY ("ClubCode", "MemberNo") REFERENCES "tblMembers");
INSERT INTO "tblClubs" VALUES ('ROWERS', 'Rowers'); INSERT INTO "tblEvents" ("ClubCode", "EventName") VALUES ('ROWERS', 'Dinner');
INSERT INTO "tblMembers" SELECT 'ROWERS', n, 'M' || n FROM generate_series(1, 12) AS n; INSERT INTO "tblSignup" SELECT 1, 'ROWERS', n, CASE WHEN n < 4 THEN 'Y' ELSE 'N' END FROM generate_series(1, 12) AS n;
CREATE TABLE "tblFees2019" ("ID" integer, "Member" varchar(80))`

// Names in the style of Access are read like others: a password was shown, people were called by their addresses, types by their codes and
// signups by an N, a section's parent looked like itself, and an event had no date.
func TestInitReadsTablesOfAccess(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, rowing)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"rowing"}, Accounts: "tblClubs"})
	require.NoError(t, err)
	for _, want := range []string{
		`hidden: ["PassWd", apikey]`, `label: "{FirstName} {Surname}"`, `label: "{Descr}"`, `{?Fee: Fee:{Fee:0.00}}`, `label: "{_EventID_label} · {_member_key_label}"`,
		`display: "{EventName}{?EventDate: EventDate:{EventDate}}`, `references: {"ClubCode_ParentNo_section_key": section}`, `references: {section_key: section}`, `lists: {"PaidYN": ["N", "Y"]}`,
	} {
		require.Contains(t, text, want)
	}
	none, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"rowing"}})
	require.NoError(t, err)
	require.Contains(t, none, "run init again with --accounts=TABLE", "a text of a table without a key is nobody's owner")
}
