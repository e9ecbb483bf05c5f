package router

import (
	"bytes"
	"io"
	"net/http"
)

// maxReplay bounds what is kept of a request to send it again; the API takes no larger ones.
const maxReplay = 9 << 20

// replay keeps what has been read of a request's body.
type replay struct {
	read bytes.Buffer
	over bool // there was more than is kept
}

// again is the request from its beginning: what was read before, then on. The server closes the body.
func (r *replay) again(request *http.Request) *http.Request {
	clone := request.Clone(request.Context())
	if request.Body != http.NoBody {
		clone.Body = io.NopCloser(io.MultiReader(bytes.NewReader(r.read.Bytes()), io.TeeReader(request.Body, r)))
	}

	return clone
}

// Write keeps what is read on.
func (r *replay) Write(data []byte) (int, error) {
	r.over = r.over || r.read.Len()+len(data) > maxReplay
	if !r.over {
		r.read.Write(data)
	}

	return len(data), nil
}
