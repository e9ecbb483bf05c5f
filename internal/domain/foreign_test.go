package domain_test

import (
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
)

// library has integer keys, its own users, and a function that identifies the current user.
const library = `
CREATE SCHEMA library;
GRANT USAGE ON SCHEMA library TO alfred_tenant;
CREATE TABLE library.members (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, alfred_user uuid UNIQUE);
CREATE FUNCTION library.me() RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS
$$ SELECT id FROM library.members WHERE alfred_user = nullif(current_setting('alfred.user_id', true), '')::uuid $$;
CREATE TABLE library.books (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    title text NOT NULL,
    author text,
    genre varchar(20) CHECK (genre IN ('novel', 'essay', 'poet''s own')),
    pages integer CHECK (pages > 0)
);
COMMENT ON TABLE library.books IS 'Every book of the house.';
CREATE TABLE library.shelves (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    member_id bigint NOT NULL DEFAULT library.me() REFERENCES library.members (id),
    name text NOT NULL,
    UNIQUE (member_id, id)
);
CREATE TABLE library.loans (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    member_id bigint NOT NULL DEFAULT library.me() REFERENCES library.members (id),
    shelf_id bigint NOT NULL,
    book_id bigint NOT NULL REFERENCES library.books (id),
    due_on date,
    returned boolean NOT NULL DEFAULT false,
    UNIQUE (member_id, id),
    FOREIGN KEY (member_id, shelf_id) REFERENCES library.shelves (member_id, id) ON DELETE CASCADE
);
CREATE TABLE library.visits (member_id bigint NOT NULL, visited_on date NOT NULL, PRIMARY KEY (member_id, visited_on));
ALTER TABLE library.shelves ENABLE ROW LEVEL SECURITY;
ALTER TABLE library.loans ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON library.shelves TO alfred_tenant USING (member_id = library.me());
CREATE POLICY tenant ON library.loans TO alfred_tenant USING (member_id = library.me());
GRANT SELECT ON library.books TO alfred_tenant;
GRANT SELECT ON library.shelves, library.loans TO alfred_tenant;`

// tracker has text keys, a text owner, and enum types.
const tracker = `
CREATE SCHEMA tracker;
GRANT USAGE ON SCHEMA tracker TO alfred_tenant;
CREATE TYPE tracker.state AS ENUM ('open', 'in progress', 'done');
CREATE DOMAIN tracker.slug AS text CHECK (VALUE ~ '^[A-Z]+');
CREATE TABLE tracker.projects (
    code tracker.slug PRIMARY KEY DEFAULT 'P' || gen_random_uuid(),
    org text NOT NULL DEFAULT current_setting('alfred.user_id', true),
    title text NOT NULL,
    state tracker.state NOT NULL DEFAULT 'open',
    UNIQUE (org, code)
);
CREATE TABLE tracker.issues (
    key text PRIMARY KEY DEFAULT 'I' || gen_random_uuid(),
    org text NOT NULL DEFAULT current_setting('alfred.user_id', true),
    project_code text NOT NULL,
    blocked_by text,
    title text NOT NULL,
    body text,
    states tracker.state[],
    where_at point,
    UNIQUE (org, key),
    FOREIGN KEY (org, project_code) REFERENCES tracker.projects (org, code) ON DELETE CASCADE,
    FOREIGN KEY (org, blocked_by) REFERENCES tracker.issues (org, key)
);
COMMENT ON COLUMN tracker.issues.body IS 'What is wrong,
in detail.';
ALTER TABLE tracker.projects ENABLE ROW LEVEL SECURITY;
ALTER TABLE tracker.issues ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON tracker.projects USING (org = current_setting('alfred.user_id', true));
CREATE POLICY tenant ON tracker.issues USING (org = current_setting('alfred.user_id', true));
GRANT SELECT, DELETE, INSERT (title, state), UPDATE (title, state) ON tracker.projects TO alfred_tenant;
GRANT SELECT ON tracker.issues TO alfred_tenant;`

func bindText(t *testing.T, tx pgx.Tx, text string) (*domain.Domain, error) {
	t.Helper()

	decl, err := domain.Load(fstest.MapFS{"d.yaml": {Data: []byte(text)}}, "d.yaml")
	require.NoError(t, err)

	return domain.Bind(t.Context(), tx, decl)
}

func exec(t *testing.T, tx pgx.Tx, sql string) {
	t.Helper()

	_, err := tx.Exec(t.Context(), sql)
	require.NoError(t, err)
}
