// Command web is a shop's page with a login of its own and Alfred in it: the shop signs a token for whoever is logged in, Alfred
// takes it, and the browser talks to Alfred itself. No key of Alfred's is in the page, and none in the shop.
//
//	go run ./examples/web -addr localhost:8090 -alfred http://localhost:8080
//
// Alfred has to know the shop as who signs tokens and as an origin of pages:
//
//	ALFRED_JWKS_URL=http://localhost:8090/.well-known/jwks.json ALFRED_JWT_ISSUER=http://localhost:8090 ALFRED_JWT_AUDIENCE=alfred
//	ALFRED_CORS_ORIGINS=http://localhost:8090
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"
)

func main() {
	addr := flag.String("addr", "localhost:8090", "where the shop is")
	alfred := flag.String("alfred", "http://localhost:8080", "where Alfred is")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *addr, *alfred); err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1) //nolint:gocritic // the process ends; nothing is left for the deferred stop to do
	}
}

func run(ctx context.Context, addr, alfred string) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	shop, err := newShop("http://"+addr, alfred)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: shop.handler(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close() // a response is at most a page
	}()
	fmt.Fprintf(os.Stdout, "The shop is at http://%s; log in as ada or eve, with the password %q.\n", addr, password)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}

	return nil
}
