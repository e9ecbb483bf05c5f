package prompt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
)

// A generated column cannot be filled, but found and added up: an invoice's due day, a line's total.
func TestColumnsNameGeneratedOnes(t *testing.T) {
	t.Parallel()
	line := columnsLine(&domain.Entity{Table: "invoices", Columns: []*domain.Column{
		{Name: "issued_on", Kind: domain.KindDate}, {Name: "due_on", Kind: domain.KindDate, Generated: true, Derived: true}, {Name: "owner", Hidden: true},
		{Name: "for_days", Form: "range of dates"},
	}})
	require.Equal(t, "- invoices: issued_on, due_on, for_days (range of dates)", line)
}

// Models copy what they see: an example sets no column that is refused, as a name that the database composes.
func TestExamplesSetWhatMayBeWritten(t *testing.T) {
	t.Parallel()
	label, err := domain.ParseTemplate("{full_name}")
	require.NoError(t, err)
	patient := &domain.Entity{Table: "patients", Type: "patient", Label: label, Columns: []*domain.Column{
		{Name: "number"}, {Name: "first_name", Kind: domain.KindText, Writable: true}, {Name: "full_name", Kind: domain.KindText, Generated: true},
	}}
	require.JSONEq(t, `[{"column": "first_name", "value": "..."}]`, setExample(patient))
}

// A planner who orders by urgency knows which end of the scale is urgent; what a price is measured in, a planner need not know.
func TestScalesAreExplainedToPlanners(t *testing.T) {
	t.Parallel()
	issues := &domain.Entity{Table: "issues", Columns: []*domain.Column{
		{Name: "title", Kind: domain.KindText, Comment: "What it is about"},
		{Name: "priority", Kind: domain.KindNumber, Check: "priority >= 1 AND priority <= 5", Comment: "1 is most urgent."},
		{Name: "hours", Kind: domain.KindNumber, Check: "hours > 0", Comment: "Of work."},
	}}
	require.Equal(t, "- issues: title, priority (1 is most urgent), hours", columnsLine(issues))
	require.Equal(t, "- issues: title, priority (1 is most urgent), hours; hours: Of work", measuredLine(issues))
}

// A letter or a number that stands for a word is no value that a planner could guess: what is open was sought as "open".
func TestCodesAreExplainedToPlanners(t *testing.T) {
	t.Parallel()
	repairs := &domain.Entity{Table: "repairs", Columns: []*domain.Column{
		{Name: "status", Kind: domain.KindText, Enum: []string{"O", "E"}, Comment: "O offen, E erledigt"},
		{Name: "kind", Kind: domain.KindText, Enum: []string{"roof", "door"}, Comment: "What is broken."},
		{Name: "stage", Kind: domain.KindNumber, Comment: "0 = new, 1 = ordered."}, {Name: "rights", Kind: domain.KindNumber, Comment: "Bits: 1 read, 2 book"},
		{Name: "features", Kind: domain.KindText, Form: "bits (0101)", Comment: "Bit 1: lift."}, {Name: "during", Kind: domain.KindText, Form: "range of dates", Comment: "When."},
		{Name: "area", Kind: domain.KindNumber, Comment: "In m², 2 decimals."},
	}}
	require.Equal(t, "- repairs: status (O|E: O offen, E erledigt), kind (roof|door), stage (0 = new, 1 = ordered), rights (Bits: 1 read, 2 book), features (bits (0101): Bit 1: lift), during (range of dates), area",
		columnsLine(repairs))
}

// Nor is it one that a reply could tell: of repairs that are [B], nobody knows that they have been ordered.
func TestCodesAreExplainedToReplies(t *testing.T) {
	t.Parallel()
	status := &domain.Column{Name: "status", Kind: domain.KindText, Enum: []string{"O", "B"}, Comment: "O open, B ordered."}
	for text, explained := range map[string]bool{"- Lamp [B]": true, "- Lamp status:O": true, "- Lamp [X]": false, "- B": false} {
		require.Equal(t, explained, isExplained(text, status), text)
	}
	require.False(t, isExplained("- Lamp kind:roof [roof]", &domain.Column{Name: "kind", Kind: domain.KindText, Enum: []string{"roof"}, Comment: "What is broken."}))
	require.True(t, isExplained("- Lamp price:3", &domain.Column{Name: "price", Kind: domain.KindNumber, Comment: "In cents."}))
	require.False(t, isExplained("- Lamp [B]", &domain.Column{Name: "status", Kind: domain.KindText, Enum: []string{"B"}, Comment: "B ordered", Hidden: true}))
}

// Many rows in one line are told by the word that their table's name is, however it is written: [15 invoice item items] were none.
func TestRowsAreToldByTheirTable(t *testing.T) {
	t.Parallel()
	for table, plural := range map[string]string{"InvoiceItem": "invoice items", "order_lines": "order lines", "Task": "tasks", "_TaskToUser": "task to user items", "inventory": "inventory items", "Time Entries": "time entries"} {
		require.Equal(t, plural, rowsOf(&domain.Entity{Table: table}, map[string]string{"InvoiceItem": "invoice items", "Task": "tasks"}[table]))
	}
	require.Equal(t, "old things", rowsOf(nil, "old things"))
}
