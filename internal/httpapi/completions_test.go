package httpapi_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// openaiClient is OpenAI's own client.
func (b *bundle) openaiClient() *openai.Client {
	c := openai.NewClient(option.WithBaseURL(b.url+"/v1"), option.WithAPIKey(b.key), option.WithHTTPClient(client))

	return &c
}

func asking(texts ...string) openai.ChatCompletionNewParams {
	params := openai.ChatCompletionNewParams{Model: "alfred"}
	for _, text := range texts {
		params.Messages = append(params.Messages, openai.UserMessage(text))
	}

	return params
}

// completed is what a client received.
type completed struct {
	*openai.ChatCompletion

	response *http.Response
	err      error
}

// complete asks in the background while work plays the worker.
func (b *bundle) complete(t *testing.T, params openai.ChatCompletionNewParams, work func(), options ...option.RequestOption) *completed {
	t.Helper()

	got := &completed{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		got.ChatCompletion, got.err = b.openaiClient().Chat.Completions.New(t.Context(), params, append(options, option.WithResponseInto(&got.response))...)
	}()
	work()
	<-done

	return got
}

// replying replies to a message's turn, once it exists.
func (b *bundle) replying(t *testing.T, message, text string) func() {
	t.Helper()

	return func() { b.reply(t, b.waitForTurn(t, message), text) }
}

func (b *bundle) waitForTurn(t *testing.T, message string) string {
	t.Helper()

	var turn string
	require.Eventually(t, func() bool {
		return b.pool.QueryRow(t.Context(), `SELECT id FROM turns WHERE status = 'running' AND message = $1`, message).Scan(&turn) == nil
	}, dbtest.Patience, tick)

	return turn
}

func TestCompletion(t *testing.T) {
	t.Parallel()

	b := setup(t)
	got := b.complete(t, asking("first", "last"), b.replying(t, "last", "Here you are."))
	require.NoError(t, got.err)
	require.Equal(t, "Here you are.", got.Choices[0].Message.Content)
	require.Equal(t, "stop", got.Choices[0].FinishReason)
	require.Equal(t, "alfred", got.Model)
	require.Contains(t, got.RawJSON(), `"usage":{"prompt_tokens":0`)
	session := got.response.Header.Get("X-Session-Id")
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/v1/sessions/"+session, nil).status)

	// The next message goes to the session named in the header.
	got = b.complete(t, asking("more"), b.replying(t, "more", "And more."), option.WithHeader("X-Session-Id", session))
	require.NoError(t, got.err)
	require.Len(t, b.call(t, http.MethodGet, "/v1/sessions/"+session+"/turns", nil).items(), 2)

	ai := b.openaiClient()
	models, err := ai.Models.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, "alfred", models.Data[0].ID)
	model, err := ai.Models.Get(t.Context(), "alfred")
	require.NoError(t, err)
	require.Equal(t, "alfred", model.ID)
}

func TestCompletionStreams(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for name, c := range map[string]struct {
		deltas []string // "" is a reset
		reply  string
		want   string
	}{
		"in pieces":            {[]string{"Here ", "you "}, "Here you are.", "Here you are."},
		"without pieces":       {nil, "Here you are.", "Here you are."},
		"all of it in pieces":  {[]string{"Done.\n"}, "Done.", "Done.\n"},
		"begun anew":           {[]string{"Here ", "", "You ", "are "}, "Here you are.", "Here you are."},
		"other than committed": {[]string{"There ", "", "Here "}, "Here.", "There \n\nHere."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			params := asking(name)
			params.StreamOptions.IncludeUsage = openai.Bool(true)
			stream := b.openaiClient().Chat.Completions.NewStreaming(t.Context(), params)
			require.True(t, stream.Next(), "the role comes at once: %v", stream.Err())
			turn := b.waitForTurn(t, name)
			for _, delta := range c.deltas {
				if delta == "" {
					b.emit(t, turn, "reply.reset", map[string]any{"attempt": 2})

					continue
				}
				b.emit(t, turn, "reply.delta", map[string]any{"text": delta})
			}
			b.reply(t, turn, c.reply)
			whole := openai.ChatCompletionAccumulator{}
			require.True(t, whole.AddChunk(stream.Current()))
			for stream.Next() {
				require.True(t, whole.AddChunk(stream.Current()))
			}
			require.NoError(t, stream.Err())
			require.Equal(t, c.want, whole.Choices[0].Message.Content)
			require.Equal(t, "stop", whole.Choices[0].FinishReason)
		})
	}
}

