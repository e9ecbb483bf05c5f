package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"alfred/follow"
)

// completionRequest is the part of a request that is read. Sampling settings are ignored: the operator chooses the
// model and how it answers.
type completionRequest struct {
	Model         string              `json:"model"`
	Messages      []completionMessage `json:"messages"`
	Stream        bool                `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	User           string          `json:"user"`
	N              int             `json:"n"`
	ToolChoice     json.RawMessage `json:"tool_choice"`
	ResponseFormat struct {
		Type string `json:"type"`
	} `json:"response_format"`
}

type completionMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// message returns the user's last message. Requests for unsupported features are errors.
func (c *completionRequest) message() (string, error) {
	if err := checkModel(c.Model); err != nil {
		return "", err
	}
	switch {
	case c.N > 1:
		return "", invalid("There is one answer: leave n out.")
	case c.ResponseFormat.Type != "" && c.ResponseFormat.Type != "text":
		return "", invalid("Answers are text: leave response_format out.")
	case len(c.ToolChoice) > 0 && !bytes.Equal(c.ToolChoice, []byte(`"auto"`)) && !bytes.Equal(c.ToolChoice, []byte(`"none"`)) && !bytes.Equal(c.ToolChoice, []byte("null")):
		return "", invalid("The assistant has tools of its own and calls none of yours: leave tool_choice out.")
	}
	for _, message := range slices.Backward(c.Messages) {
		if message.Role == roleUser {
			return textOf(message.Content)
		}
	}

	return "", invalid("There is no message of the role user.")
}

type completion struct {
	ID      string             `json:"id"`
	Object  string             `json:"object"`
	Created int64              `json:"created"`
	Model   string             `json:"model"`
	Choices []completionChoice `json:"choices"`
	Usage   *completionUsage   `json:"usage,omitempty"`
}

// completionChoice has a message or, in a stream, a delta.
type completionChoice struct {
	Index        int              `json:"index"`
	Message      *completionReply `json:"message,omitempty"`
	Delta        *completionDelta `json:"delta,omitempty"`
	FinishReason *string          `json:"finish_reason"`
	Logprobs     *struct{}        `json:"logprobs"`
}

type completionReply struct {
	Role    string  `json:"role"`
	Content string  `json:"content"`
	Refusal *string `json:"refusal"`
}

type completionDelta struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content,omitempty"`
}

type completionUsage struct {
	PromptTokens        int64              `json:"prompt_tokens"`
	CompletionTokens    int64              `json:"completion_tokens"`
	TotalTokens         int64              `json:"total_tokens"`
	PromptTokensDetails completionCacheHit `json:"prompt_tokens_details"`
}

type completionCacheHit struct {
	CachedTokens int64 `json:"cached_tokens"`
}

func completionOf(turn *follow.Turn) completion {
	return completion{
		ID: completionID(turn.ID), Object: "chat.completion", Created: turn.CreatedAt.Unix(), Model: modelName,
		Choices: []completionChoice{{Message: &completionReply{Role: roleAssistant, Content: turn.Said()}, FinishReason: new("stop")}},
		Usage:   usageOf(turn),
	}
}

// usageOf counts the calls of all nodes, not only the reply's.
func usageOf(turn *follow.Turn) *completionUsage {
	return &completionUsage{
		PromptTokens: turn.Usage.InputTokens, CompletionTokens: turn.Usage.OutputTokens,
		TotalTokens:         turn.Usage.InputTokens + turn.Usage.OutputTokens,
		PromptTokensDetails: completionCacheHit{CachedTokens: turn.Usage.CachedTokens},
	}
}

// completionWriter writes the chunks of one completion.
type completionWriter struct {
	out *eventWriter
	id  string
}

func (c *completionWriter) chunk(choices []completionChoice, usage *completionUsage) error {
	return c.out.data(completion{
		ID: c.id, Object: "chat.completion.chunk", Created: time.Now().Unix(), Model: modelName, Choices: choices, Usage: usage,
	})
}

func (c *completionWriter) delta(delta completionDelta, finish *string) error {
	return c.chunk([]completionChoice{{Delta: &delta, FinishReason: finish}}, nil)
}

func (c *completionWriter) say(text string) error {
	if text == "" {
		return nil
	}

	return c.delta(completionDelta{Content: text}, nil)
}

func (c *completionWriter) usage(turn *follow.Turn) error {
	return c.chunk([]completionChoice{}, usageOf(turn))
}

func (c *completionWriter) done() error {
	if err := c.out.extend(); err != nil {
		return err
	}
	if _, err := fmt.Fprint(c.out.w, "data: [DONE]\n\n"); err != nil {
		return fmt.Errorf("write end: %w", err)
	}

	return c.out.flush()
}

// completionError is OpenAI's form of an error.
type completionError struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	} `json:"error"`
}

func errorOfProblem(p *problem) *completionError {
	e := &completionError{}
	e.Error.Message, e.Error.Code = p.Detail, p.Code
	switch {
	case p.Status == http.StatusUnauthorized:
		e.Error.Type = "authentication_error"
	case p.Status == http.StatusForbidden:
		e.Error.Type = "permission_error"
	case p.Status == http.StatusTooManyRequests:
		e.Error.Type = "rate_limit_error"
	case p.Status >= http.StatusInternalServerError:
		e.Error.Type = "server_error"
	default:
		e.Error.Type = "invalid_request_error"
	}
	if p.Code == "model_not_found" {
		e.Error.Param = new("model")
	}

	return e
}

func writeCompletionError(w http.ResponseWriter, p *problem) {
	maps.Copy(w.Header(), p.GetHeaders())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(errorOfProblem(p)) //nolint:errchkjson // a client that has gone needs no answer
}
