package crud

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/registry"
)

type uiChange struct {
	Action     string `json:"action"`
	EntityType string `json:"entity_type"`
	EntityID   keyOf  `json:"entity_id"`
	ID         keyOf  `json:"id"` // the name older interfaces use
	Label      string `json:"label"`
}

type mention struct {
	RefType string `json:"ref_type"`
	UUID    keyOf  `json:"uuid"`
	Label   string `json:"label"`
}

// keyOf is a key, which SQL may write as a number: jsonb_build_object('entity_id', orders.id).
type keyOf string

// UnmarshalJSON accepts a text or a number.
func (k *keyOf) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(k))
	}
	var number json.Number
	err := json.Unmarshal(raw, &number)
	*k = keyOf(number)

	return err
}

// input is one row that the user changed or pointed at.
type input struct {
	tool   string
	action string
	entity *domain.Entity // nil for an unknown type
	id     string
	label  string
}

func (in *input) same(other input) bool {
	return in.tool == other.tool && in.entity == other.entity && in.id == other.id
}

// mayExist reports whether there may be such a row.
func (in *input) mayExist() bool { return in.entity != nil && isKeyOf(in.entity, in.id) }

// token matches @[Label](type:id) in a message.
var token = regexp.MustCompile(vocab.Mention)

// withoutTokens replaces a message's tokens by their labels.
func withoutTokens(message string) string { return token.ReplaceAllString(message, "$1") }

// ApplyInputs registers the rows that the user changed outside the chat or pointed at, tokens in the message included,
// and stores them as results of step 0, together with rows changed through Create, Patch and Delete since the previous
// turn. Every row is first read as the tenant. For one that does not exist or belongs to another user, nothing is
// registered, and a failed result says so, in a sentence for the model and the user.
func (t *Tools) ApplyInputs(ctx context.Context, tx pgx.Tx, scope registry.Scope, message string, uiChanges, mentions json.RawMessage) error {
	inputs, notices, err := t.inputs(message, uiChanges, mentions)
	if err != nil {
		return err
	}
	if inputs, err = t.changedBefore(ctx, tx, scope, inputs); err != nil {
		return err
	}
	scope.Step, scope.Call, scope.Actor = 0, 0, registry.ActorUser
	keys := map[*domain.Entity][]string{}
	for _, in := range inputs {
		if in.mayExist() {
			keys[in.entity] = append(keys[in.entity], in.id)
		}
	}
	rows, err := readAs(ctx, tx, scope.UserID, keys, func(tenant pgx.Tx, e *domain.Entity) (*loaded, error) {
		return byKeys(ctx, tenant, e, wholeRow(e), keys[e])
	})
	if err != nil {
		return err
	}
	there := map[*domain.Entity]map[string]map[string]any{}
	for e, found := range rows {
		there[e] = found.byKey()
	}
	results := make([]registry.Result, 0, len(inputs))
	var kept []input
	for _, in := range inputs {
		result, notice := in.result(rows[in.entity], there[in.entity])
		if notice != "" {
			notices = append(notices, notice)

			continue
		}
		results, kept = append(results, result), append(kept, in)
	}

	return t.recordInputs(ctx, tx, scope, kept, results, eachOnce(notices))
}

// mostNotices bounds what prompts are told of rows that are not there: a caller may name any number of them.
const mostNotices = 20

// eachOnce is each notice once, and of many how many more there are.
func eachOnce(notices []string) []string {
	said := make(map[string]bool, len(notices))
	var once []string
	for _, notice := range notices {
		if !said[notice] {
			said[notice], once = true, append(once, notice)
		}
	}
	if more := len(once) - mostNotices; more > 0 {
		return append(once[:mostNotices], fmt.Sprintf("The same goes for %d more.", more))
	}

	return once
}

// inputs reads what came with a turn: changes in order, then mentions, each mentioned row once.
func (t *Tools) inputs(message string, uiChanges, mentions json.RawMessage) ([]input, []string, error) {
	changed, err := elements[uiChange](uiChanges)
	if err != nil {
		return nil, nil, fmt.Errorf("read UI changes: %w", err)
	}
	mentioned, err := elements[mention](mentions)
	if err != nil {
		return nil, nil, fmt.Errorf("read mentions: %w", err)
	}
	for _, found := range token.FindAllStringSubmatch(message, -1) {
		mentioned = append(mentioned, mention{Label: found[1], RefType: found[2], UUID: keyOf(found[3])})
	}
	var list []input
	var notices []string
	for _, c := range changed {
		action := strings.TrimSuffix(c.Action, byUser) + byUser
		if !slices.Contains([]string{registry.ActionCreatedUser, registry.ActionUpdatedUser, registry.ActionDeletedUser}, action) {
			notices = append(notices, missingNotice(t.domain.Entity(c.EntityType), c.Label))

			continue
		}
		list = append(list, input{tool: vocab.ToolUIChange, action: action, entity: t.domain.Entity(c.EntityType), id: string(cmp.Or(c.EntityID, c.ID)), label: c.Label})
	}
	for _, m := range mentioned {
		in := input{tool: vocab.ToolMention, action: registry.ActionMentionedUser, entity: t.domain.Entity(m.RefType), id: string(m.UUID), label: m.Label}
		if !slices.ContainsFunc(list, in.same) {
			list = append(list, in)
		}
	}

	return list, notices, nil
}

