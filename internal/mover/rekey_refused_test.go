package mover_test

import (
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/mover"
)

// Keys that are more than a number of their own get no new ones: nothing happens, and what is said is no advice to do what was
// just done.
func TestMoveRefusesToRename(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	for name, c := range map[string]struct{ key, fill, says string }{
		"a key that refers": {`FOREIGN KEY (user_id, id) REFERENCES desk.folders (user_id, id), id bigint PRIMARY KEY`, `INSERT INTO desk.covers (id, user_id) SELECT id, user_id FROM desk.folders`, "have the keys of what they refer to"},
		"a text with a sequence": {
			`id text PRIMARY KEY DEFAULT 'c1'`, `CREATE SEQUENCE desk.covering OWNED BY desk.covers.id; INSERT INTO desk.covers (user_id) SELECT DISTINCT user_id FROM desk.folders`,
			"has a key that another user's row has there (c1)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := openDesk(t)
			d.exec("a", `INSERT INTO desk.folders (user_id, name) VALUES ($1, 'mine')`, d.user)
			for _, database := range []string{"a", "b"} {
				d.exec(database, `CREATE TABLE desk.covers (`+c.key+`, user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid REFERENCES alfred.users (id));
					ALTER TABLE desk.covers ENABLE ROW LEVEL SECURITY;
					CREATE POLICY tenant ON desk.covers TO alfred_tenant USING (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
					GRANT SELECT ON desk.covers TO alfred_tenant;`+c.fill)
			}
			files := func() (fs.FS, string) {
				yaml := strings.Replace(deskYAML, "subdomains:", "  - {type: cover, table: covers, label: \"cover\"}\nsubdomains:", 1)

				return fstest.MapFS{"desk.yaml": {Data: []byte(strings.Replace(yaml, "[folders, notes]", "[folders, notes, covers]", 1))}}, "desk.yaml"
			}
			_, err := (&mover.Mover{
				Directory: d.directory, Domain: files, Patience: dbtest.Patience, Off: true, NewKeys: true, Logger: slog.New(slog.DiscardHandler),
			}).Move(t.Context(), "Grace", "b")
			refusal := &mover.RefusedError{}
			require.ErrorAs(t, err, &refusal)
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "--off --new-keys")
			require.True(t, d.accepts("a"))
		})
	}
}
