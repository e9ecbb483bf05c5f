package answer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"alfred/internal/exact"
)

// Decode decodes one JSON object into a pointer to a struct or map. It corrects what is unambiguous, such as a quoted
// number or a single value for a list. The error says everything else that is wrong, such as unknown fields and wrong
// types, in sentences without a full stop, each naming its field. Missing fields keep their zero value, NUL characters
// are removed.
func Decode(data []byte, into any) error {
	tree, err := parse(object(data))
	if err != nil {
		return err
	}
	w := &walk{}
	fitted := w.fit("", tree, reflect.TypeOf(into).Elem())
	if len(w.faults) > 0 {
		return errors.New(strings.Join(w.faults, "; "))
	}
	clean, err := json.Marshal(fitted)
	if err != nil {
		return errors.New("it is not the JSON object that was asked for")
	}
	if err := exact.Decode(clean, into); err != nil {
		return fmt.Errorf("it is not the JSON object that was asked for (%s)", strings.TrimPrefix(err.Error(), "json: "))
	}

	return nil
}

// unknownFields says that there are no such fields, and which there are.
func unknownFields(names, fields []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(clipped(name))
	}

	return "there is no field " + strings.Join(quoted, ", ") + "; there are " + strings.Join(fields, ", ")
}

// parse parses exactly one JSON object.
func parse(data []byte) (any, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("it is empty; one JSON object is needed")
	}
	var tree any
	err := exact.Decode(data, &tree)
	if errors.Is(err, exact.ErrMore) {
		return nil, errors.New("there is more after the JSON object; write one object and nothing else")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.New("it is cut off; write the whole JSON object")
	}
	if err != nil {
		return nil, fmt.Errorf("it is not valid JSON (%s)", strings.TrimPrefix(err.Error(), "json: "))
	}

	if name := twice(json.NewDecoder(bytes.NewReader(data))); name != "" {
		return nil, fmt.Errorf("%q stands twice in one object", clipped(name))
	}

	return tree, nil
}

// twice returns a name that an object of valid JSON has twice, "" for none: a parser keeps the last one alone, so that
// of two lists of filters one would be ignored.
func twice(tokens *json.Decoder) string {
	var open []map[string]bool // names of the objects around; nil for a list
	isName := false
	for {
		token, err := tokens.Token()
		if err != nil {
			return ""
		}
		switch in := len(open) - 1; {
		case token == json.Delim('{'):
			open = append(open, map[string]bool{})
		case token == json.Delim('['):
			open = append(open, nil)
		case token == json.Delim('}'), token == json.Delim(']'):
			open = open[:in]
		case isName:
			name, _ := token.(string)
			if open[in][name] {
				return name
			}
			open[in][name], isName = true, false

			continue
		}
		isName = len(open) > 0 && open[len(open)-1] != nil
	}
}

// walk fits a tree to a type and collects mismatches.
type walk struct{ faults []string }

var raw = reflect.TypeFor[json.RawMessage]()

func (w *walk) fit(path string, value any, t reflect.Type) any {
	switch {
	case t == raw || t.Kind() == reflect.Interface:
		return exact.Tame(value)
	case t.Kind() == reflect.Pointer:
		if value == nil {
			return nil
		}

		return w.fit(path, value, t.Elem())
	case value == nil:
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return w.object(path, value, t)
	case reflect.Map:
		if object, ok := asObject(value); ok {
			return exact.Tame(object)
		}

		return w.wrong(path, "an object", value)
	case reflect.Slice:
		return w.list(path, value, t)
	default:
		return w.scalar(path, value, t)
	}
}

