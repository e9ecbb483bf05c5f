package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"alfred/internal/llm/offline"
	"alfred/internal/testfactory"
)

// Y11: a table is sorted, filtered, changed in place, in bulk, and by files.
func TestY11Tables(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	p := h.resident("ada")
	b := browse(t)
	b.enter(p, h.url)
	b.say("Show my recipes")
	b.lastReply(1)
	b.click(`#types [data-type="inv"]`)
	b.shows("#row-count", "12 pantry items")
	first := `document.querySelector("#row-table tbody th").textContent`

	b.click(`#row-table th[data-column="quantity"] button`)
	b.until(`document.querySelector('#row-table th[data-column="quantity"]').ariaSort === "ascending"`)
	least := b.eval(first)
	b.click(`#row-table th[data-column="quantity"] button`)
	b.until(`document.querySelector('#row-table th[data-column="quantity"]').ariaSort === "descending"`)
	require.NotEqual(t, least, b.eval(first))

	b.click("#filter-rows")
	b.eval(`document.querySelector('[data-filter="quantity"]').focus()`)
	b.do(chromedp.KeyEvent("> 70"))
	b.shows("#row-count", "9 pantry items")
	b.do(chromedp.KeyEvent("00")) // where the first keys were
	b.shows("#row-count", "0 pantry items")
	require.Equal(t, "> 7000", b.eval(`document.activeElement.value`), "a filter that nothing passes can be corrected")
	b.click("#filter-rows")
	b.shows("#row-count", "12 pantry items")
	b.click("#filter-rows")
	b.fill(`[data-filter="name"]`, "rice")
	b.shows("#row-count", "1 pantry item")
	b.fill(`[data-filter="quantity"]`, "lots")
	b.until(`document.querySelector('[data-filter="quantity"]').ariaInvalid === "true"`)
	b.look("filtered")
	b.click("#filter-rows")
	b.shows("#row-count", "12 pantry items")

	b.click("#columns summary")
	b.until(`document.querySelector("#columns input:checked") !== null`)
	b.look("columns")
	b.eval(`[...document.querySelectorAll("#columns label")].find((e) => e.textContent === "Notes").click()`)
	b.until(`document.querySelector('#row-table th[data-column="notes"]') !== null`)
	b.do(chromedp.KeyEvent(kb.Escape))

	b.click("#edit-rows")
	b.until(`getComputedStyle(document.querySelector("#row-table .editable > span")).borderBottomStyle === "dashed"`) // seen without a mouse
	b.eval(`[...document.querySelectorAll("#row-table tbody tr")].find((e) => e.textContent.includes("Basmati rice")).querySelector('[aria-label^="Change quantity"]').click()`)
	b.until(`document.activeElement.matches("#row-table input[type=number]")`)
	b.eval(`document.activeElement.value = "0.25"`)
	b.enterKey()
	b.shows("#row-table", "0.25")
	h.requireRows(t, "0.25", `SELECT trim_scale(quantity) FROM kitchen.inventory WHERE name = 'Basmati rice' AND user_id = '`+p.user.String()+`'`)
	b.look("edit_in_place")
	b.click("#edit-rows")

	b.click("#row-table tbody tr:nth-child(1) input")
	b.click("#row-table tbody tr:nth-child(2) input")
	b.shows("#row-bulk", "2 pantry items chosen")
	b.look("chosen")
	b.click("#row-bulk .danger")
	b.click("dialog[open] .danger")
	b.shows("#row-count", "10 pantry items")

	file := filepath.Join(t.TempDir(), "pantry.csv")
	require.NoError(t, os.WriteFile(file, []byte("name,quantity,colour\nOat milk,2,white\nTea,-1,green\n"), 0o600))
	b.click("#import-rows")
	b.upload(file)
	b.shows("dialog[open]", "1 line cannot be imported.")
	b.shows("dialog[open]", "Left out: colour")
	b.look("import_wrong")
	file = filepath.Join(t.TempDir(), "mended.csv")
	require.NoError(t, os.WriteFile(file, []byte("name,quantity\nOat milk,2\nTea,1\n"), 0o600))
	b.upload(file)
	b.shows("dialog[open]", "2 pantry items can be imported.")
	b.click("dialog[open] .buttons .primary")
	b.shows("#row-count", "12 pantry items")

	b.fill("#find-row", "Basmati")
	b.shows("#row-count", "1 pantry item")
	b.click("#row-table tbody th button")
	b.until(`document.querySelector("dialog[open] .history") !== null`)
	b.eval(`document.querySelector("dialog[open] .history summary").click()`)
	b.shows("dialog[open] .history", "Updated by you")
	b.look("history")
	b.requireNoTrouble()
}

// upload chooses a file as a user does in the browser's own dialog.
func (b *tab) upload(file string) {
	b.t.Helper()
	b.do(chromedp.SetUploadFiles(chromedp.CSS("#csv-file"), []string{file}))
}

