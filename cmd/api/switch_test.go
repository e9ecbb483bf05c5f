package main

import (
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// power leads to a server until it is switched off.
type power struct {
	net.Listener

	server string
	mu     sync.Mutex
	open   []net.Conn
	off    bool
	silent atomic.Bool
}

// powered is an address that leads to the same database as another, and what switches it off.
func powered(t *testing.T, address string) (string, *power) {
	t.Helper()

	u, err := url.Parse(address)
	require.NoError(t, err)
	p := &power{server: u.Host}
	p.Listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan struct{})
	t.Cleanup(func() { p.switchOff(); <-ended })
	go func() {
		defer close(ended)
		for {
			client, err := p.Accept()
			if err != nil {
				return
			}
			go p.pass(client)
		}
	}()
	u.Host = p.Addr().String()
	query := u.Query()
	query.Set("sslmode", "disable")
	u.RawQuery = query.Encode()

	return u.String(), p
}

func (p *power) pass(client net.Conn) {
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		_ = client.Close()

		return
	}
	p.mu.Lock()
	p.open = append(p.open, client, server)
	off := p.off
	p.mu.Unlock()
	if off {
		p.switchOff()
	}
	go func() {
		_, _ = io.Copy(line{server, p}, client) // whoever speaks notices
		_ = server.Close()
	}()
	_, _ = io.Copy(line{client, p}, server)
	_ = client.Close()
}

// switchOff ends what is connected, and lets nobody connect again.
func (p *power) switchOff() {
	_ = p.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.off = true
	for _, conn := range p.open {
		_ = conn.Close()
	}
}

// fallSilent keeps what is connected, and passes nothing on any more.
func (p *power) fallSilent() { p.silent.Store(true) }

// line is one direction of a connection.
type line struct {
	io.Writer

	power *power
}

func (l line) Write(data []byte) (int, error) {
	if l.power.silent.Load() {
		return len(data), nil
	}

	return l.Writer.Write(data)
}
