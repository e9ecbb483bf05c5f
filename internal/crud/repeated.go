package crud

import (
	"encoding/json"

	"alfred/internal/exact"
	"alfred/internal/vocab"
	"alfred/registry"
)

// Fingerprint is equal for calls that differ only in formatting.
func Fingerprint(c vocab.Call) string {
	var args any
	if err := exact.Decode(c.Args, &args); err != nil {
		return c.Tool + string(c.Args)
	}
	sorted, err := json.Marshal(args)
	if err != nil {
		return c.Tool + string(c.Args)
	}

	return c.Tool + string(sorted)
}

// repeated refuses a call that the decision or its step makes twice, if it does more then: a row is created twice, and a
// name finds the next best row once the best is deleted. made are the fingerprints of the decision's earlier ones.
// Models repeat themselves, so only the user's words could say that it is meant, and a model that means it can say it
// otherwise.
func (d *decision) repeated(call vocab.Call, made map[string]bool) *Error {
	if vocab.Reads(call.Tool) || call.Tool == vocab.ToolCalculate || call.Tool == vocab.ToolUpdate {
		return nil
	}
	is := Fingerprint(call)
	if told, done := d.bounds.Done[is]; done {
		return fail(CodeRepeated, "This step has already done that: %s. Leave it out, or call step_complete if nothing else is to be done.", registry.Scrub(told))
	}
	if made[is] {
		return fail(CodeRepeated, "The same %s stands twice in this answer. Leave one out; rows that are to be equal stand in one call.", call.Tool)
	}
	made[is] = true

	return nil
}
