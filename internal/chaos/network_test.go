package chaos_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// network is between a program and Postgres, and can be slow, silent or cut.
type network struct {
	listener net.Listener
	server   string

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	delay  time.Duration // of every piece
	silent chan struct{} // not nil while nothing passes; closed when traffic resumes
}

// openNetwork listens until the test ends.
func openNetwork(t *testing.T, server string) *network {
	t.Helper()

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	n := &network{listener: listener, server: server, conns: map[net.Conn]struct{}{}}
	var accepting sync.WaitGroup
	accepting.Go(n.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		n.restore()
		n.cut()
		accepting.Wait()
	})

	return n
}

// through is the database's address through the network.
func (n *network) through(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	u.Host = n.listener.Addr().String()

	return u.String(), nil
}

func (n *network) accept() {
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		client, err := n.listener.Accept()
		if err != nil {
			return
		}
		serving.Go(func() { n.serve(client) })
	}
}

func (n *network) serve(client net.Conn) {
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", n.server)
	if err != nil {
		_ = client.Close()

		return
	}
	n.mu.Lock()
	n.conns[client], n.conns[server] = struct{}{}, struct{}{}
	n.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { n.pass(server, client) })
	both.Go(func() { n.pass(client, server) })
	both.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, client)
	delete(n.conns, server)
}

// pass copies bytes until one side closes, and then closes the other.
func (n *network) pass(to io.WriteCloser, from io.ReadCloser) {
	defer func() { _, _ = to.Close(), from.Close() }()
	piece := make([]byte, 16<<10)
	for {
		size, err := from.Read(piece)
		n.hold()
		if _, failed := to.Write(piece[:size]); failed != nil || err != nil {
			return
		}
	}
}

// hold waits while the network is slow or silent.
func (n *network) hold() {
	n.mu.Lock()
	delay, silent := n.delay, n.silent
	n.mu.Unlock()
	time.Sleep(delay)
	if silent != nil {
		<-silent
	}
}

// slow delays each piece until restore.
func (n *network) slow(delay time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delay = delay
}

// hush blocks all traffic until restore, without notifying either side.
func (n *network) hush() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.silent == nil {
		n.silent = make(chan struct{})
	}
}

func (n *network) restore() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delay = 0
	if n.silent != nil {
		close(n.silent)
		n.silent = nil
	}
}

// cut ends all connections.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for conn := range n.conns {
		_ = conn.Close()
	}
}

// address is where the server listens.
func (s *server) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// networkAccidents affect the one worker behind our network.
func networkAccidents() []accident {
	later := func(z *zoo) {
		time.AfterFunc(time.Duration(3000+z.dice.IntN(3000))*time.Millisecond, z.network.restore)
	}

	return []accident{
		{"a network that is silent for 3 to 6 s", 1, func(z *zoo) { z.network.hush(); later(z) }},
		{"a network with 60 ms of delay for 3 to 6 s", 1, func(z *zoo) { z.network.slow(60 * time.Millisecond); later(z) }},
		{"a network that drops all connections", 1, func(z *zoo) { z.network.cut() }},
	}
}

// networkURL is the database's address for the worker behind our network.
func (z *zoo) networkURL() string {
	z.t.Helper()

	address, err := z.network.through(z.url)
	require.NoError(z.t, err)

	return address
}
