package crud

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/registry"
)

func (d *decision) number(s *step) int { return d.scope.Results + slices.Index(d.steps, s) + 1 }

// store writes the results' rows and summarizes them.
func (d *decision) store(ctx context.Context, tx pgx.Tx) (Outcome, error) {
	outcome, rows := Outcome{Approval: d.approval}, &pg.Batch{}
	if d.journal.unread() { // nothing has been sent since it was asked for
		if err := rows.Send(ctx, tx); err != nil {
			return Outcome{}, err
		}
	}
	for _, s := range d.steps {
		d.storeResult(rows, s)
		outcome.Results = append(outcome.Results, s.result)
	}
	d.journal.finish()
	outcome.Undo, outcome.Aftermath, outcome.Company = d.journal.undoNotice(), d.journal.triggerNotice(), d.cascadeNotice()
	d.journal.store(rows, d.scope)

	return outcome, rows.Defer(ctx, tx)
}

// storeResult completes a call's result and queues its row. A notice goes into the first row, where a model will read
// it, or into an empty result as the message.
func (d *decision) storeResult(queue *pg.Batch, s *step) {
	result, rows := &s.result, append([]map[string]any{}, s.result.rows...)
	result.Call, result.Tool = d.number(s), s.call.Tool
	if s.entity != nil {
		result.EntityType = s.entity.Type
	}
	if s.fault != nil {
		result.ErrorCode, result.ErrorMessage = s.fault.Code, s.fault.Message
	} else {
		result.Told = s.summary(d.tools.domain)
	}
	message := result.ErrorMessage
	if result.Notice != "" && len(rows) > 0 {
		rows[0]["_notice"] = result.Notice
	} else if result.Notice != "" {
		message = result.Notice
	}
	result.Stored = &db.TurnStepResultInsertParams{
		TurnID: d.scope.TurnID, Step: int32(d.scope.Step), Call: int32(result.Call), Tool: result.Tool,
		EntityType: pg.OrNil(result.EntityType), Params: storedArgs(s.call.Args), Rows: encoded(rows), RowCount: int32(result.RowCount),
		Refs: append([]string{}, result.Refs...), ErrorCode: pg.OrNil(string(result.ErrorCode)), ErrorMessage: pg.OrNil(message),
	}
	queue.Exec("store result", db.TurnStepResultInsert, result.Stored)
}

// storedArgs keeps the arguments as the model wrote them, as far as jsonb can store them.
func storedArgs(args json.RawMessage) json.RawMessage {
	var tree any
	err := exact.Decode(args, &tree)
	if err == nil {
		args, err = exact.Storable(tree)
	}
	if err != nil {
		return json.RawMessage("{}")
	}

	return args
}

// Did says what the calls did: "created 1 meal: Spaghetti (meal_3)"; "" for no calls.
func (o *Outcome) Did() string {
	var parts []string
	for i := range o.Results {
		if told := o.Results[i].Told; told != "" {
			parts = append(parts, told)
		}
	}

	return strings.Join(parts, "; ")
}

// Summary is the same as a sentence.
func (o *Outcome) Summary() string {
	if did := o.Did(); did != "" {
		return capital(did) + "."
	}

	return ""
}

// maxTold is how many rows a result names.
const maxTold = 3

// toldWords are what a call did to the rows that it counts.
var toldWords = map[string]string{
	vocab.ToolRead: "found", vocab.ToolCreate: "created", vocab.ToolUpdate: "changed", vocab.ToolDelete: "deleted", vocab.ToolGenerate: "drafted",
}

