package jobs

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// A look-up beside a yes is left out only if it has waited: one whose calls Act has to decide is like none that has.
func TestOnlyTheSameCallsHaveWaited(t *testing.T) {
	t.Parallel()

	look := func(calls ...string) nodes.Step {
		step := nodes.Step{Type: vocab.StepRead, Subdomain: "inventory"}
		for _, call := range calls {
			step.Calls = append(step.Calls, json.RawMessage(call))
		}

		return step
	}
	const milk, eggs = `{"tool": "db_read", "args": {"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "milk"}]}}`, `{"tool": "db_read", "args": {"table": "inventory"}}`
	require.True(t, callsWaited([]nodes.Step{look(eggs), look(milk)}, look(milk)))
	require.False(t, callsWaited([]nodes.Step{look(eggs)}, look(milk)))
	require.False(t, callsWaited([]nodes.Step{look()}, look(`{"tool": "none"}`)))
	require.False(t, callsWaited([]nodes.Step{look()}, look()))
}

// Of rows that are called by those they stand between, "and take the fleece out of the sale" is another wish than the one about jackets
// in the sale, which was asked about.
func TestAnotherLinkIsAnotherWish(t *testing.T) {
	t.Parallel()
	label, err := domain.ParseTemplate("{_shelf_id_label} · {_item_id_label}")
	require.NoError(t, err)
	s := &state{runner: &Runner{Config: Config{Domain: domain.New(domain.Domain{Entities: []*domain.Entity{{Type: "place", Table: "places", Label: label}}})}}}
	removed := func(item string) vocab.Call {
		return vocab.Call{Tool: vocab.ToolDelete, Args: json.RawMessage(`{"table": "places", "filters": [{"field": "shelf_id", "op": "=", "value": "Sale"}, {"field": "` + item + `"}]}`)}
	}
	asked := &question{}
	asked.Text, asked.Calls = "This would delete 2 places: Sale · Rain Jacket, Sale · Rain Jacket.", []crud.ApprovedCall{{Call: removed(`id", "op": "in", "value": ["place_1", "place_2"], "x": "`)}}
	for item, repeats := range map[string]bool{`item_id", "op": "=", "value": "Fleece`: false, `item_id.name", "op": "=", "value": "Fleece`: false, `item_id", "op": "=", "value": "rain jacket`: true} {
		require.Equal(t, repeats, s.repeatsApproved(removed(item), asked), item)
	}
}
