package router

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// maxReplay bounds what is kept of a request to send it again; the API takes no larger ones.
const maxReplay = 9 << 20

// replay keeps what has been read of a request's body.
type replay struct {
	body io.ReadCloser
	read bytes.Buffer
	over bool // there was more than is kept
	end  error
}

// again is the request from its beginning.
func (r *replay) again(request *http.Request) *http.Request {
	clone := request.Clone(request.Context())
	if r.body != nil && r.body != http.NoBody {
		clone.Body = &replayed{replay: r}
	}

	return clone
}

// whole reports whether the request can be sent again.
func (r *replay) whole() bool { return !r.over && (r.end == nil || errors.Is(r.end, io.EOF)) }

// replayed reads what was read before, then on.
type replayed struct {
	replay *replay
	at     int
}

// Read keeps what it reads.
func (b *replayed) Read(into []byte) (int, error) {
	r := b.replay
	if b.at < r.read.Len() {
		n := copy(into, r.read.Bytes()[b.at:])
		b.at += n

		return n, nil
	}
	if r.end != nil {
		return 0, r.end
	}
	n, err := r.body.Read(into)
	r.end = err
	r.over = r.over || r.read.Len()+n > maxReplay
	if !r.over {
		r.read.Write(into[:n])
		b.at += n
	}

	return n, err
}

// Close leaves the body to the server, which closes it when the request is over.
func (b *replayed) Close() error { return nil }
