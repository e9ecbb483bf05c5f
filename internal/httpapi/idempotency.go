package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/httpapi/problem"
)

// IdempotencyHeader lets a client resend a request without creating a thing twice.
type IdempotencyHeader struct {
	IdempotencyKey string `doc:"A second request with the same key within a day makes nothing, and gives what the first one made." header:"Idempotency-Key" maxLength:"255"`
}

// errKeyReused: the key was used for another request.
var errKeyReused = problem.New(http.StatusConflict, "conflict", "This Idempotency-Key was sent with another request: use a new one.")

// createOnce runs work, which returns the key of what it created, unless the caller has sent the same request with this
// Idempotency-Key before: then it returns the key of what was created then, with again true. Without an Idempotency-Key
// it always runs work. It waits for a concurrent request with the same key.
func (a *api) createOnce(ctx context.Context, tx pgx.Tx, key string, request any, work func() (string, error)) (made string, again bool, err error) {
	if key == "" {
		made, err = work()

		return made, false, err
	}
	digest, err := digestOf(request)
	if err != nil {
		return "", false, err
	}
	user := userOf(ctx)
	if err := a.q.IdempotencyForget(ctx, tx, user); err != nil {
		return "", false, fmt.Errorf("forget old keys: %w", err)
	}
	_, err = a.q.IdempotencyClaim(ctx, tx, &db.IdempotencyClaimParams{UserID: user, Key: key, Digest: digest})
	if errors.Is(err, pgx.ErrNoRows) {
		return a.madeBefore(ctx, tx, key, digest)
	}
	if err != nil {
		return "", false, fmt.Errorf("claim key: %w", err)
	}
	if made, err = work(); err != nil {
		return "", false, err
	}
	if err := a.q.IdempotencyKeep(ctx, tx, &db.IdempotencyKeepParams{UserID: user, Key: key, Made: made}); err != nil {
		return "", false, fmt.Errorf("keep what was made: %w", err)
	}

	return made, false, nil
}

func (a *api) madeBefore(ctx context.Context, tx pgx.Tx, key string, digest []byte) (made string, again bool, err error) {
	found, err := a.q.IdempotencyGet(ctx, tx, &db.IdempotencyGetParams{UserID: userOf(ctx), Key: key})
	if err != nil {
		return "", false, fmt.Errorf("look up key: %w", err)
	}
	if !bytes.Equal(found.Digest, digest) {
		return "", false, errKeyReused
	}

	return found.Made, true, nil
}

// digestOf is equal for equivalent requests, whatever the order of their fields.
func digestOf(request any) ([]byte, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	digest := sha256.Sum256(text)

	return digest[:], nil
}
