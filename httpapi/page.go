package httpapi

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed web
var webFiles embed.FS

// registerPage serves the chat page and its files. They change with the binary
// alone: a browser asks each time whether they have, and is told by their hash.
func registerPage(mux *http.ServeMux) {
	files, tags := pageFiles()
	serve := http.FileServerFS(files)
	page := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		if tag := tags[path.Clean(r.URL.Path)]; tag != "" {
			w.Header().Set("ETag", tag)
		}
		serve.ServeHTTP(w, r)
	}
	mux.HandleFunc("GET /{$}", page)
	mux.HandleFunc("GET /assets/", page)
}

// pageFiles are the page's files and, by address, an entity tag of each.
func pageFiles() (fs.FS, map[string]string) {
	files, err := fs.Sub(webFiles, "web")
	if err != nil {
		panic(err) // the directory is embedded above
	}
	tags := map[string]string{}
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		sum := sha256.Sum256(data)
		tags["/"+strings.TrimSuffix(name, "index.html")] = `"` + hex.EncodeToString(sum[:8]) + `"`

		return err //nolint:wrapcheck // cannot be
	})
	if err != nil {
		panic(err) // embedded files can be read
	}

	return files, tags
}
