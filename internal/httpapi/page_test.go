package httpapi_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The page builds nothing from markup at run time, and loads nothing from elsewhere.
func TestPageFiles(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("web/index.html")
	require.NoError(t, err)
	require.NotRegexp(t, `(?i)<style|\sstyle=|\son[a-z]+=|<script>|https?:`, string(page))
	err = fs.WalkDir(os.DirFS("web/assets"), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".js" {
			return err
		}
		text, err := os.ReadFile(path.Join("web/assets", name))
		require.NotRegexp(t, `innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(`, string(text), name)
		require.Less(t, strings.Count(string(text), "\n"), 400, name)

		return err
	})
	require.NoError(t, err)
}

// Y13: the first screen needs few files and less than 60 kB compressed, cached forever; the document that names them is
// revalidated each time.
func TestY13PageIsLight(t *testing.T) {
	t.Parallel()

	b := setup(t)
	fetch := func(name string, more ...string) (*http.Response, int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+name, nil)
		require.NoError(t, err)
		req.Header.Set("Accept-Encoding", "gzip")
		if len(more) > 0 {
			req.Header.Set("If-None-Match", more[0])
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		if resp.Header.Get("Content-Encoding") != "gzip" {
			return resp, len(body), string(body)
		}
		z, err := gzip.NewReader(strings.NewReader(string(body)))
		require.NoError(t, err)
		plain, err := io.ReadAll(z)
		require.NoError(t, err)

		return resp, len(body), string(plain)
	}

	first, total, page := fetch("/")
	require.Equal(t, "no-cache", first.Header.Get("Cache-Control"))
	again, _, _ := fetch("/", first.Header.Get("ETag"))
	require.Equal(t, http.StatusNotModified, again.StatusCode)
	names := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?:href|src)="(/assets/[^"]+)"`).FindAllStringSubmatch(page, -1) {
		names[match[1]] = true
	}
	require.LessOrEqual(t, len(names), 5)
	for name := range names {
		file, size, _ := fetch(name)
		require.Equal(t, http.StatusOK, file.StatusCode, name)
		require.Equal(t, "public, max-age=31536000, immutable", file.Header.Get("Cache-Control"), name)
		require.Regexp(t, `-[A-Z0-9]{8}\.`, name)
		total += size
	}
	require.Less(t, total, 60_000)
	none, _, _ := fetch("/assets/none.js")
	require.Equal(t, http.StatusNotFound, none.StatusCode)
}