// elements decodes a list. SQL callers may put anything into it: an element that does not have T's form names nothing,
// like an empty object, and the user is told that it could not be found.
func elements[T any](raw json.RawMessage) ([]T, error) {
	var parts []json.RawMessage
	if err := unmarshal(raw, &parts); err != nil {
		return nil, err
	}
	list := make([]T, len(parts))
	for i, part := range parts {
		var element T
		if json.Unmarshal(part, &element) == nil {
			list[i] = element
		}
	}

	return list, nil
}

// changedBefore prepends what was registered for this turn before it began, except rows that the turn itself brings
// along.
func (t *Tools) changedBefore(ctx context.Context, tx pgx.Tx, scope registry.Scope, inputs []input) ([]input, error) {
	found, err := db.New().EntityEventListUser(ctx, tx, &db.EntityEventListUserParams{SessionID: scope.SessionID, TurnNumber: int32(scope.Turn)})
	if err != nil {
		return nil, fmt.Errorf("read changes: %w", err)
	}
	var before []input
	for _, row := range found {
		in := input{tool: vocab.ToolUIChange, action: row.Action, entity: t.domain.ByType(row.EntityType), id: *row.EntityID, label: row.Label}
		if !slices.ContainsFunc(inputs, in.same) {
			before = append(before, in)
		}
	}

	return append(before, inputs...), nil
}

// readAs reads rows by key as the user, one statement per type: other users' rows do not exist.
func readAs(
	ctx context.Context, tx pgx.Tx, user uuid.UUID, keys map[*domain.Entity][]string, read func(tenant pgx.Tx, e *domain.Entity) (*loaded, error),
) (map[*domain.Entity]*loaded, error) {
	rows := map[*domain.Entity]*loaded{}
	if len(keys) == 0 {
		return rows, nil
	}

	return rows, pg.AsTenant(ctx, tx, user, func(tenant pgx.Tx) (err error) {
		for e := range keys {
			if rows[e], err = read(tenant, e); err != nil {
				return err
			}
		}

		return nil
	})
}

// isKeyOf reports whether a text can be a key of the type, so that Postgres can parse it.
func isKeyOf(e *domain.Entity, id string) bool {
	switch e.Key.Kind {
	case domain.KindUUID:
		_, err := uuid.Parse(id)

		return err == nil && len(id) == 36
	case domain.KindNumber:
		n, err := strconv.ParseInt(id, 10, cmp.Or(integerBits[e.Key.Type], 63)+1)

		return err == nil && strconv.FormatInt(n, 10) == id
	default:
		return id != ""
	}
}

// result converts the input for the registry, or returns a notice if there is no such row. A deletion closes the ref of a
// row that is gone: one that still exists was not deleted, whatever the interface says.
func (in *input) result(rows *loaded, byKey map[string]map[string]any) (registry.Result, string) {
	id := in.id
	if in.mayExist() && in.entity.Key.Kind == domain.KindUUID {
		id = strings.ToLower(id) // as Postgres writes it
	}
	row, deleted := byKey[id], in.action == registry.ActionDeletedUser
	switch {
	case !in.mayExist():
		return registry.Result{}, missingNotice(in.entity, in.label)
	case deleted && row != nil:
		return registry.Result{}, noticeName(in.entity, in.label) + " was not deleted: it is still there."
	case deleted:
		return registry.Result{Entity: in.entity, Rows: []map[string]any{{in.entity.Key.Name: id}}, Action: in.action}, ""
	case row == nil:
		return registry.Result{}, missingNotice(in.entity, in.label)
	}
	result := rows.after(in.action)
	result.Rows = []map[string]any{row}

	return result, ""
}

func missingNotice(e *domain.Entity, label string) string {
	return noticeName(e, label) + " could not be found: it does not exist, or not any more."
}

func noticeName(e *domain.Entity, label string) string {
	if label = strings.TrimSpace(registry.Scrub(label)); label != "" {
		return cut(label, 100)
	}
	if e != nil {
		return "The " + e.Name
	}

	return "The thing you pointed at"
}

// recordInputs writes refs and events at once, and each input and notice as a result.
func (t *Tools) recordInputs(ctx context.Context, tx pgx.Tx, scope registry.Scope, inputs []input, results []registry.Result, notices []string) error {
	if len(inputs)+len(notices) == 0 {
		return nil
	}
	last, err := db.New().TurnStepResultLastCall(ctx, tx, &db.TurnStepResultLastCallParams{TurnID: scope.TurnID, Step: 0})
	if err != nil {
		return fmt.Errorf("number inputs: %w", err)
	}
	scope.Results = int(last)
	d := &decision{tools: t, scope: scope, registry: registry.New(tx, t.domain, scope), journal: &journal{}}
	translated, err := d.translate(ctx, tx, results...)
	if err != nil {
		return err
	}
	for i, in := range inputs {
		rows := translated[i].Rows
		if in.action == registry.ActionDeletedUser {
			for _, row := range rows {
				row["label"] = noticeName(in.entity, in.label)
			}
		}
		d.steps = append(d.steps, &step{
			call: vocab.Call{Tool: in.tool, Args: encoded(map[string]string{"action": in.action})}, entity: in.entity, result: Result{RowCount: len(rows), Refs: translated[i].Refs, rows: rows},
		})
	}
	for _, notice := range notices {
		d.steps = append(d.steps, &step{call: vocab.Call{Tool: vocab.ToolMention}, fault: fail(CodeNotFound, "%s", notice)})
	}
	_, err = d.store(ctx, tx)

	return err
}
