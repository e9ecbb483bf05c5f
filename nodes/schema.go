package nodes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaKey is what a schema depends on. A domain needs only a few.
type schemaKey struct {
	answer reflect.Type
	enums  string
}

// answerSchema returns the JSON schema of an answer.
type answerSchema func() (json.RawMessage, error)

// schemaOf is the schema of an answer, made once for the same prompts; nil Prompts are the built-in ones.
func schemaOf[T any](p *Prompts, enums map[string][]string) answerSchema {
	create := func() (json.RawMessage, error) { return newSchema[T](enums) }

	return func() (json.RawMessage, error) {
		return once(&cmp.Or(p, builtIn).schemas, schemaKey{reflect.TypeFor[T](), fmt.Sprintf("%q", enums)}, create)
	}
}

// newSchema generates the schema from the struct, so that the contract exists once, in the order of its fields; enums add
// what Go's types cannot express, by field path ("steps.type").
func newSchema[T any](enums map[string][]string) (json.RawMessage, error) {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): constraintValue(),
	}})
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", reflect.TypeFor[T](), err)
	}
	if calls := s.Properties["calls"]; calls != nil {
		calls.Items = plannedCall()
	}
	for path, values := range enums {
		field, err := fieldAt(s, path)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", reflect.TypeFor[T](), err)
		}
		if len(values) > 0 {
			field.Enum = anys(values)
		}
	}
	data, err := json.Marshal(constrained(s))
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", reflect.TypeFor[T](), err)
	}

	return data, nil
}

// constrained adapts a schema to the strict modes of all providers: objects are closed, every property is required, and
// a missing value is null or an empty list. Otherwise a server would reject the schema or not enforce it.
func constrained(s *jsonschema.Schema) *jsonschema.Schema {
	if slices.Contains(s.Types, "array") { // a nil slice in Go; an empty list means the same
		s.Type, s.Types = "array", nil
	}
	if slices.Contains(s.Types, "object") {
		s.Type, s.Types = "object", nil
		return optional(constrained(s))
	}
	if s.Items != nil {
		s.Items = constrained(s.Items)
	}
	for i := range s.AnyOf {
		s.AnyOf[i] = constrained(s.AnyOf[i])
	}
	if s.Type != "object" {
		return s
	}
	for name, property := range s.Properties {
		// An empty text means none, and servers limit how many values may be null.
		property = constrained(property)
		if text := property.Type == "string" && len(property.Enum) == 0; !text && !slices.Contains(s.Required, name) {
			property = optional(property)
		}
		s.Properties[name] = property
	}
	s.Required = slices.Sorted(maps.Keys(s.Properties))
	s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}} // false

	return s
}

// optional makes a value nullable.
func optional(s *jsonschema.Schema) *jsonschema.Schema {
	null := func(one *jsonschema.Schema) bool { return one.Type == "null" }
	switch {
	case s.Type == "array", slices.Contains(s.Types, "null"), slices.ContainsFunc(s.AnyOf, null):
		return s
	case s.Type != "" && s.Type != "object" && len(s.Enum) == 0:
		s.Types, s.Type = []string{s.Type, "null"}, ""
		return s
	}

	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
}

func anys(values []string) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}

	return out
}

// fieldAt follows a dotted path through objects and lists.
func fieldAt(s *jsonschema.Schema, path string) (*jsonschema.Schema, error) {
	for name := range strings.SplitSeq(path, ".") {
		if s.Items != nil {
			s = s.Items
		}
		next, ok := s.Properties[name]
		if !ok {
			return nil, fmt.Errorf("no field %q in %q", name, path)
		}
		s = next
	}

	return s, nil
}
