package prompt_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/testfactory"
	"alfred/internal/view"
)

// A text is checked once before a model or a user gets it: identifiers are removed and counted, refs become labels for
// the user.
func TestGate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Butter Chicken"})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "ing_1", Label: "ing_1", Action: "linked"})
	b.exec(t, `UPDATE entity_refs SET label_is_placeholder = true WHERE session_id = $1 AND ref = 'ing_1'`, b.session)
	for i := range 59 {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("inv_%d", i+1)})
	}
	gate := view.NewGate(b.domain, b.tx, b.session)

	clean, found, err := gate.Check(t.Context(), "a 01900000-0000-7000-8000-00000000000A b 01900000000070008000000000000001")
	require.NoError(t, err)
	require.Equal(t, "a [id] b [id]", clean)
	require.Equal(t, 2, found)

	said, found, err := gate.Reply(t.Context(), "I read recipe_1 and inv_1..inv_59, not step_2 or Recipe_99; Curry (recipe_1) has ing_1.")
	require.NoError(t, err)
	require.Zero(t, found)
	require.Equal(t, "I read Butter Chicken and 59 pantry items, not step_2 or recipe; Curry has ingredient.", said)

	gate.Own = map[string]bool{"task_1": true}
	said, _, err = gate.Reply(t.Context(), "Due: call task_1.")
	require.NoError(t, err)
	require.Equal(t, "Due: call task_1.", said, "V14: what the user's own rows say is no ref")

	gate.Strict = true
	clean, _, err = gate.Check(t.Context(), "01900000-0000-7000-8000-00000000000a")
	require.ErrorIs(t, err, view.ErrLeak)
	require.Equal(t, "[id]", clean)
}

// An application's own text keys are found by querying for candidate words; a text without such words costs no
// statement.
func TestGateKnowsTextKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Butter Chicken", ID: "sku-2041/A"})
	kitchen := testfactory.OwnKitchen(t)
	kitchen.ByType("recipe").Key.Type = "text"
	n := 0
	gate := view.NewGate(kitchen, counted{b.tx, &n}, b.session)

	clean, found, err := gate.Check(t.Context(), "It is sku-2041/A, for 2 to 3 people on 2026-01-12, see sku-2042/A.")
	require.NoError(t, err)
	require.Equal(t, "It is [id], for 2 to 3 people on 2026-01-12, see sku-2042/A.", clean)
	require.Equal(t, 1, found)
	require.Equal(t, 1, n)

	_, _, err = gate.Check(t.Context(), "Nothing here is a key.")
	require.NoError(t, err)
	require.Equal(t, 1, n)
}
