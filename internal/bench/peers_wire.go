package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// wire sits between a program and Postgres and counts what passes, like the meter in our own programs.
type wire struct {
	listener        net.Listener
	network, server string
	queries, trips  atomic.Int64
}

// listen returns the address through which the wire reaches the server at address.
func listen(ctx context.Context, address string) (*wire, string, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, "", fmt.Errorf("parse the address: %w", err)
	}
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, "", fmt.Errorf("parse the address: %w", err)
	}
	w := &wire{}
	w.network, w.server = pgconn.NetworkAddress(config.Host, config.Port)
	if w.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, "", fmt.Errorf("listen: %w", err)
	}
	go w.accept(ctx)
	parsed.Host = w.listener.Addr().String()
	settings := parsed.Query()
	settings.Del("host")
	settings.Set("sslmode", "disable")
	parsed.RawQuery = settings.Encode()

	return w, parsed.String(), nil
}

func (w *wire) accept(ctx context.Context) {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		go w.serve(ctx, client)
	}
}

// serve forwards a connection in both directions until one side closes it. The other side then sees the close.
func (w *wire) serve(ctx context.Context, client net.Conn) {
	defer client.Close()
	server, err := (&net.Dialer{}).DialContext(ctx, w.network, w.server)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, err := io.Copy(client, server)
		_ = errors.Join(err, client.Close()) // forward the close
	}()
	_ = w.pass(client, server)
}

// pass forwards message by message: a byte of type (missing in the first message), four of length, and the rest.
func (w *wire) pass(client io.Reader, server io.Writer) error {
	in, out := bufio.NewReader(client), bufio.NewWriter(server)
	for typed := 0; ; typed = 1 {
		head := make([]byte, typed+4)
		if _, err := io.ReadFull(in, head); err != nil {
			return err
		}
		if typed == 1 {
			w.count(head[0])
		}
		if _, err := out.Write(head); err != nil {
			return err
		}
		if _, err := io.CopyN(out, in, int64(binary.BigEndian.Uint32(head[typed:]))-4); err != nil {
			return err
		}
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

// count counts statements and waits for the server. A simple query is both; other statements are executed first and
// waited for later.
func (w *wire) count(kind byte) {
	if strings.IndexByte("QE", kind) >= 0 {
		w.queries.Add(1)
	}
	if strings.IndexByte("QS", kind) >= 0 {
		w.trips.Add(1)
	}
}

// counts is what has passed so far.
func (w *wire) counts() counts {
	return counts{Queries: int(w.queries.Load()), RoundTrips: int(w.trips.Load())}
}
