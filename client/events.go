package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"time"
)

const (
	firstPause   = 250 * time.Millisecond
	longestPause = 5 * time.Second
	silence      = 45 * time.Second // the server sends something every 15
	maxLine      = 16 << 20         // bytes; an event's data is one line
)

// Event is one thing that happened in a turn.
type Event struct {
	ID   string          // where to go on from
	Type string          // turn.started, node.started, plan, reply.delta, reply, turn.finished and so on
	Data json.RawMessage // always with seq, turn_id, number, type and at
}

// FollowTurn yields a turn's events in order, from the beginning or after the one whose
// ID is after. They end with the turn: with turn.finished, turn.failed or
// turn.cancelled. After a lost connection the stream is resumed, until ctx
// ends. If they end early, the last element has the reason as its error: ctx's, a *Problem such
// as not_found, or that the server cannot be reached in the first place.
//
// The text of a reply.delta is provisional: reply.reset takes back what came so
// far, and reply has the whole text. Who comes late gets no deltas of a turn that
// has ended.
func (c *ClientWithResponses) FollowTurn(ctx context.Context, turnID, after string) iter.Seq2[Event, error] {
	return follow(ctx, after, true, func(ctx context.Context, last *string) (*http.Response, error) {
		return c.TurnEvents(ctx, turnID, &TurnEventsParams{LastEventID: last})
	})
}

// FollowSession yields the events of all turns of a session, as [ClientWithResponses.FollowTurn]
// those of one. They go on until ctx ends or the session is deleted, which is the
// problem not_found.
func (c *ClientWithResponses) FollowSession(ctx context.Context, sessionID, after string) iter.Seq2[Event, error] {
	return follow(ctx, after, false, func(ctx context.Context, last *string) (*http.Response, error) {
		return c.SessionEvents(ctx, sessionID, &SessionEventsParams{LastEventID: last})
	})
}

// stream reads one stream over as many connections as it takes.
type stream struct {
	connect   func(ctx context.Context, last *string) (*http.Response, error)
	ofTurn    bool // ends with the turn
	last      string
	connected bool // once at least
	pause     time.Duration
	yield     func(Event, error) bool
}

func follow(ctx context.Context, after string, ofTurn bool, connect func(context.Context, *string) (*http.Response, error)) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := &stream{connect: connect, ofTurn: ofTurn, last: after, pause: firstPause, yield: yield}
		for {
			over, err := s.read(ctx)
			switch {
			case over:
				return
			case ctx.Err() != nil:
				yield(Event{}, ctx.Err())

				return
			case err != nil && (!s.connected || final(err)):
				yield(Event{}, err)

				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(s.pause):
				s.pause = min(2*s.pause, longestPause)
			}
		}
	}
}

// final says whether the same would come of it again.
func final(err error) bool {
	if problem, ok := errors.AsType[*Problem](err); ok {
		return problem.Status < http.StatusInternalServerError && problem.Status != http.StatusTooManyRequests
	}

	return errors.Is(err, bufio.ErrTooLong)
}

// read reads one connection to its end and says whether nothing follows.
func (s *stream) read(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var last *string
	if s.last != "" {
		last = &s.last
	}
	silent := time.AfterFunc(silence, cancel) // a connection may be gone without a word
	defer silent.Stop()
	response, err := s.connect(ctx, last)
	if err != nil {
		return false, err
	}
	defer func() { _ = response.Body.Close() }() // read to its end, or given up
	s.connected = true
	if response.StatusCode == http.StatusNoContent {
		return true, nil
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxLine)
	var event Event
	for lines.Scan() {
		silent.Reset(silence)
		if len(lines.Bytes()) > 0 {
			event.add(lines.Bytes())

			continue
		}
		if s.deliver(event) {
			return true, nil
		}
		event = Event{}
	}

	return false, lines.Err()
}

// add takes in a line of the event.
func (e *Event) add(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "id":
		e.ID = string(value)
	case "event":
		e.Type = string(value)
	case "data":
		e.Data = bytes.Clone(value)
	}
}

// deliver hands an event on, unless it is none: a comment that keeps the connection alive. It says whether nothing follows.
func (s *stream) deliver(e Event) bool {
	if e.Type == "" {
		return false
	}
	s.last, s.pause = e.ID, firstPause
	if !s.yield(e, nil) { // the caller wants no more
		return true
	}

	return s.ofTurn && (e.Type == "turn.finished" || e.Type == "turn.failed" || e.Type == "turn.cancelled")
}
