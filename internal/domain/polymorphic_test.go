package domain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// press has comments about two kinds of rows, as Rails keeps them.
const press = `CREATE SCHEMA press; CREATE TABLE press.users (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE press.posts (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES press.users, title text NOT NULL);
CREATE TABLE press.deals (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES press.users, name text NOT NULL);
CREATE TABLE press.comments (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES press.users, commentable_type varchar NOT NULL, commentable_id bigint NOT NULL, body text NOT NULL);
INSERT INTO press.users (name) VALUES ('Ada'), ('Eve');
INSERT INTO press.posts (user_id, title) VALUES (1, 'Rain'), (2, 'Snow'); INSERT INTO press.deals (user_id, name) VALUES (1, 'Acme');
INSERT INTO press.comments (user_id, commentable_type, commentable_id, body) VALUES (1, 'Blog::Post', 1, 'Yes'), (1, 'Deal', 1, 'No')`

const commentsWrite = "    # read only; to allow more: writes: [create, update, delete] and columns: [body, commentable_post, commentable_deal]"

// A pair of a type and a key, to which no foreign key leads, is a reference to each type: comments could neither be read by what they
// are about, nor created.
func TestPolymorphicPairsAreReferences(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, press)
	d := attached(t, tx, "press", commentsWrite, "    writes: [create, update, delete]\n    columns: [body, commentable_post, commentable_deal]")
	require.Contains(t, d.Text, "    polymorphic: {commentable_id: {by: commentable_type, types: {\"Blog::Post\": post, \"Deal\": deal}}} # unsure")
	require.Contains(t, d.Text, `    spoken: "{body}{?commentable_deal:, deal: {_commentable_deal_label}}{?commentable_post:, post: {_commentable_post_label}}"`)
	comment := d.ByType("comment")
	require.Equal(t, "post", comment.Column("commentable_post").Target().Type)
	require.Equal(t, "deal", comment.Column("commentable_deal").Target().Type)
	require.True(t, comment.Column("commentable_id").Hidden)
	require.False(t, comment.Column("commentable_id").Writable)

	read := func() string {
		return as(t, tx, adaID, `SELECT string_agg(concat_ws(' ', body, 'p' || commentable_post, 'd' || commentable_deal), ', ' ORDER BY id) FROM press_alfred.comments`)
	}
	require.Equal(t, "Yes p1, No d1", read())
	set := func(sql string) string { return as(t, tx, adaID, sql+` RETURNING commentable_type || commentable_id`) }
	require.Equal(t, "Blog::Post1", set(`INSERT INTO press_alfred.comments (body, commentable_post) VALUES ('New', 1)`))
	require.Equal(t, "Deal1", set(`UPDATE press_alfred.comments SET commentable_deal = 1 WHERE body = 'Yes'`))
	require.Equal(t, "Blog::Post1", set(`UPDATE press_alfred.comments SET commentable_deal = NULL, commentable_post = 1 WHERE body = 'Yes'`))
	require.Equal(t, "Blog::Post1", set(`UPDATE press_alfred.comments SET commentable_deal = NULL WHERE body = 'Yes'`), "it named none")
	require.Contains(t, set(`UPDATE press_alfred.comments SET commentable_post = NULL WHERE body = 'Yes'`), "violates not-null constraint")
	require.Contains(t, set(`UPDATE press_alfred.comments SET commentable_post = 2 WHERE body = 'Yes'`), "There is no such row of posts.", "it is Eve's")
	require.Contains(t, set(`INSERT INTO press_alfred.comments (body, commentable_post, commentable_deal) VALUES ('Both', 1, 1)`), "A row has only one of commentable_post, commentable_deal.")
}

// A program names its types as init does, without what the names of its tables begin with.
func TestPairsNameTablesByTheirShortNames(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, strings.NewReplacer("press.posts", "press.spree_posts", "press.deals", "press.spree_deals", "press.comments", "press.spree_comments").Replace(press))
	d := bound(t, tx, "press")
	require.Contains(t, d.Text, `polymorphic: {commentable_id: {by: commentable_type, types: {"Blog::Post": post, "Deal": deal}}}`)
}

