package domain_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// libraryYAML is a valid declaration of the library in foreign_test.go.
const libraryYAML = `name: library
schema: library
owner: member_id
entities:
  - type: book
    table: books
    reference: true
    label: "{title}"
  - type: shelf
    table: shelves
    label: "{name}"
    children:
      - type: loan
  - type: loan
    table: loans
    aliases: [borrowing]
    label: "{_book_id_label}"
    display: "{_book_id_label}{?due_on: {due_on:Jan 2}}"
    order: [due_on desc]
    computed:
      - {name: late, sql: due_on < current_date}
subdomains:
  - name: loans
    tables: [loans]
    readable: [books]
snapshot:
  - {label: Loans, sql: SELECT count(*)::text FROM library.loans}
`

// W09: accounts as a type of their own: a foreign key to one's own account does not reference another user's row, and
// one to anybody's is reported as such.
func TestW09AccountsAsAType(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	own := strings.NewReplacer("library", "reading_room")
	exec(t, tx, own.Replace(library+`
ALTER TABLE library.members ADD name text NOT NULL DEFAULT '', ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON library.members TO alfred_tenant USING (id = (SELECT library.me()));
GRANT SELECT ON library.members TO alfred_tenant`))
	declared := own.Replace(strings.Replace(libraryYAML, "  - type: shelf\n", "  - type: member\n    table: members\n    owner: id\n    label: \"{name}\"\n  - type: shelf\n", 1))
	_, err := bindText(t, tx, declared)
	require.NoError(t, err)
	exec(t, tx, own.Replace(`ALTER TABLE library.loans ADD lent_by bigint REFERENCES library.members (id)`))
	_, err = bindText(t, tx, declared)
	require.ErrorContains(t, err, "loan: foreign key loans.lent_by can name another user's member, and no policy hides that; hide the column, or leave the type member out")
	require.NotContains(t, err.Error(), "REFERENCES")
}

