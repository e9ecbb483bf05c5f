package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// New returns a client of the API at server, such as https://alfred.example. It
// sends the key with every request; "" is for servers that ask for none. Whatever
// problem the API answers comes back as a *Problem error, so without an error the
// answer's JSON field is set.
func New(server, key string, options ...ClientOption) (*ClientWithResponses, error) {
	c, err := NewClient(server, options...)
	if err != nil {
		return nil, err
	}
	c.Client = &doer{next: c.Client, key: key}

	return &ClientWithResponses{ClientInterface: c}, nil
}

// Error is the problem's code and what it says.
func (p *Problem) Error() string { return fmt.Sprintf("alfred: %s: %s", p.Code, p.Detail) }

// doer signs requests and makes errors of problems.
type doer struct {
	next HttpRequestDoer
	key  string
}

// maxProblem bounds what is read of an answer that should be a problem.
const maxProblem = 1 << 20

func (d *doer) Do(request *http.Request) (*http.Response, error) {
	if d.key != "" {
		request.Header.Set("Authorization", "Bearer "+d.key)
	}
	response, err := d.next.Do(request)
	if err != nil || response.StatusCode < http.StatusBadRequest {
		return response, err
	}
	defer func() { _ = response.Body.Close() }() // what is wrong with it was said
	body, err := io.ReadAll(io.LimitReader(response.Body, maxProblem))
	if err != nil {
		return nil, fmt.Errorf("alfred: read %s: %w", response.Status, err)
	}
	problem := &Problem{}
	if json.Unmarshal(body, problem) != nil || problem.Code == "" {
		return nil, fmt.Errorf("alfred: %s %s: %s", request.Method, request.URL.Path, response.Status) // of a proxy in between
	}

	return nil, problem
}

// Say sends a message and waits until its turn has ended, well or not: see the
// turn's Status. The end of ctx ends the waiting, not the turn.
func (c *ClientWithResponses) Say(ctx context.Context, sessionID, message string) (*Turn, error) {
	made, err := c.EnqueueTurnWithResponse(ctx, sessionID, nil, NewTurn{Message: message})
	if err != nil {
		return nil, err
	}

	return c.Wait(ctx, made.JSON202.ID)
}

// Wait waits until a turn has ended.
func (c *ClientWithResponses) Wait(ctx context.Context, turnID string) (*Turn, error) {
	atMost := "30s" // a request; proxies in between may cut longer ones
	for {
		got, err := c.GetTurnWithResponse(ctx, turnID, &GetTurnParams{Wait: &atMost})
		if err != nil {
			return nil, err
		}
		if turn := got.JSON200; turn.Status != TurnStatusQueued && turn.Status != TurnStatusRunning {
			return turn, nil
		}
	}
}
