package httpapi_test

import (
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The page loads all its modules at once and nothing from elsewhere; nothing in it
// is made of markup at run time.
func TestPageFiles(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("web/index.html")
	require.NoError(t, err)
	require.NotRegexp(t, `(?i)<style|\sstyle=|\son[a-z]+=|<script>|https?:`, string(page))
	err = fs.WalkDir(os.DirFS("web/assets"), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".js" && path.Ext(name) != ".css" {
			return err
		}
		require.Contains(t, string(page), `"/assets/`+name+`"`)
		text, err := os.ReadFile(path.Join("web/assets", name))
		require.NotRegexp(t, `innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(`, string(text), name)
		require.Less(t, strings.Count(string(text), "\n"), 400, name)

		return err
	})
	require.NoError(t, err)
}

// A browser that has a file is told so.
func TestPageIsCached(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for _, name := range []string{"/", "/assets/page.js"} {
		first := b.call(t, http.MethodGet, name, nil)
		require.Equal(t, http.StatusOK, first.status)
		tag := first.header.Get("ETag")
		require.NotEmpty(t, tag)
		require.Equal(t, http.StatusNotModified, b.call(t, http.MethodGet, name, nil, header{"If-None-Match": tag}).status)
	}
}
