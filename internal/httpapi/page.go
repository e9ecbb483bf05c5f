package httpapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"
)

// webFiles is what scripts/page builds of the page's sources.
//
//go:embed web/dist
var webFiles embed.FS

const (
	forEver = "public, max-age=31536000, immutable"
	anew    = "no-cache" // cached, but revalidated each time

	// element is the script of <alfred-chat> for other people's pages: the newest under this name, a fixed one under
	// the name with its hash, like all files of the page.
	element = "/alfred.js"
)

var elementHashed = regexp.MustCompile(`^/assets/alfred-[A-Z0-9]{8}\.js$`)

// pageFile is a file of the page as browsers receive it.
type pageFile struct {
	plain, gzipped  []byte
	kind, tag, keep string
	everywhere      bool // other sites' pages may load it
}

// registerPage serves the page. Its files have a content hash in their names and are cached forever; the document that
// names them is revalidated each time. withJobs shows the link to the queue's own page.
func registerPage(mux *http.ServeMux, withJobs bool) {
	files := sync.OnceValue(func() map[string]*pageFile { return pageFiles(withJobs) })
	page := func(w http.ResponseWriter, r *http.Request) {
		file := files()[r.URL.Path]
		if file == nil {
			http.NotFound(w, r)

			return
		}
		file.serve(w, r)
	}
	mux.HandleFunc("GET /{$}", page)
	mux.HandleFunc("GET /assets/", page)
	mux.HandleFunc("GET "+element, page)
}

func (f *pageFile) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", f.keep)
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	if f.everywhere {
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		h.Set("Access-Control-Allow-Origin", "*") // required for integrity checks
	}
	body := f.plain
	if f.gzipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.gzipped
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// pageFiles returns the page's files by URL path.
func pageFiles(withJobs bool) map[string]*pageFile {
	files := map[string]*pageFile{}
	root := "web/dist"
	err := fs.WalkDir(webFiles, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := webFiles.ReadFile(name)
		if err != nil {
			return err
		}
		address := strings.TrimPrefix(name, root)
		switch {
		case address == "/index.html":
			if withJobs {
				data = bytes.Replace(data, []byte(`href="/riverui/" hidden`), []byte(`href="/riverui/"`), 1)
			}
			files["/"] = newPageFile(name, data, anew)
		case elementHashed.MatchString(address):
			files[address], files[element] = newPageFile(name, data, forEver), newPageFile(name, data, anew)
			files[address].everywhere, files[element].everywhere = true, true
		default:
			files[address] = newPageFile(name, data, forEver)
		}

		return nil
	})
	if err != nil {
		panic(err) // embedded files can be read
	}

	return files
}

func newPageFile(name string, data []byte, keep string) *pageFile {
	sum := sha256.Sum256(data)
	file := &pageFile{plain: data, kind: mime.TypeByExtension(path.Ext(name)), tag: `W/"` + hex.EncodeToString(sum[:8]) + `"`, keep: keep}
	var small bytes.Buffer
	z, _ := gzip.NewWriterLevel(&small, gzip.BestCompression) // the level is valid
	_, _ = z.Write(data)                                      // a buffer accepts everything
	_ = z.Close()
	if small.Len() < len(data) {
		file.gzipped = small.Bytes()
	}

	return file
}
