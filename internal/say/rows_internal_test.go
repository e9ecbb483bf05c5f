package say

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
	"alfred/internal/view"
)

// Whoever words a reply has to know what a template leaves out: the hour of a day, and who a shared row is. Only the
// canonical row of the row's own name goes without saying.
func TestLinesLeaveOutNothing(t *testing.T) {
	t.Parallel()
	template, err := domain.ParseTemplate("{at:Jan 2} {_patient_id_label}")
	require.NoError(t, err)
	shared := &domain.Entity{Type: "vet", Reference: true}
	column := func(name string, kind domain.Kind) *domain.Column { return &domain.Column{Name: name, Kind: kind} }
	vet, food := column("vet_id", domain.KindText), column("food_id", domain.KindText)
	vet.FK, food.FK = &domain.ForeignKey{Entity: shared}, &domain.ForeignKey{Entity: shared}
	def := &domain.Entity{
		Label: template, Display: template, Spoken: template, Key: column("id", domain.KindText), Match: &domain.Match{Link: food},
		Columns: []*domain.Column{column("at", domain.KindTimestamp), column("patient_id", domain.KindText), vet, food},
	}
	row := map[string]any{"at": "2026-11-26T08:00:00+00:00", "_patient_id_label": "Bello", "vet_id": "vet_1", "_vet_id_label": "Dr. Vogt", "food_id": "food_1", "_food_id_label": "oats"}
	require.Equal(t, "Nov 26 Bello at:2026-11-26T08:00:00+00:00 vet:Dr. Vogt", (&Teller{}).lineOf(def, row, forReply))
	require.Equal(t, "Nov 26 Bello; vet: Dr. Vogt", (&Teller{}).lineOf(def, row, forPerson))

	keeper := column("keeper_key", domain.KindText)
	keeper.FK = &domain.ForeignKey{Entity: shared}
	def.Columns, row["_keeper_key_label"] = append(def.Columns, keeper), "Ann Vogt"
	require.Equal(t, "Nov 26 Bello; keeper: Ann Vogt; vet: Dr. Vogt", (&Teller{}).lineOf(def, row, forPerson), "a key of several columns")

	maker := column("CreatedById", domain.KindText)
	maker.FK = keeper.FK
	def.Columns, row["_CreatedById_label"] = append(def.Columns, maker), "Ben Carver"
	require.Contains(t, (&Teller{}).lineOf(def, row, forPerson), "; created by: Ben Carver", "however programs write it")
	require.Contains(t, (&Teller{}).lineOf(def, row, forReply), " CreatedBy:Ben Carver")
	delete(row, "_CreatedById_label")

	def.Columns = append(def.Columns, column("booked_at", domain.KindTimestamp))
	row["booked_at"] = row["at"]
	require.Contains(t, (&Teller{}).lineOf(def, row, forPerson), "; booked at: Nov 26, 2026 08:00", "a time as people write it")
}

// A template that asks whether there is a reference tells people of it as it tells models: a score that is lent was shown
// as if it were not.
func TestLinesAskForReferences(t *testing.T) {
	t.Parallel()
	template, err := domain.ParseTemplate("{code}{?lent_to: lent to {_lent_to_label}{?lent_on: since {lent_on}}}{?piece_id: ({piece_id})}")
	require.NoError(t, err)
	column := func(name string, references *domain.ForeignKey) *domain.Column {
		return &domain.Column{Name: name, Kind: domain.KindText, FK: references}
	}
	other := &domain.ForeignKey{Entity: &domain.Entity{Type: "singer"}}
	def := &domain.Entity{
		Label: template, Display: template, Spoken: template, Key: column("id", nil),
		Columns: []*domain.Column{column("code", nil), column("lent_to", other), column("lent_on", nil), column("piece_id", other)},
	}
	row := map[string]any{"code": "S-5", "lent_to": "singer_1", "_lent_to_label": "Anna", "lent_on": "2026-11-26", "piece_id": "piece_1"}
	for _, reader := range []hearer{forReply, forPerson} {
		require.Equal(t, "S-5 lent to Anna since 2026-11-26", (&Teller{}).lineOf(def, row, reader))
	}
	require.Equal(t, "S-5 lent to Anna since 2026-11-26 (piece_1)", (&Teller{}).lineOf(def, row, forModel))
	row["_piece_id_label"] = "Etude"
	require.Equal(t, "S-5 lent to Anna since 2026-11-26 piece:Etude", (&Teller{}).lineOf(def, row, forReply), "a template that shows a ref tells nobody else which row it is")
	def.Columns = append(def.Columns, column("tx_guid", other))
	row["tx_guid"], row["_tx_guid_label"] = "singer_2", "Rent"
	require.Contains(t, (&Teller{}).lineOf(def, row, forReply), " tx:Rent", "nobody says guid")
}

