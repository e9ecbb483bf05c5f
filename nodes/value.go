package nodes

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
)

// constraintForm is how a constrained model writes a constraint's value. Any other JSON value is accepted too.
type constraintForm struct {
	From   string   `json:"from,omitempty"`
	Items  []string `json:"items,omitempty"`
	Number *float64 `json:"number,omitempty"`
	To     string   `json:"to,omitempty"`
}

func constraintValue() *jsonschema.Schema {
	return optional(object(fields{
		"from":   optional(text("First day, as 2026-01-31.")),
		"items":  list("What is excluded or required.", text("")),
		"number": optional(&jsonschema.Schema{Type: "number", Description: "A count or an amount."}),
		"to":     optional(text("Last day, as 2026-01-31.")),
	}))
}

// plainValue simplifies a value: nothing becomes null, a single number or item is unwrapped. A constraint is stored and
// shown in the same form however it was written.
func plainValue(given json.RawMessage) json.RawMessage {
	var form constraintForm
	if len(given) == 0 || decode(given, &form) != nil {
		return given
	}
	dated := form.From != "" || form.To != ""
	var plain any = form
	switch {
	case !dated && form.Number == nil && len(form.Items) == 0:
		return nil
	case !dated && form.Number == nil && len(form.Items) == 1:
		plain = form.Items[0]
	case !dated && form.Number == nil:
		plain = form.Items
	case !dated && len(form.Items) == 0:
		plain = form.Number
	}
	encoded, err := json.Marshal(plain)
	if err != nil {
		return given
	}

	return encoded
}