func TestBindMismatches(t *testing.T) {
	t.Parallel()

	for i, c := range []struct {
		name, ddl, old, new string // what is changed in the tables, and in the YAML
		line                int
		want                string
	}{
		{"missing table", "", "table: books", "table: tomes", 6, "book: table library.tomes does not exist"},
		{"missing schema", "", "schema: library", "schema: nowhere", 2, `schema "nowhere" has no tables`},
		{"missing label column", "", `label: "{name}"`, `label: "{nome}"`, 11, "shelf: label: column nome does not exist in shelves"},
		{"no label", "", `label: "{name}"`, ``, 9, "shelf: no label"},
		{"broken template", "", `label: "{name}"`, `label: "{name"`, 11, `shelf: template "{name": missing }`},
		{"missing display column", "", "{due_on:Jan 2}", "{due:Jan 2}", 18, "loan: display: column due does not exist in loans"},
		{"hidden label column", "", `label: "{name}"`, `label: "{member_id}"`, 11, "shelf: label: column member_id is hidden from models"},
		{"unreadable column made visible", "ALTER TABLE library.shelves ADD place point", `label: "{name}"`, "label: \"{name}\"\n    visible: [place]", 12,
			"shelf: visible: place is point, which no model can read; a computed column can show it as text"},
		{"missing order column", "", "due_on desc", "day desc", 19, "loan: order: column day does not exist in loans"},
		{"wrong order", "", "due_on desc", "due_on down", 19, `loan: order: "due_on down" is not a column, or a column and desc`},
		{"missing set column", "", "order:", "sets: {text: [essay]}\n    order:", 19, "loan: sets: column essay does not exist in loans"},
		{"unknown set", "", "order:", "sets: {all: [due_on]}\n    order:", 19, "loan: sets: all is neither summary nor text"},
		{"duplicate type", "", "type: loan\n    table", "type: shelf\n    table", 14, "shelf: declared twice"},
		{"duplicate table", "", "table: loans", "table: shelves", 15, "loan: table shelves has the type shelf already"},
		{"type like a draft", "", "type: book", "type: gen_book", 5, `gen_book: "gen_book" cannot be a ref prefix`},
		{"type with a number", "", "type: book", "type: book_2", 5, `book_2: "book_2" cannot be a ref prefix`},
		{"type with a sign", "", "type: book", "type: 50%d", 5, `50%d: "50%d" cannot be a ref prefix`},
		{"alias of another", "", "[borrowing]", "[shelves]", 16, `loan: alias "shelves" stands for shelf already`},
		{"no key", "ALTER TABLE library.books DROP CONSTRAINT books_pkey CASCADE", "", "", 6, "book: table books has no single-column primary key"},
		{"key not unique", "", "reference: true", "key: pages\n    reference: true", 7, "book: column pages is not unique and not null by itself"},
		{"key of a strange type", "ALTER TABLE library.books ADD at point NOT NULL DEFAULT '(0,0)', ADD published date NOT NULL UNIQUE", "reference: true", "key: published\n    reference: true", 7, "book: key published is date"},
		{"key in a label", "", `label: "{name}"`, `label: "{name} {id}"`, 11, "shelf: label: id is the key, which no model sees"},
		{"foreign key in a label", "", `label: "{_book_id_label}"`, `label: "{book_id}"`, 17, "loan: label: book_id is a key; {_book_id_label} is the name of what it refers to"},
		{"key without default", "ALTER TABLE library.shelves ALTER id DROP IDENTITY", "type: shelf\n", "type: shelf\n    writes: [create]\n    columns: [name]\n", 9, "shelf: key id has no default, and inserts never name it"},
		{"rows inside themselves", "ALTER TABLE library.shelves ADD loan_id bigint, ADD FOREIGN KEY (member_id, loan_id) REFERENCES library.loans (member_id, id)", "order:", "children: [{type: shelf}]\n    order:", 19, "loan: children: loan would stand inside itself"},
		{"missing owner", "", "owner: member_id", "owner: user_id", 10, "shelf: owner column user_id does not exist in shelves"},
		{"owner without default", "", "type: shelf\n", "type: shelf\n    owner: name\n    writes: [create]\n", 10, "shelf: owner column name has no default"},
		{"no owner", "", "owner: member_id\n", "", 9, "shelf: no owner column"},
		{"no row-level security", "ALTER TABLE library.loans DISABLE ROW LEVEL SECURITY", "", "", 15, "loan: row-level security is not enabled on loans"},
		{"no policy", "DROP POLICY tenant ON library.loans", "", "", 15, "loan: loans has no policy for alfred_tenant"},
		{"no right to read", "REVOKE ALL ON library.loans FROM alfred_tenant", "", "", 15, "loan: alfred_tenant may not read loans"},
		// W02: declared and granted writes are equal, and none by default.
		{"no right to write", "", "order:", "writes: [update]\n    columns: [due_on]\n    order:", 19, "loan: alfred_tenant may not write due_on of loans: GRANT UPDATE (due_on)"},
		{"no right to delete", "", "order:", "writes: [delete]\n    order:", 19, "loan: alfred_tenant may not delete from loans: GRANT DELETE"},
		{"one column too many", "GRANT UPDATE (due_on, book_id) ON library.loans TO alfred_tenant", "order:", "writes: [update]\n    columns: [due_on]\n    order:", 19, "loan: alfred_tenant may update book_id of loans, which the declaration does not allow: REVOKE UPDATE"},
		{"granted and not declared", "GRANT DELETE ON library.loans TO alfred_tenant", "", "", 14, "loan: alfred_tenant may delete from loans, which the declaration does not allow: REVOKE DELETE"},
		{"the owner granted", "GRANT INSERT (member_id, name) ON library.shelves TO alfred_tenant", `label: "{name}"`, "label: \"{name}\"\n    writes: [create]\n    columns: [name]", 12, "shelf: alfred_tenant may create member_id of shelves, which the declaration does not allow: REVOKE INSERT"},
		{"shared and writable", "GRANT UPDATE ON library.books TO alfred_tenant", "", "", 5, "book: alfred_tenant may update title, author, genre, pages of books, which the declaration does not allow: REVOKE UPDATE"},
		{"shared and declared writable", "", "reference: true", "reference: true\n    writes: [delete]", 8, "book: writes: books is shared by all users"},
		{"writes without columns", "", "order:", "writes: [create]\n    order:", 19, "loan: writes: no columns"},
		{"columns without writes", "", "order:", "columns: [due_on]\n    order:", 19, "loan: columns: they are written by create and update"},
		{"unknown verb", "", "order:", "writes: [upsert]\n    order:", 19, `loan: writes: "upsert" is none of create, update, delete`},
		// V19
		{"approval of what makes nothing worse", "", "order:", "writes: [update]\n    columns: [due_on]\n    approve: [create]\n    order:", 21, `loan: approve: "create" is none of update, delete`},
		{"approval of what may not be done", "", "order:", "writes: [update]\n    columns: [due_on]\n    approve: [delete]\n    order:", 21, "loan: approve: writes does not allow delete"},
		{"a required column left out", "", "order:", "writes: [create]\n    columns: [due_on]\n    order:", 20, "loan: columns: no row can be created without shelf_id, which has no default: give it one (programs that fill it themselves go on doing so), or name it in columns"},
		{"the key written", "", "order:", "writes: [update]\n    columns: [id]\n    order:", 20, "loan: columns: id is the key, which nobody writes"},
		{"no right to the schema", "REVOKE USAGE ON SCHEMA library FROM alfred_tenant", "", "", 2, "alfred_tenant may not use schema library"},
		{"no right to the extensions", "REVOKE USAGE ON SCHEMA public FROM PUBLIC", "", "", 2, "alfred_tenant may not use schema public, in which Alfred's extensions are: GRANT USAGE ON SCHEMA"},
		{
			"foreign key without the tenant", "ALTER TABLE library.loans DROP CONSTRAINT loans_member_id_shelf_id_fkey, ADD FOREIGN KEY (shelf_id) REFERENCES library.shelves (id)",
			"", "", 15, "loan: foreign key loans.shelf_id to shelves does not carry the owner; make it (member_id, shelf_id) REFERENCES shelves (member_id, id)",
		},
		{"child without foreign key", "", "- type: loan\n  - type", "- type: book\n  - type", 13, "shelf: children: books has no foreign key to shelves"},
		{"unknown child", "", "- type: loan\n  - type", "- type: page\n  - type", 13, "shelf: children: there is no entity type page"},
		{"computed column that exists", "", "name: late", "name: returned", 21, `loan: computed: "returned" is not a new column name`},
		{"computed column that fails", "", "due_on < current_date", "due < current_date", 21, `loan: computed: late: column "due" does not exist`},
		// V23
		{"check that fails", "", "order:", "checks: [SELECT day FROM rows]\n    order:", 19, `loan: check: column "day" does not exist`},
		{"check of another type", "", "order:", "checks: [SELECT due_on FROM rows]\n    order:", 19, "loan: check: the query returns [date], not one text"},
		{"unknown subdomain table", "", "readable: [books]", "readable: [tomes]", 24, "subdomain loans: no entity type has the table tomes"},
		{"failing query", "", "FROM library.loans}", "FROM library.loan}", 27, `relation "library.loan" does not exist`},
		{"query of another type", "", "count(*)::text", "count(*)", 27, "the query returns [bigint], not 1 of type text"},
		{"words that are none", "", "order:", "fold: [due_on]\n    order:", 19, "loan: fold: due_on does not hold free words"},
		{"a list of days", "", "order:", "lists: {due_on: [today]}\n    order:", 19, "loan: lists: due_on does not hold words, or a constraint lists them"},
		{"a list without words", "", "order:", "lists: {due_on: []}\n    order:", 19, "loan: lists: due_on has no words"},
		{"a list of nothing", "", "order:", "lists: {mood: [good]}\n    order:", 19, "loan: lists: column mood does not exist in loans"},
		{"unknown reference", "", "order:", "references: {pages: book}\n    order:", 19, "loan: references: column pages does not exist in loans"},
		{"reference to tenants' rows", "", "order:", "references: {book_id: shelf}\n    order:", 19, "loan: references: shelf belongs to tenants"},
		{"units of text", "", "order:", "units: {column: due_on, of: returned}\n    order:", 19, "loan: units: returned is not a number"},
		{"merge of text", "", "order:", "merge: {by: [due_on], sum: returned}\n    order:", 19, "loan: merge: returned is not a number"},
		{"match without link", "", "order:", "match: {column: due_on, link: returned, name: title}\n    order:", 19, "loan: match: returned refers to no entity type"},
		{"offline column", "", "snapshot:", "offline:\n  defaults: {loan: {day: today}}\nsnapshot:", 27, "offline: column day does not exist in loans"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			// Two transactions creating schemas of the same name would wait for each other.
			own := strings.NewReplacer("library", fmt.Sprintf("library%d", i))
			tx := dbtest.Tx(t)
			exec(t, tx, own.Replace(library))
			exec(t, tx, own.Replace(c.ddl))
			require.Contains(t, libraryYAML, c.old)

			_, err := bindText(t, tx, own.Replace(strings.Replace(libraryYAML, c.old, c.new, 1)))

			var check *domain.CheckError
			require.ErrorAs(t, err, &check)
			require.Contains(t, check.Error(), fmt.Sprintf("d.yaml:%d: %s", c.line, own.Replace(c.want)))
		})
	}
}