func (w *walk) object(path string, value any, t reflect.Type) any {
	object, ok := asObject(value)
	if !ok {
		return w.wrong(path, "an object", value)
	}
	fields, aliases := fieldsOf(t)
	fitted := make(map[string]any, len(object))
	var unknown []string
	for _, given := range slices.Sorted(maps.Keys(object)) {
		name := given
		if now, old := aliases[given]; old {
			name = now
		}
		field, known := fields[name]
		if !known {
			unknown = append(unknown, join(path, name))

			continue
		}
		if fit := w.fit(join(path, name), object[given], field); fit != nil || fitted[name] == nil {
			fitted[name] = fit
		}
	}
	if len(unknown) > 0 {
		w.faults = append(w.faults, unknownFields(unknown, slices.Sorted(maps.Keys(fields))))
	}

	return fitted
}

func (w *walk) list(path string, value any, t reflect.Type) any {
	items, ok := value.([]any)
	if !ok {
		items = []any{value} // a single value where a list is required
		if text, isText := value.(string); isText && strings.HasPrefix(strings.TrimSpace(text), "[") {
			if err := exact.Decode([]byte(text), &items); err != nil {
				items = []any{value}
			}
		}
	}
	fitted := make([]any, 0, len(items))
	for i, item := range items {
		if item == nil {
			continue
		}
		fitted = append(fitted, w.fit(fmt.Sprintf("%s[%d]", path, i+1), item, t.Elem()))
	}

	return fitted
}

func (w *walk) scalar(path string, value any, t reflect.Type) any {
	switch t.Kind() {
	case reflect.Bool:
		switch v := value.(type) {
		case bool:
			return v
		case string:
			if b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(v))); err == nil {
				return b
			}
		}

		return w.wrong(path, "true or false", value)
	case reflect.String:
		switch v := value.(type) {
		case string:
			return exact.Tame(v)
		case json.Number:
			return v.String()
		}

		return w.wrong(path, "a text", value)
	default:
		return w.number(path, value, t)
	}
}

func (w *walk) number(path string, value any, t reflect.Type) any {
	text := ""
	switch v := value.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = strings.TrimSpace(v)
	}
	n, err := strconv.ParseFloat(text, 64)
	whole := t.Kind() != reflect.Float32 && t.Kind() != reflect.Float64
	switch {
	case text == "" || err != nil:
		if whole {
			return w.wrong(path, "a whole number", value)
		}

		return w.wrong(path, "a number", value)
	case whole && (n != float64(int64(n)) || n > 1<<53 || n < -(1<<53)):
		return w.wrong(path, "a whole number", value)
	case whole:
		return int64(n)
	default:
		return n
	}
}

func (w *walk) wrong(path, needed string, value any) any {
	w.faults = append(w.faults, fmt.Sprintf("%s has to be %s, not %s", cmp.Or(path, "the answer"), needed, kind(value)))

	return nil
}

func kind(value any) string {
	switch v := value.(type) {
	case bool:
		return "true or false"
	case json.Number:
		return "the number " + clipped(v.String())
	case string:
		return "the text " + strconv.Quote(clipped(v))
	case []any:
		return "a list"
	default:
		return "an object"
	}
}

func clipped(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}

	return text
}

// asObject parses an object that was written as text.
func asObject(value any) (map[string]any, bool) {
	if text, ok := value.(string); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
		var object map[string]any

		return object, exact.Decode([]byte(text), &object) == nil
	}
	object, ok := value.(map[string]any)

	return object, ok
}

// fieldsOf returns a struct's fields by their JSON names, embedded ones included, and the fields' former names, from
// the tag alias.
func fieldsOf(t reflect.Type) (fields map[string]reflect.Type, aliases map[string]string) {
	fields, aliases = map[string]reflect.Type{}, map[string]string{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "": // also of an unexported type
			inner, further := fieldsOf(f.Type)
			maps.Copy(fields, inner)
			maps.Copy(aliases, further)
		case name == "-" || !f.IsExported():
		case name == "":
			fields[f.Name] = f.Type
		default:
			fields[name] = f.Type
			if alias := f.Tag.Get("alias"); alias != "" {
				aliases[alias] = name
			}
		}
	}

	return fields, aliases
}

func join(path, name string) string {
	if path == "" {
		return name
	}

	return path + "." + name
}
