package httpapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"iter"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"alfred/internal/httpapi/door"
	"alfred/internal/httpapi/problem"
)

// humaOnce configures Huma. Its settings are package variables, which must not be written while another server is
// answering.
var humaOnce = sync.OnceFunc(func() {
	huma.NewError = problem.FromHuma
	huma.DefaultArrayNullable = false // our lists are empty, never null
})

// jsonFormat is Huma's, but for bodies of too many values.
var jsonFormat = huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: func(data []byte, v any) error {
	if err := door.CheckValues(data); err != nil {
		return err
	}

	return json.Unmarshal(data, v)
}}

func newHuma(mux *http.ServeMux, version string) huma.API {
	humaOnce()
	config := huma.DefaultConfig("Alfred", version)
	config.OpenAPIPath = "/v1/openapi"
	config.DocsPath = ""
	config.SchemasPath = ""  // they are in the description
	config.CreateHooks = nil // no $schema field in our objects
	config.Formats = map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat}
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

// enqueueTurn is the one operation that answers 422 itself.
const enqueueTurn = "enqueue-turn"

// documentErrors corrects Huma's description of its own validation errors: problem.FromHuma answers 400.
func documentErrors(spec *huma.OpenAPI) {
	for op := range described(spec) {
		if op.OperationID != enqueueTurn {
			delete(op.Responses, strconv.Itoa(http.StatusUnprocessableEntity))
		}
	}
}

// described are the operations of a description.
func described(spec *huma.OpenAPI) iter.Seq[*huma.Operation] {
	return func(yield func(*huma.Operation) bool) {
		for _, path := range spec.Paths {
			for _, op := range []*huma.Operation{path.Get, path.Put, path.Post, path.Patch, path.Delete} {
				if op != nil && !yield(op) {
					return
				}
			}
		}
	}
}

//go:embed reference.html
var referenceTemplate string

//go:embed reference.css
var referenceStyle []byte

// registerReference serves the API description at the usual places, for programs and as a readable page.
func (a *api) registerReference(mux *http.ServeMux) {
	mux.Handle("GET /openapi.json", http.RedirectHandler("/v1/openapi.json", http.StatusMovedPermanently))
	page := sync.OnceValue(func() *pageFile { return referencePage(a.huma.OpenAPI()) })
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, r *http.Request) { page().serve(w, r) })
	mux.HandleFunc("GET /docs.css", newPageFile("docs.css", referenceStyle, anew).serve)
}

func referencePage(spec *huma.OpenAPI) *pageFile {
	operations := map[string][]*huma.Operation{}
	for op := range described(spec) {
		operations[op.Tags[0]] = append(operations[op.Tags[0]], op)
	}
	order := func(x, y *huma.Operation) int { return strings.Compare(x.Path+" "+x.Method, y.Path+" "+y.Method) }
	page := template.Must(template.New("reference").Funcs(template.FuncMap{
		"operations": func(tag string) []*huma.Operation { return slices.SortedFunc(slices.Values(operations[tag]), order) },
		"schemaName": func(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] },
	}).Parse(referenceTemplate))
	var html bytes.Buffer
	if err := page.Execute(&html, spec); err != nil {
		panic(err) // template and description are our own
	}

	return newPageFile("reference.html", html.Bytes(), anew)
}