// summary says what a call did, for people and models alike: "created 1 meal: Spaghetti (meal_3)". What was only read is
// counted, since its rows are shown.
func (s *step) summary(known *domain.Domain) string {
	r := &s.result
	word := toldWords[r.Tool]
	switch {
	case r.Tool == vocab.ToolRecall:
		return "looked back: " + counted(r.RowCount, "hit", "hits")
	case r.Tool == vocab.ToolCalculate:
		return "calculated"
	case r.Tool == vocab.ToolUndo:
		return s.undone
	case s.entity == nil && word != "":
		return word + " " + counted(r.RowCount, "row", "rows")
	case s.entity == nil:
		return domain.Spoken(r.Tool)
	case r.Tool == vocab.ToolAnalyze:
		return "counted " + s.entity.Plural + ": " + counted(r.RowCount, "result", "results")
	case word == "":
		return s.operationSummary(known)
	}
	if r.Tool == vocab.ToolCreate && !slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Action == registry.ActionCreated }) {
		word = toldWords[vocab.ToolUpdate] // merged into rows that were there
	}
	text := word + " " + counted(r.RowCount, s.entity.Name, s.entity.Plural)
	if r.Tool == vocab.ToolUpdate && r.RowCount < len(r.rows) {
		text += ", which had these values already"
	}
	switch read, _ := s.op.(*readOp); {
	case r.Tool != vocab.ToolRead:
		return text + namesOf(s.entity, r.rows, r.RowCount)
	case read != nil && r.RowCount == 0 && len(read.args.allFilters()) > 0:
		return text + " that fit"
	default:
		return text
	}
}

// operationSummary says which rows an operation changed, of each type, and what its function returned.
func (s *step) operationSummary(known *domain.Domain) string {
	r, of := &s.result, map[string][]map[string]any{}
	for _, row := range r.rows {
		kind, _ := row[vocab.TypeField].(string)
		of[kind] = append(of[kind], row)
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(of)) { // those of the call's own type first
		e := cmp.Or(known.Entity(kind), s.entity)
		parts = append(parts, counted(len(of[kind]), e.Name, e.Plural)+namesOf(e, of[kind], len(of[kind])))
	}
	if len(r.rows) == 0 && r.Notice == "" {
		parts = append(parts, "no "+s.entity.Plural)
	}
	if r.Notice != "" {
		parts = append(parts, strings.TrimSuffix(r.Notice, "."))
	}

	return domain.Spoken(r.Tool) + ": " + strings.Join(parts, "; ")
}

func counted(n int, one, many string) string {
	switch n {
	case 0:
		return "no " + many
	case 1:
		return "1 " + one
	default:
		return fmt.Sprintf("%d %s", n, many)
	}
}

// namesOf are the first few rows by label and ref. Rows without a label of their own are not named.
func namesOf(e *domain.Entity, rows []map[string]any, all int) string {
	var names []string
	for _, row := range rows {
		ref, _ := row[e.Key.Name].(string)
		label := e.Label.RenderComplete(row)
		if ref == "" || label == "" || len(names) == maxTold {
			continue
		}
		names = append(names, label+" ("+ref+")")
	}
	if len(names) == 0 {
		return ""
	}

	return ": " + andMore(names, all)
}

// joinLast joins texts, the last two by a word: "a, b and c".
func joinLast(texts []string, word string) string {
	if n := len(texts); n > 2 {
		texts = []string{strings.Join(texts[:n-1], ", "), texts[n-1]}
	}

	return strings.Join(texts, word)
}

// andMore lists names, and how many more there are of all.
func andMore(names []string, all int) string {
	between := ", "
	if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, ",") }) {
		between = "; "
	}
	text := strings.Join(names, between)
	if more := all - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}

	return text
}

// InShort names the first few labels and counts the rest of all, unless that is one; without labels, they are drafts.
func InShort(labels []string, all int) string {
	most := maxTold
	if all == most+1 {
		most = all
	}
	shown, between, last := labels[:min(len(labels), most)], ", ", " and "
	if slices.ContainsFunc(shown, func(label string) bool { return strings.Contains(label, ",") }) {
		between, last = "; ", "; and "
	}
	switch more := all - len(shown); {
	case len(shown) == 0 && all == 1:
		return "the draft"
	case len(shown) == 0:
		return fmt.Sprintf("the %d drafts", all)
	case more > 0:
		return fmt.Sprintf("%s%s%d more", strings.Join(shown, between), last, more)
	case len(shown) == 1:
		return shown[0]
	default:
		return strings.Join(shown[:len(shown)-1], between) + last + shown[len(shown)-1]
	}
}
