package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
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