// A part's parts stand below it: the return of an order's line was told to stand with its row, and stood nowhere.
func TestPartsOfPartsAreShown(t *testing.T) {
	t.Parallel()
	template, err := domain.ParseTemplate("{name}")
	require.NoError(t, err)
	kind := func(name string, children ...*domain.Entity) *domain.Entity {
		def := &domain.Entity{Type: name, Name: name, Table: name + "s", Label: template, Display: template, Spoken: template, Key: &domain.Column{Name: "id"}}
		def.Columns = []*domain.Column{{Name: "name", Kind: domain.KindText}}
		for _, child := range children {
			def.Children = append(def.Children, &domain.Child{Entity: child, FK: &domain.Column{Name: name + "_id"}})
		}

		return def
	}
	back := kind("return")
	line := kind("line", back)
	rows := &view.RowSet{ByRef: map[string]*view.Row{}}
	add := func(def *domain.Entity, ref, name string, children map[string][]string) {
		rows.ByRef[ref] = &view.Row{Ref: ref, Kind: def, Columns: map[string]any{"name": name}, Children: children}
	}
	add(kind("order", line), "order_1", "S-1", map[string][]string{"lines": {"line_1", "line_2"}})
	add(line, "line_1", "Mug", map[string][]string{"returns": {"return_1"}})
	add(line, "line_2", "Lamp", nil)
	add(back, "return_1", "defective", nil)
	told := &Teller{&view.Scene{Rows: rows}}
	require.Equal(t, strings.Join([]string{"- S-1", "  - Mug", "    - return: defective", "  - Lamp"}, "\n"), told.PlainRow("order_1"))
	rows.ByRef["order_1"].Columns["contents"], rows.ByRef["order_1"].Columns["tags"] = "Mug, Lamp", []any{"new"}
	require.Equal(t, strings.Join([]string{"- S-1 tags:new", "  - Mug", "    - return: defective", "  - Lamp"}, "\n"), told.PlainRow("order_1"), "what stands below is not said twice")
	rows.ByRef["line_1"].Columns["name"] = "defective"
	require.Equal(t, "- defective\n  - defective", told.PlainRow("line_1"), "a row called like its only part keeps its name")
	rows.ByRef["line_1"].Columns["name"] = "Mug"
	require.Equal(t, []string{"  - return: defective id:return_1"}, told.InnerParts(rows.ByRef["line_1"]))
}

// What an update replaced is called the same wherever a model reads it, and the row it was in is no less readable: it was "was"
// in a line, "_was" below one, and made the tables' rows JSON.
func TestReplacedValuesAreCalledOneThing(t *testing.T) {
	t.Parallel()
	template, err := domain.ParseTemplate("{name}")
	require.NoError(t, err)
	column := func(name string) *domain.Column { return &domain.Column{Name: name, Kind: domain.KindText} }
	def := &domain.Entity{Type: "task", Label: template, Display: template, Key: column("id"), Columns: []*domain.Column{column("name"), column("state")}}
	row := &view.Row{Ref: "task_1", Kind: def, Columns: map[string]any{"name": "Thaw", "state": "done", "_was": map[string]any{"state": "open"}}}
	said := &Teller{Scene: &view.Scene{ByRef: map[string]*view.Entity{"task_1": {}}, Rows: &view.RowSet{ByRef: map[string]*view.Row{"task_1": row}}}}

	const line = `Thaw state:done was:{"state":"open"}`
	told, whole := said.FactsLine(row)
	require.True(t, whole)
	require.Equal(t, line, told)
	require.Equal(t, "- "+line, said.PlainRow("task_1"))

	row.Columns["_was"] = map[string]any{"state": strings.Repeat("open ", 50)}
	require.Contains(t, said.PlainRow("task_1"), "\n  was:\n")
}
