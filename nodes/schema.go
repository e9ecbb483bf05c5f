package nodes

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// schema is the JSON schema of a node's output, named after the node.
type schema struct {
	name string
	json json.RawMessage
}

// schemaOf generates the schema from the struct, so that the contract exists
// once; enums add what Go's types cannot say, by field path ("steps.type").
func schemaOf[T any](name string, enums map[string][]string) (*schema, error) {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {Description: "any JSON value"},
	}})
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	for path, values := range enums {
		field, err := fieldAt(s, path)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", name, err)
		}
		field.Enum = anys(values)
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	return &schema{name: name, json: data}, nil
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