// A type declared twice is one problem: nothing of the second declaration is bound over the first.
func TestBindTypeDeclaredTwice(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, library)

	again := "  - type: book\n    table: books\n    reference: true\n    label: \"{titel}\"\n"
	_, err := bindText(t, tx, strings.Replace(libraryYAML, "  - type: shelf\n", again+"  - type: shelf\n", 1))
	require.EqualError(t, err, "d.yaml:9: book: declared twice")
}

// A key that nobody fills is one problem.
func TestBindKeyWithoutDefault(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, library+`ALTER TABLE library.shelves ALTER id DROP IDENTITY; GRANT INSERT (name) ON library.shelves TO alfred_tenant`)
	_, err := bindText(t, tx, strings.Replace(libraryYAML, "type: shelf\n", "type: shelf\n    writes: [create]\n    columns: [name]\n", 1))
	require.EqualError(t, err, "d.yaml:9: shelf: key id has no default, and inserts never name it; if people choose it, keep it as a column and add a key")
}

// All mismatches are listed, in order of line.
func TestBindListsAllMismatches(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, library)

	_, err := bindText(t, tx, strings.NewReplacer("{title}", "{titel}", "due_on desc", "day", "FROM library.loans}", "FROM nowhere}").Replace(libraryYAML))
	require.EqualError(t, err, `d.yaml:8: book: label: column titel does not exist in books
d.yaml:19: loan: order: column day does not exist in loans
d.yaml:27: relation "nowhere" does not exist`)
}

