package httpapi

import (
	"alfred/internal/httpapi/problem"
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed reference.html
var referenceTemplate string

//go:embed reference.css
var referenceStyle []byte

// registerReference serves the API description at the usual places, for programs and as a readable page.
func (a *api) registerReference(mux *http.ServeMux) {
	mux.Handle("GET /openapi.json", http.RedirectHandler("/v1/openapi.json", http.StatusMovedPermanently))
	page := sync.OnceValues(func() (*pageFile, error) { return referencePage(a.huma.OpenAPI()) })
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, r *http.Request) {
		file, err := page()
		if err != nil {
			problem.Note(r.Context(), err)
			problem.Write(w, problem.Of(err))

			return
		}
		file.serve(w, r)
	})
	mux.HandleFunc("GET /docs.css", newPageFile("docs.css", referenceStyle, anew).serve)
}

func referencePage(spec *huma.OpenAPI) (*pageFile, error) {
	operations := map[string][]*huma.Operation{}
	for _, path := range spec.Paths {
		for _, op := range []*huma.Operation{path.Get, path.Put, path.Post, path.Patch, path.Delete} {
			if op != nil {
				operations[op.Tags[0]] = append(operations[op.Tags[0]], op)
			}
		}
	}
	order := func(x, y *huma.Operation) int { return strings.Compare(x.Path+" "+x.Method, y.Path+" "+y.Method) }
	page, err := template.New("reference").Funcs(template.FuncMap{
		"operations": func(tag string) []*huma.Operation { return slices.SortedFunc(slices.Values(operations[tag]), order) },
		"schemaName": func(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] },
	}).Parse(referenceTemplate)
	if err != nil {
		return nil, fmt.Errorf("read the reference's template: %w", err)
	}
	var html bytes.Buffer
	if err := page.Execute(&html, spec); err != nil {
		return nil, fmt.Errorf("write the reference: %w", err)
	}

	return newPageFile("reference.html", html.Bytes(), anew), nil
}