// A file opens in the spreadsheets of the user's country: columns were one, accents two letters, and prices texts; and what such a program
// has saved is read.
func TestFilesOfCountriesWithDecimalCommas(t *testing.T) {
	t.Parallel()

	b := browse(t)
	c := talkIn(t, `CREATE SCHEMA alquiler; SET LOCAL search_path = alquiler;
		CREATE TABLE usuarios (id integer PRIMARY KEY, nombre text NOT NULL);
		CREATE TABLE coches (id serial PRIMARY KEY, id_usuario integer NOT NULL REFERENCES usuarios, modelo text NOT NULL);
		CREATE TABLE alquileres (id serial PRIMARY KEY, id_usuario integer NOT NULL REFERENCES usuarios, id_coche integer NOT NULL REFERENCES coches, "año" integer, "precio_día" numeric(8,2), desde date, nota text);
		INSERT INTO usuarios VALUES (1, 'Begoña');
		INSERT INTO coches (id_usuario, modelo) VALUES (1, 'León'), (1, 'Škoda');
		INSERT INTO alquileres (id_usuario, id_coche, "año", "precio_día", desde, nota) VALUES (1, 1, 2026, -26.95, '2026-12-03', '=1+1; moroso')`)
	d := testfactory.Views(t, c.pool, "alquiler", strings.NewReplacer("\n  - type: alquilere\n", "\n  - type: alquilere\n    writes: [create]\n    columns: [id_coche, \"año\", \"precio_día\", desde, nota]\n")).Domain
	c.exec(`INSERT INTO alquiler_alfred.alfred_accounts VALUES ($1, 1)`)
	h := openHouse(t, fixtures{model: offline.New, pool: c.pool, domain: d})
	_, err := chromedp.Call(b.ctx, emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: "es-ES"})
	require.NoError(t, err)
	b.enter(h.guest("ada"), h.url)
	b.click(`#types [data-type="alquilere"]`)
	b.shows("#row-count", "1 alquilere")
	b.shows(`#row-table th[data-column="id_coche"]`, "Coche")
	b.eval(`URL.createObjectURL = (blob) => { blob.arrayBuffer().then((bytes) => { window.file = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes); }); return "#"; }`)
	b.click("#export-rows")
	b.until(`window.file !== undefined`)
	require.Equal(t, "\ufeffid;id_coche;_id_coche_label;año;precio_día;desde;nota\r\n1;1;León;2026;-26,95;2026-12-03;\"'=1+1; moroso\"", b.eval(`window.file`))

	file := filepath.Join(t.TempDir(), "excel.csv")
	require.NoError(t, os.WriteFile(file, []byte("Coche;_id_coche_label;a\xf1o;precio_d\xeda;desde;nota\r\n2;\x8akoda;2027;1,5;3/12/2026;\"'=1+1; moroso\"\r\n"), 0o600))
	b.click("#import-rows")
	b.upload(file)
	b.shows("dialog[open]", "1 alquilere can be imported.")
	b.click("dialog[open] .buttons .primary")
	b.shows("#row-count", "2 alquileres")
	h.requireRows(t, "Škoda 2027 1.50 2026-12-03 =1+1; moroso", `SELECT concat_ws(' ', modelo, "año", "precio_día", desde, nota) FROM alquiler.alquileres AS a JOIN alquiler.coches AS c ON c.id = id_coche WHERE "año" = 2027`)
	b.requireNoTrouble()
}

// The lines of a balanced entry change together: one after the other each was refused.
func TestPartsOfARowChangeTogether(t *testing.T) {
	t.Parallel()

	b := browse(t)
	c := talkIn(t, `CREATE SCHEMA ledger; SET LOCAL search_path = ledger;
		CREATE TABLE users (id integer PRIMARY KEY, name text NOT NULL);
		CREATE TABLE entries (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES users, title text NOT NULL);
		CREATE TABLE lines (id serial PRIMARY KEY, entry_id integer NOT NULL REFERENCES entries ON DELETE CASCADE, title text NOT NULL, amount integer NOT NULL);
		CREATE FUNCTION ledger.balanced() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF (SELECT sum(amount) FROM ledger.lines) <> 0 THEN RAISE EXCEPTION 'The entry is not balanced.'; END IF;
			RETURN NULL;
		END $$;
		CREATE CONSTRAINT TRIGGER balanced AFTER INSERT OR UPDATE OR DELETE ON lines DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION balanced();
		INSERT INTO users VALUES (1, 'Ada'); INSERT INTO entries VALUES (1, 1, 'Fee'); INSERT INTO lines (entry_id, title, amount) VALUES (1, 'bank', 5), (1, 'fees', -5)`)
	d := testfactory.Views(t, c.pool, "ledger", strings.NewReplacer("\n  - type: entry\n", "\n  - type: entry\n    writes: [update]\n    columns: [title]\n", "\n  - type: line\n", "\n  - type: line\n    writes: [update]\n    columns: [title, amount]\n")).Domain
	c.exec(`INSERT INTO ledger_alfred.alfred_accounts VALUES ($1, 1)`)
	h := openHouse(t, fixtures{model: offline.New, pool: c.pool, domain: d})
	b.enter(h.guest("ada"), h.url)
	b.click(`#types [data-type="entry"]`)
	b.shows("#row-count", "1 entry")
	b.click("#row-table tbody button")
	b.fill(`dialog[open] .parts tr:nth-child(1) [name="amount"]`, "7")
	b.click("dialog[open] [type=submit]")
	b.shows("dialog[open] [role=alert]", "The entry is not balanced.")
	b.fill(`dialog[open] .parts tr:nth-child(2) [name="amount"]`, "-7")
	b.click("dialog[open] [type=submit]")
	b.counts("dialog[open]", 0)
	h.requireRows(t, "7 -7", `SELECT string_agg(amount::text, ' ' ORDER BY amount DESC) FROM ledger.lines`)
	b.requireNoTrouble()
}