func TestCompletionOfNamedSession(t *testing.T) {
	t.Parallel()

	b := setup(t)
	params := asking("hi")
	params.User = openai.String("tab 1")
	sessions := map[string]bool{}
	for range 2 {
		got := b.complete(t, params, b.replying(t, "hi", "Hello."))
		require.NoError(t, got.err)
		sessions[got.response.Header.Get("X-Session-Id")] = true
	}
	require.Len(t, sessions, 1)

	// The name is the user's own: another user's "tab 1" is a different session.
	_, b.key = b.newUser(t, "eve", "chat")
	got := b.complete(t, params, b.replying(t, "hi", "Hello."))
	require.NoError(t, got.err)
	require.NotContains(t, sessions, got.response.Header.Get("X-Session-Id"))
}

// A message resent because its answer was lost remains one message.
func TestCompletionSentAgain(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	for name, options := range map[string][]option.RequestOption{
		"with a key": {option.WithHeader("Idempotency-Key", "k1")},
		"with a key, in a session": {
			option.WithHeader("Idempotency-Key", "k1"), option.WithHeader("X-Session-Id", session),
		},
		"by the client itself": {option.WithHeader("X-Session-Id", session), option.WithHeader("X-Stainless-Retry-Count", "1")},
	} {
		turns := map[string]bool{}
		for _, work := range []func(){b.replying(t, name, "Once."), func() {}} {
			got := b.complete(t, asking(name), work, options...)
			require.NoError(t, got.err, name)
			require.Equal(t, "Once.", got.Choices[0].Message.Content)
			turns[got.response.Header.Get("X-Turn-Id")] = true
		}
		require.Len(t, turns, 1, name)
	}
}

func TestCompletionRefuses(t *testing.T) {
	t.Parallel()

	b := setup(t)
	_, eve := b.newUser(t, "eve", "chat")
	_, reader := b.newUser(t, "reader", "read")
	session := b.session(t)
	hi := []map[string]any{{"role": "user", "content": "hi"}}
	for name, c := range map[string]struct {
		body    any
		headers header
		status  int
		code    string
	}{
		"no key":                  {nil, header{"Authorization": ""}, 401, "unauthorized"},
		"a key that only reads":   {map[string]any{"model": "alfred", "messages": hi}, header{"Authorization": "Bearer " + reader}, 403, "forbidden"},
		"no JSON":                 {"hello", nil, 400, "invalid_request"},
		"a body of another shape": {map[string]any{"model": "alfred", "messages": "hi"}, nil, 400, "invalid_request"},
		"another model":           {map[string]any{"model": "gpt-5", "messages": hi}, nil, 404, "model_not_found"},
		"no message":              {map[string]any{"model": "alfred", "messages": []any{}}, nil, 400, "invalid_request"},
		"an empty message":        {map[string]any{"model": "alfred", "messages": []map[string]any{{"role": "user", "content": " "}}}, nil, 400, "invalid_request"},
		"a picture":               {map[string]any{"model": "alfred", "messages": []map[string]any{{"role": "user", "content": []map[string]any{{"type": "image_url"}}}}}, nil, 400, "invalid_request"},
		"two answers":             {map[string]any{"model": "alfred", "messages": hi, "n": 2}, nil, 400, "invalid_request"},
		"an answer as JSON":       {map[string]any{"model": "alfred", "messages": hi, "response_format": map[string]any{"type": "json_object"}}, nil, 400, "invalid_request"},
		"a call of a tool":        {map[string]any{"model": "alfred", "messages": hi, "tool_choice": "required"}, nil, 400, "invalid_request"},
		"a NUL":                   {map[string]any{"model": "alfred", "messages": []map[string]any{{"role": "user", "content": "a\x00b"}}}, nil, 400, "invalid_request"},
		"a message that is too long": {
			map[string]any{"model": "alfred", "messages": []map[string]any{{"role": "user", "content": strings.Repeat("a", 33<<10)}}}, nil, 413, "message_too_large",
		},
		"a session of nobody":      {map[string]any{"model": "alfred", "messages": hi}, header{"X-Session-Id": "tab 1"}, 404, "not_found"},
		"a session of another one": {map[string]any{"model": "alfred", "messages": hi}, header{"X-Session-Id": session, "Authorization": "Bearer " + eve}, 404, "not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			a := b.call(t, http.MethodPost, "/v1/chat/completions", c.body, c.headers)
			require.Equal(t, c.status, a.status, a.raw)
			problem, _ := a.body["error"].(map[string]any)
			require.Equal(t, c.code, problem["code"], a.raw)
			require.NotEmpty(t, problem["message"])
			require.NotContains(t, problem["message"], "Go ")
			require.NotEmpty(t, problem["type"])
		})
	}
}