// Rows that nothing else gives to anybody belong to whom those belong to that they are about: addresses and tags were left out.
func TestRowsBelongToWhomTheyAreAbout(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, press+`; CREATE TABLE press.people (id serial PRIMARY KEY, deal_id integer NOT NULL REFERENCES press.deals, name text NOT NULL);
INSERT INTO press.deals (user_id, name) VALUES (2, 'Hooli'); INSERT INTO press.people (deal_id, name) VALUES (1, 'Ann'), (2, 'Bob');
CREATE TABLE press.addresses (id serial PRIMARY KEY, addressable_type varchar, addressable_id integer, street text NOT NULL);
INSERT INTO press.addresses (addressable_type, addressable_id, street) VALUES ('Deal', 1, 'Mill'), ('Deal', 2, 'Hill'), ('Person', 1, 'Park'), ('Person', 2, 'Lake'), ('Ship', 1, 'Sea')`)
	exec(t, tx, `CREATE TABLE press.access_tokens (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES press.users, token text NOT NULL);
CREATE TABLE press.uses (id serial PRIMARY KEY, used_type varchar, used_id integer, note text NOT NULL); INSERT INTO press.uses (used_type, used_id, note) VALUES ('AccessToken', 1, 'x')`)
	d := attached(t, tx, "press", "    # read only; to allow more: writes: [create, update, delete] and columns: [street, addressable_deal, addressable_person]",
		"    writes: [create, update, delete]\n    columns: [street, addressable_deal, addressable_person]")
	require.NotNil(t, d.ByType("address"))
	require.Contains(t, d.Text, "# left out, uses: its rows are those of the rows that used_type with used_id names", "these are left out")
	streets := func(user string) string {
		return as(t, tx, user, `SELECT string_agg(street, ' ' ORDER BY street) FROM press_alfred.addresses`)
	}
	require.Equal(t, "Mill Park", streets(adaID))
	require.Equal(t, "Hill Lake", streets(eveID))
	require.Equal(t, "1", as(t, tx, adaID, `INSERT INTO press_alfred.addresses (street, addressable_person) VALUES ('Pier', 1) RETURNING addressable_person`))
	require.Contains(t, as(t, tx, adaID, `UPDATE press_alfred.addresses SET addressable_person = 2 WHERE street = 'Park' RETURNING street`), "There is no such row of people.")
}

// Programs whose types have keys of several kinds keep all of them as texts, of which some are no keys.
func TestPairsHoldKeysAsTexts(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, press+`; CREATE TABLE press.files (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), user_id integer NOT NULL REFERENCES press.users, name text NOT NULL);
INSERT INTO press.files VALUES ('0198c0de-0000-7000-8000-00000000000a', 1, 'Plan'), ('0198c0de-0000-7000-8000-00000000000b', 2, 'Hers');
CREATE TABLE press.marks (id serial PRIMARY KEY, content_type varchar NOT NULL, content_id varchar(40) NOT NULL, word text NOT NULL);
INSERT INTO press.marks (content_type, content_id, word) VALUES ('Post', '1', 'good'), ('Post', '2', 'hers'), ('Post', '99999999999999999999', 'huge'), ('Post', 'x', 'odd'), ('Post', '01', 'zero'),
    ('File', '0198C0DE-0000-7000-8000-00000000000A', 'big'), ('File', '0198c0de-0000-7000-8000-00000000000b', 'hers'), ('File', '1', 'odd')`)
	d := attached(t, tx, "press", "    # read only; to allow more: writes: [create, update, delete] and columns: [word, content_file, content_post]",
		"    writes: [create, update, delete]\n    columns: [word, content_file, content_post]")
	require.Contains(t, d.Text, `polymorphic: {content_id: {by: content_type, types: {"File": file, "Post": post}}}`)
	marks := func(user string) string {
		return as(t, tx, user, `SELECT string_agg(concat_ws(' ', word, content_post, content_file), ', ' ORDER BY id) FROM press_alfred.marks`)
	}
	require.Equal(t, "good 1, big 0198c0de-0000-7000-8000-00000000000a", marks(adaID))
	require.Equal(t, "hers 2, hers 0198c0de-0000-7000-8000-00000000000b", marks(eveID))
	set := func(sql string) string { return as(t, tx, adaID, sql+` RETURNING content_type || content_id`) }
	require.Equal(t, "Post1", set(`INSERT INTO press_alfred.marks (word, content_post) VALUES ('new', 1)`))
	require.Equal(t, "File0198c0de-0000-7000-8000-00000000000a", set(`UPDATE press_alfred.marks SET content_file = '0198c0de-0000-7000-8000-00000000000a' WHERE word = 'good'`))
	require.Contains(t, set(`UPDATE press_alfred.marks SET content_post = 2 WHERE word = 'good'`), "There is no such row of posts.")
}

// What no view can take apart is refused with its reason.
func TestPolymorphicPairsThatDoNotFit(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, press+`; CREATE TABLE press.pages (slug text PRIMARY KEY, user_id integer NOT NULL REFERENCES press.users)`)
	for types, why := range map[string]string{
		`{Deal: offer}`:             "there is no entity type offer",
		`{Page: page}`:              "commentable_id is bigint, which is not what keys of page are",
		`{Deal: deal, Offer: deal}`: "commentable_type has two words for deal, and a new row only one",
	} {
		text, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"press"}})
		require.NoError(t, err)
		require.ErrorContains(t, refusedViews(t, tx, strings.Replace(text, `{"Blog::Post": post, "Deal": deal}`, types, 1)), "comment: polymorphic: "+why)
	}
}
