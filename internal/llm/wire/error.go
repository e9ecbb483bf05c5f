package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"alfred/internal/llm"
)

// maxDetail bounds how much of a provider's message is kept, in bytes.
const maxDetail = 500

// ErrCutOff is the cause of an answer that ended at the token limit.
var ErrCutOff = errors.New("the answer was cut off at the token limit")

// ErrEmpty is the cause of an answer with neither text nor tool calls.
var ErrEmpty = errors.New("the answer is empty")

// ErrForm is the cause of a malformed answer.
var ErrForm = errors.New("the answer is not in the provider's form")

// ErrIncomplete is the cause of an answer whose stream broke off.
var ErrIncomplete = errors.New("the connection ended before the answer did")

// ErrRefused is the cause of an answer that the model or a filter withheld.
var ErrRefused = errors.New("the model declined to answer")

// Status converts a failed HTTP response to a typed error. It keeps the provider's message, without secrets, except for
// authentication failures: those repeat parts of the key.
func (c *Config) Status(status int, header http.Header, body []byte) *llm.Error {
	detail := parse(body)
	kind := statusKind(status, detail)
	cause := fmt.Errorf("status %d: %s", status, clip(Scrub(detail.text(), c.APIKey)))
	if kind == llm.KindAuth {
		cause = fmt.Errorf("status %d", status)
	}

	return &llm.Error{Kind: kind, Provider: c.Provider, RetryAfter: retryAfter(header, body), Err: cause}
}

// Typed converts a request's error to a typed one: the server responded with a failure, or the connection could not be
// made, broke or timed out.
func (c *Config) Typed(ctx context.Context, err error) *llm.Error {
	if failed, ok := errors.AsType[*statusError](err); ok {
		return c.Status(failed.status, failed.header, failed.body)
	}
	if ctx.Err() != nil {
		return c.Fail(llm.KindOverloaded, ctx.Err())
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err // the URL may contain a password
	}

	return c.Fail(llm.KindOverloaded, fmt.Errorf("request: %s", clip(Scrub(err.Error(), c.APIKey))))
}

// Event converts an error that arrived within a stream, after a successful status, to a typed one.
func (c *Config) Event(body []byte) *llm.Error {
	status := http.StatusInternalServerError
	detail := parse(body)
	switch {
	case detail.Type == "rate_limit_error":
		status = http.StatusTooManyRequests
	case detail.Type == "invalid_request_error", detail.overflow():
		status = http.StatusBadRequest
	}
	if code, ok := detail.Code.(float64); ok && code >= http.StatusBadRequest {
		status = int(code)
	}

	return c.Status(status, nil, body)
}

// Scrub replaces secrets in text.
func Scrub(text string, secrets ...string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}

	return text
}

// detail is what the providers' error bodies have in common.
type detail struct {
	Code    any    `json:"code"`
	Message string `json:"message"`
	Param   string `json:"param"`
	Status  any    `json:"status"` // a number for Azure
	Type    string `json:"type"`
}

// parse parses {"error": {...}}, the same in an array (Gemini), {"error": "..."} (Ollama) or the bare object; other
// bodies have no detail but their text.
func parse(body []byte) detail {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var envelope struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &envelope) == nil && len(envelope.Error) > 0 {
		body = envelope.Error
	}
	var d detail
	if json.Unmarshal(body, &d) == nil && d != (detail{}) {
		return d
	}
	var text string
	if json.Unmarshal(body, &text) == nil {
		return detail{Message: text}
	}

	return detail{Message: strings.TrimSpace(string(body))}
}

func (d detail) text() string {
	if d.Type == "" {
		return d.Message
	}

	return d.Type + ": " + d.Message
}

func clip(text string) string {
	if len(text) > maxDetail {
		text = strings.ToValidUTF8(text[:maxDetail], "") + "..."
	}

	return text
}

func statusKind(status int, d detail) llm.Kind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired:
		return llm.KindAuth
	case status == http.StatusTooManyRequests && fmt.Sprint(d.Code) == "insufficient_quota":
		return llm.KindAuth // waiting does not help an account without credit
	case status == http.StatusTooManyRequests:
		return llm.KindRateLimit
	case status == http.StatusInternalServerError && d.unsupported():
		return llm.KindInvalidRequest // retrying does not help
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status >= http.StatusInternalServerError:
		return llm.KindOverloaded
	case status == http.StatusRequestEntityTooLarge, d.overflow():
		return llm.KindContextOverflow
	case strings.Contains(strings.ToLower(d.Message), "api key not valid"):
		return llm.KindAuth // Gemini says 400
	case fmt.Sprint(d.Code) == "content_filter", fmt.Sprint(d.Code) == "content_policy_violation":
		return llm.KindRefusal
	}

	return llm.KindInvalidRequest
}

// unsupported recognizes what llama.cpp reports as an internal error: a server started without support for tools.
func (d detail) unsupported() bool {
	text := strings.ToLower(d.Message)
	return strings.Contains(text, "requires --jinja") || strings.Contains(text, "unsupported param")
}

// overflow recognizes the ways in which servers say that the prompt is too long; most have no code for it.
func (d detail) overflow() bool {
	text := strings.ToLower(fmt.Sprint(d.Code, " ", d.Type, " ", d.Message))
	for _, phrase := range []string{
		"context_length", "context_size", // OpenAI, llama.cpp
		"context length", "context window", "context size", "maximum model length", "n_ctx", // vLLM, SGLang, LM Studio, others
		"prompt is too long", "input token count", // Anthropic, Gemini
	} {
		if strings.Contains(text, phrase) {
			return true
		}
	}

	return false
}

// retryAfter reads how long the provider asks to wait: from a header, in seconds, milliseconds or as a date, or from
// the body, as Gemini does.
func retryAfter(header http.Header, body []byte) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		return positive(time.Duration(ms * float64(time.Millisecond)))
	}
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return positive(time.Duration(seconds * float64(time.Second)))
	}
	if at, err := http.ParseTime(value); err == nil {
		return positive(at.Sub(sent(header)))
	}

	return retryDelay(body)
}

// sent is the time of an answer by its sender's clock. The sender also names the time to wait for, and this machine's
// clock may be wrong.
func sent(header http.Header) time.Time {
	if at, err := http.ParseTime(header.Get("Date")); err == nil {
		return at
	}

	return time.Now()
}

// retryDelay finds {"retryDelay": "34s"} in Gemini's error details.
func retryDelay(body []byte) time.Duration {
	_, rest, found := strings.Cut(string(body), `"retryDelay"`)
	if !found {
		return 0
	}
	parts := strings.SplitN(rest, `"`, 3)
	if len(parts) < 3 {
		return 0
	}
	delay, err := time.ParseDuration(parts[1])
	if err != nil {
		return 0
	}

	return positive(delay)
}

func positive(d time.Duration) time.Duration { return max(d, 0) }