func TestBind(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, library)

	d, err := bindText(t, tx, libraryYAML)
	require.NoError(t, err)

	late := d.ByType("loan").Column("late")
	require.Equal(t, domain.KindBool, late.Kind)
	require.True(t, late.Generated)
	require.Equal(t, "(due_on < current_date)", late.SQL())
	require.Equal(t, `"due_on"`, d.ByType("loan").Column("due_on").SQL())
	require.Equal(t, []domain.OrderBy{{Column: "due_on", Desc: true}}, d.ByType("loan").Order)
	require.Equal(t, []domain.OrderBy{{Column: "title"}}, d.ByType("book").Order, "by default the first column of the label")
	require.Equal(t, "loan", d.ByType("loan").Name)
	require.Equal(t, "There are no shelves.", d.ByType("shelf").Empty)
	require.Equal(t, domain.KindNumber, d.ByType("loan").Key.Kind)
	require.True(t, d.ByType("loan").Key.Generated, "identity columns are never written")
}

// A key that identifies no entity, alone or in a pair, never reaches a model, nor does bookkeeping, however it is written.
func TestBindHidesForeignIdentifiers(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, library)
	exec(t, tx, `CREATE TABLE library.cards (id uuid PRIMARY KEY, a int, b int, UNIQUE (a, b));
ALTER TABLE library.loans ADD card_id uuid REFERENCES library.cards (id), ADD card_a int, ADD card_b int,
	ADD other uuid, ADD others uuid[], ADD FOREIGN KEY (card_a, card_b) REFERENCES library.cards (a, b)`)

	exec(t, tx, `ALTER TABLE library.loans ADD "createdAt" timestamp NOT NULL DEFAULT now()`)
	d, err := bindText(t, tx, libraryYAML)
	require.NoError(t, err)

	for _, name := range []string{"card_id", "card_a", "card_b", "other", "others", "member_id", "createdAt"} {
		require.True(t, d.ByType("loan").Column(name).Hidden, name)
	}

	require.False(t, d.ByType("loan").Column("book_id").Hidden)
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ text, want string }{
		"unknown field":   {"name: x\nentities:\n  - typ: book\n", "d.yaml:3: unknown field \"typ\""},
		"repeated field":  {"name: x\nname: y\n", "d.yaml:2: "},
		"not YAML":        {"name: [x\n", "d.yaml:1: "},
		"wrong type":      {"name: x\nentities: all\n", "d.yaml:2: "},
		"missing snippet": {"name: x\npersona: who.md\n", "d.yaml:2: snippet who.md cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := domain.Load(fstest.MapFS{"d.yaml": {Data: []byte(c.text)}}, "d.yaml")

			var check *domain.CheckError
			require.ErrorAs(t, err, &check)
			require.Contains(t, err.Error(), c.want)
		})
	}

	_, err := domain.Load(fstest.MapFS{}, "d.yaml")
	require.ErrorContains(t, err, "read domain")
}