// OpenAI's clients read a refusal only in OpenAI's form: of any other they tell the status and "no body".
func TestTheResponsesAPIIsRefusedInItsOwnForm(t *testing.T) {
	t.Parallel()

	a := setup(t).call(t, http.MethodPost, "/v1/responses", map[string]any{"model": "alfred", "input": "hi"})
	require.Equal(t, http.StatusNotFound, a.status, a.raw)
	refused, _ := a.body["error"].(map[string]any)
	require.Equal(t, "not_found", refused["code"], a.raw)
	require.Contains(t, refused["message"], "/v1/chat/completions")
}

// A failed turn is an error to the client, which must not resend the message.
func TestCompletionOfFailedTurn(t *testing.T) {
	t.Parallel()

	b := setup(t)
	fail := func(message string) {
		b.exec(t, `SELECT turn_end($1, 'failed', 'model_unavailable', 'The model does not answer.')`, b.waitForTurn(t, message))
	}
	got := b.complete(t, asking("whole"), func() { fail("whole") })
	refused, ok := errors.AsType[*openai.Error](got.err)
	require.True(t, ok, got.err)
	require.Equal(t, http.StatusServiceUnavailable, refused.StatusCode)
	require.Equal(t, "model_unavailable", refused.Code)
	require.Equal(t, "The model does not answer.", refused.Message)

	stream := b.openaiClient().Chat.Completions.NewStreaming(t.Context(), asking("stream"))
	fail("stream")
	for stream.Next() {
		require.Empty(t, stream.Current().Choices[0].Delta.Content)
	}
	require.ErrorContains(t, stream.Err(), "The model does not answer.")
	var turns int
	require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT count(*) FROM turns`).Scan(&turns))
	require.Equal(t, 2, turns, "no message was sent twice")
}

// A question is content: this protocol has no other place for it.
func TestCompletionOfQuestion(t *testing.T) {
	t.Parallel()

	b := setup(t)
	got := b.complete(t, asking("cook"), func() {
		turn := b.waitForTurn(t, "cook")
		b.exec(t, `INSERT INTO questions (session_id, turn_id, kind, payload)
			SELECT session_id, id, 'disambiguate', '{"text": "Which one?", "options": [{"label": "Butter Chicken"}, {"label": "Shakshuka"}]}' FROM turns WHERE id = $1`, turn)
		b.reply(t, turn, "Which one?")
	})
	require.NoError(t, got.err)
	require.Equal(t, "Which one?\n\n1. Butter Chicken\n2. Shakshuka", got.Choices[0].Message.Content)
}
