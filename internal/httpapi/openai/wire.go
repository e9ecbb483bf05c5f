package openai

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	"alfred/internal/follow"
	"alfred/internal/httpapi/door"
	"alfred/internal/httpapi/problem"
	"alfred/internal/httpapi/sse"
)

// request is the part of a request that is read. Sampling settings are ignored: the operator chooses the
// model and how it answers.
type request struct {
	Model         string         `json:"model"`
	Messages      []door.Message `json:"messages"`
	Stream        bool           `json:"stream"`
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

// message returns the user's last message. Requests for unsupported features are errors.
func (c *request) message() (string, error) {
	if err := checkModel(c.Model); err != nil {
		return "", err
	}
	switch {
	case c.N > 1:
		return "", problem.Invalid("There is one answer: leave n out.")
	case c.ResponseFormat.Type != "" && c.ResponseFormat.Type != "text":
		return "", problem.Invalid("Answers are text: leave response_format out.")
	case len(c.ToolChoice) > 0 && !bytes.Equal(c.ToolChoice, []byte(`"auto"`)) && !bytes.Equal(c.ToolChoice, []byte(`"none"`)) && !bytes.Equal(c.ToolChoice, []byte("null")):
		return "", problem.Invalid("The assistant has tools of its own and calls none of yours: leave tool_choice out.")
	}
	for _, message := range slices.Backward(c.Messages) {
		if message.Role == door.RoleUser {
			return message.Text()
		}
	}

	return "", problem.Invalid("There is no message of the role user.")
}

type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

// choice has a message or, in a stream, a delta.
type choice struct {
	Index        int       `json:"index"`
	Message      *reply    `json:"message,omitempty"`
	Delta        *delta    `json:"delta,omitempty"`
	FinishReason *string   `json:"finish_reason"`
	Logprobs     *struct{} `json:"logprobs"`
}

type reply struct {
	Role    string  `json:"role"`
	Content string  `json:"content"`
	Refusal *string `json:"refusal"`
}

type delta struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content,omitempty"`
}

type usage struct {
	PromptTokens        int64    `json:"prompt_tokens"`
	CompletionTokens    int64    `json:"completion_tokens"`
	TotalTokens         int64    `json:"total_tokens"`
	PromptTokensDetails cacheHit `json:"prompt_tokens_details"`
}

type cacheHit struct {
	CachedTokens int64 `json:"cached_tokens"`
}

func completionOf(turn *follow.Turn) completion {
	return completion{
		ID: completionID(turn.ID), Object: "chat.completion", Created: turn.CreatedAt.Unix(), Model: modelName,
		Choices: []choice{{Message: &reply{Role: door.RoleAssistant, Content: turn.PlainText()}, FinishReason: new("stop")}},
		Usage:   usageOf(turn),
	}
}

// usageOf counts the calls of all nodes, not only the reply's.
func usageOf(turn *follow.Turn) *usage {
	return &usage{
		PromptTokens: turn.Usage.InputTokens, CompletionTokens: turn.Usage.OutputTokens,
		TotalTokens:         turn.Usage.InputTokens + turn.Usage.OutputTokens,
		PromptTokensDetails: cacheHit{CachedTokens: turn.Usage.CachedTokens},
	}
}

// writer writes the chunks of one completion.
type writer struct {
	out *sse.Writer
	id  string
}

func (c *writer) chunk(choices []choice, usage *usage) {
	c.out.Data(completion{
		ID: c.id, Object: "chat.completion.chunk", Created: time.Now().Unix(), Model: modelName, Choices: choices, Usage: usage,
	})
}

func (c *writer) delta(delta delta, finish *string) {
	c.chunk([]choice{{Delta: &delta, FinishReason: finish}}, nil)
}

func (c *writer) say(text string) {
	if text != "" {
		c.delta(delta{Content: text}, nil)
	}
}

// apiError is OpenAI's form of an error.
type apiError struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	} `json:"error"`
}

func errorOfProblem(p *problem.Problem) *apiError {
	e := &apiError{}
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

func refuse(w http.ResponseWriter, p *problem.Problem) {
	maps.Copy(w.Header(), p.GetHeaders())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(errorOfProblem(p)) //nolint:errchkjson // a client that has gone needs no answer
}