// A foreign key to a partitioned table is one, although the catalog lists it once for each partition.
func TestForeignKeysToPartitionedTables(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `
		CREATE SCHEMA parts;
		GRANT USAGE ON SCHEMA parts TO alfred_tenant;
		CREATE TABLE parts.makers (id integer PRIMARY KEY);
		CREATE TABLE parts.kinds (id bigint PRIMARY KEY, name text NOT NULL) PARTITION BY HASH (id)`)
	for n := range 9 {
		exec(t, tx, fmt.Sprintf(`CREATE TABLE parts.kinds_%d PARTITION OF parts.kinds FOR VALUES WITH (MODULUS 9, REMAINDER %[1]d)`, n))
	}
	exec(t, tx, `
		CREATE TABLE parts.screws (id bigint PRIMARY KEY, a integer UNIQUE, b integer UNIQUE, name text NOT NULL CHECK (name <> ''), kind_id bigint REFERENCES parts.kinds,
			maker_id integer REFERENCES parts.makers, seller_id integer REFERENCES parts.makers);
		GRANT SELECT ON parts.kinds, parts.screws TO alfred_tenant`)
	d, err := bindText(t, tx, `name: parts
schema: parts
entities:
  - {type: kind, table: kinds, reference: true, label: "{name}"}
  - {type: screw, table: screws, reference: true, label: "{name}"}
subdomains:
  - {name: screws, tables: [screws, kinds]}
`)
	require.NoError(t, err)
	require.Same(t, d.ByType("kind"), d.ByType("screw").Column("kind_id").Target())
}

// An index identifies rows by its columns without those that it only carries along, and once it is built.
func TestKeysOfUniqueIndexes(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `
		CREATE SCHEMA parts;
		GRANT USAGE ON SCHEMA parts TO alfred_tenant;
		CREATE TABLE parts.screws (code text NOT NULL, name text NOT NULL);
		CREATE UNIQUE INDEX code ON parts.screws (code) INCLUDE (name);
		GRANT SELECT ON parts.screws TO alfred_tenant`)
	declared := `name: parts
schema: parts
entities:
  - {type: screw, table: screws, key: code, reference: true, label: "{name}"}
subdomains:
  - {name: screws, tables: [screws]}
`
	_, err := bindText(t, tx, declared)
	require.NoError(t, err)
	exec(t, tx, `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'parts.code'::regclass`)
	_, err = bindText(t, tx, declared)
	require.ErrorContains(t, err, "column code is not unique and not null by itself")
}
