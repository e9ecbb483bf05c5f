package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"alfred/internal/httpapi/problem"
)

// humaOnce configures Huma. Its settings are package variables, which must not be written while another server is
// answering.
var humaOnce = sync.OnceFunc(func() {
	huma.NewError = problem.FromHuma
	huma.DefaultArrayNullable = false // our lists are empty, never null
})

func newHuma(mux *http.ServeMux, version string) huma.API {
	humaOnce()
	config := huma.DefaultConfig("Alfred", version)
	config.OpenAPIPath = "/v1/openapi"
	config.DocsPath = ""
	config.SchemasPath = "/v1/schemas"
	config.CreateHooks = nil // no $schema field in our objects
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"key": {Type: "http", Scheme: "bearer"}}
	config.Security = []map[string][]string{{"key": {}}}
	config.Servers = []*huma.Server{{URL: "/", Description: "Where this description was read."}}
	config.Info.Description = "A durable assistant over rows in Postgres. A message is a turn of a session; what becomes of it is read, waited for or streamed."
	config.Info.License = &huma.License{Name: "MIT", Identifier: "MIT"}
	for _, tag := range tags {
		config.Tags = append(config.Tags, &huma.Tag{Name: tag.name, Description: tag.about})
	}

	return humago.New(mux, config)
}

// Document returns the API's description as JSON: OpenAPI 3.1, or 3.0 for generators that support nothing newer.
func Document(version string, downgrade bool) ([]byte, error) {
	a := &api{Config: Config{Version: version}}
	a.register(http.NewServeMux())
	encode := a.huma.OpenAPI().MarshalJSON
	if downgrade {
		encode = a.huma.OpenAPI().Downgrade
	}
	raw, err := encode()
	if err != nil {
		return nil, fmt.Errorf("encode description: %w", err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, raw, "", "  "); err != nil {
		return nil, fmt.Errorf("indent description: %w", err)
	}

	return append(indented.Bytes(), '\n'), nil
}

// stored is JSON as stored, described as the T it was encoded from.
type stored[T any] struct{ json.RawMessage }

// Schema describes a T.
func (stored[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// documentErrors corrects Huma's description of its own validation errors: problem.FromHuma answers 400.
func documentErrors(spec *huma.OpenAPI) {
	for _, path := range spec.Paths {
		for _, op := range []*huma.Operation{path.Get, path.Put, path.Post, path.Delete, path.Patch} {
			if op != nil {
				delete(op.Responses, strconv.Itoa(http.StatusUnprocessableEntity))
			}
		}
	}
}
