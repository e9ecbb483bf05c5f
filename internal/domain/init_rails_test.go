package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/testfactory"
)

// A Rails program for customers names who does what without a foreign key, leaves titles empty, and keeps old versions of rows.
func TestInitReadsACustomersProgram(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA crm; CREATE TABLE crm.users (id bigserial PRIMARY KEY, username varchar(32) NOT NULL);
CREATE TABLE crm.accounts (id bigserial PRIMARY KEY, user_id bigint, assigned_to bigint, moved_to bigint, name varchar(64) NOT NULL);
CREATE TABLE crm.tasks (id bigserial PRIMARY KEY, user_id bigint, completed_by bigint, name varchar NOT NULL, stage varchar(32), due_at timestamptz, asset_type varchar, asset_id bigint);
CREATE TABLE crm.comments (id bigserial PRIMARY KEY, user_id bigint, commentable_type varchar, commentable_id bigint, title varchar DEFAULT '', comment text);
CREATE TABLE crm.versions (id bigserial PRIMARY KEY, item_type varchar NOT NULL, item_id bigint NOT NULL, event varchar NOT NULL, whodunnit varchar, object text);
CREATE TABLE crm.tags (id bigserial PRIMARY KEY, name varchar); CREATE TABLE crm.taggings (id bigserial PRIMARY KEY, tag_id bigint, taggable_type varchar, taggable_id bigint);
INSERT INTO crm.tags (name) VALUES ('hot'); INSERT INTO crm.taggings (tag_id, taggable_type, taggable_id) VALUES (1, 'Account', 1), (1, 'Comment', 1), (1, 'Task', 1);
INSERT INTO crm.users (username) VALUES ('dana'), ('eve');
INSERT INTO crm.accounts (user_id, assigned_to, moved_to, name) VALUES (1, 2, 1, 'Acme'), (2, NULL, 7, 'Hooli');
INSERT INTO crm.tasks (user_id, completed_by, name, stage, asset_type, asset_id) SELECT 1, 9, 'Call ' || n, 'open', 'Account', 1 FROM generate_series(1, 5) AS n;
INSERT INTO crm.comments (user_id, commentable_type, commentable_id, comment) VALUES (1, 'Account', 1, 'Nice'), (1, 'Task', 1, 'Late');
INSERT INTO crm.versions (item_type, item_id, event) VALUES ('Account', 1, 'create')`)
	text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"crm"}})
	require.NoError(t, err)
	for _, part := range []string{
		`label: "{?_tag_id_label: {_tag_id_label}}{?_taggable_account_label: · {_taggable_account_label}}{?_taggable_comment_label: · {_taggable_comment_label}}{?_taggable_task_label: · {_taggable_task_label}}"`,
		`references: {assigned_to: user} # unsure`, `{?due_at: due_at:{due_at}}`, `{?stage: [{stage}]}`, `label: "{comment}"`, "# left out, versions: bookkeeping of another tool\n",
	} {
		require.Contains(t, text, part)
	}
	require.NotContains(t, text, "completed_by: user", "none of its values is a key of one")
	require.NotContains(t, text, "moved_to: user")
}

// An issue tracker calls its tables after the one that they are for, and its columns not: status_id is an issue's status.
func TestInitReadsAnIssueTracker(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA desk; CREATE TABLE desk.users (id serial PRIMARY KEY, login varchar NOT NULL);
CREATE TABLE desk.issue_statuses (id serial PRIMARY KEY, name varchar NOT NULL); CREATE TABLE desk.issue_categories (id serial PRIMARY KEY, name varchar NOT NULL);
CREATE TABLE desk.site_categories (id serial PRIMARY KEY, name varchar NOT NULL); CREATE TABLE desk.wiki_pages (id serial PRIMARY KEY, title varchar NOT NULL);
CREATE TABLE desk.issues (id serial PRIMARY KEY, subject varchar NOT NULL, status_id integer NOT NULL, category_id integer, assigned_to_id integer, author_id integer NOT NULL, page_id integer, root_id integer, lft integer, rgt integer);
CREATE TABLE desk.hours (id serial PRIMARY KEY, issue_id integer NOT NULL, user_id integer NOT NULL, spent_on date NOT NULL, activity_id integer NOT NULL, hours float NOT NULL);
CREATE TABLE desk.mails (id serial PRIMARY KEY, user_id integer NOT NULL, address varchar NOT NULL, created_on timestamp NOT NULL);
CREATE TABLE desk.links (id serial PRIMARY KEY, issue_from_id integer NOT NULL, issue_to_id integer NOT NULL, kind varchar NOT NULL);
CREATE TABLE desk.flows (id serial PRIMARY KEY, name varchar NOT NULL, old_status_id integer, new_status_id integer, category_id integer);
INSERT INTO desk.users (login) VALUES ('dana'), ('eve'); INSERT INTO desk.issue_statuses (name) VALUES ('New'), ('Closed'); INSERT INTO desk.wiki_pages (title) VALUES ('Home');
INSERT INTO desk.issues (subject, status_id, assigned_to_id, author_id, page_id, root_id, lft, rgt) VALUES ('Slow', 1, 2, 1, 1, 1, 1, 4), ('Wrong', 2, NULL, 1, 2, 1, 2, 3);
INSERT INTO desk.links (issue_from_id, issue_to_id, kind) VALUES (1, 2, 'blocks'); INSERT INTO desk.flows (name, old_status_id, new_status_id) VALUES ('close', 1, 2)`)
	v := testfactory.ViewsOf(t, tx, domain.InitSource{Schemas: domain.Schemas{"desk"}, Accounts: "users", Everybody: true})
	text := v.Text
	for _, part := range []string{
		"type: issue_status\n", "{status_id: issue_status, category_id: issue_category, assigned_to_id: user", "references: {issue_from_id: issue, issue_to_id: issue}",
		"references: {old_status_id: issue_status, new_status_id: issue_status}", "no foreign key knows of flows.old_status_id, flows.new_status_id, issues.status_id, which",
		"author_id: user, root_id: issue}", "hidden: [page_id, lft, rgt]",
		"references: {issue_id: issue, user_id: user}", "unsure: activity_id may be keys", `label: "{address}"`, `label: "{spent_on:Jan 2, 2006} · {_issue_id_label}"`,
		"spoken: \"{subject}{?status_id:, status: {_status_id_label}}\"",
	} {
		require.Contains(t, text, part)
	}
	require.Same(t, v.ByType("user"), v.ByType("hour").Column("user_id").FK.Entity)
	require.False(t, v.ByType("hour").Column("user_id").Hidden, "whose hours they are")
	require.NotContains(t, text, "page_id: wiki_page", "some of its values are none of theirs")
}
