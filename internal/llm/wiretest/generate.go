package wiretest

import (
	"encoding/json"
	"net/http"
	"strings"

	"alfred/internal/llm"
	"alfred/internal/llm/lexical"
)

// generateRequest is the part of a Gemini request that is checked.
type generateRequest struct {
	Contents          []content `json:"contents"`
	SystemInstruction content   `json:"systemInstruction"`
	GenerationConfig  struct {
		MaxOutputTokens    int            `json:"maxOutputTokens"`
		ResponseJSONSchema map[string]any `json:"responseJsonSchema"`
		Temperature        *float64       `json:"temperature"`
	} `json:"generationConfig"`
	Tools []struct {
		FunctionDeclarations []struct {
			Description          string          `json:"description"`
			Name                 string          `json:"name"`
			ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
}

// content is one of Gemini's messages.
type content struct {
	Role  string `json:"role"`
	Parts []struct {
		Text         string `json:"text"`
		FunctionCall *struct {
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
		FunctionResponse *struct {
			Response struct {
				Output string `json:"output"`
			} `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

func (c content) text() string {
	texts := make([]string, len(c.Parts))
	for i, part := range c.Parts {
		texts[i] = part.Text
	}

	return strings.Join(texts, "")
}

// generate serves a model's methods, which follow a colon in the path.
func (s *Server) generate(w http.ResponseWriter, r *http.Request) {
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	switch method {
	case "batchEmbedContents":
		s.batchEmbed(w, r, model)
		return
	case "generateContent", "streamGenerateContent":
	default:
		http.NotFound(w, r)
		return
	}
	var request generateRequest
	call := &Call{Model: model, Stream: method == "streamGenerateContent"}
	if !s.read(w, r, &request, call) {
		return
	}
	request.into(call)
	reply, ok := s.serve(w, r, r.Header.Get("X-Goog-Api-Key"), call)
	if !ok {
		return
	}
	if call.Stream {
		streamGenerated(w, model, reply)
		return
	}
	whole(w, reply, generated(model, parts(reply), reply))
}

// into translates the request.
func (g *generateRequest) into(call *Call) {
	config := g.GenerationConfig
	call.System, call.Temperature, call.MaxTokens = g.SystemInstruction.text(), config.Temperature, config.MaxOutputTokens
	for _, message := range g.Contents {
		role := map[string]string{"user": llm.RoleUser, "model": llm.RoleAssistant}[message.Role]
		said := llm.Message{Role: role, Content: message.text()}
		for _, part := range message.Parts {
			if f := part.FunctionCall; f != nil {
				if len(f.Args) == 0 {
					f.Args = json.RawMessage(`{}`) // the SDK leaves an empty object out
				}
				said.ToolCalls = append(said.ToolCalls, llm.ToolCall{Name: f.Name, Args: f.Args})
			}
			if f := part.FunctionResponse; f != nil {
				call.Messages = append(call.Messages, llm.Message{Role: llm.RoleTool, Content: f.Response.Output})
			}
		}
		if said.Content != "" || len(said.ToolCalls) > 0 {
			call.Messages = append(call.Messages, said)
		}
	}
	for _, tool := range g.Tools {
		for _, f := range tool.FunctionDeclarations {
			call.Tools = append(call.Tools, llm.Tool{Name: f.Name, Description: f.Description, Schema: f.ParametersJSONSchema})
		}
	}
	if config.ResponseJSONSchema == nil {
		return
	}
	call.SchemaName, _ = config.ResponseJSONSchema["title"].(string)
	delete(config.ResponseJSONSchema, "title")
	call.Schema, _ = json.Marshal(config.ResponseJSONSchema) //nolint:errchkjson // was JSON a moment ago
}

// parts are the answer's parts. The protocol requires arguments to be objects: a call whose arguments are not is left
// out, and the finish reason says so.
func parts(reply *Reply) []any {
	if reply.End == EndRefused || malformed(reply) {
		return nil
	}
	var list []any
	if reply.Text != "" {
		list = append(list, map[string]any{"text": reply.Text})
	}

	return append(list, calls(reply)...)
}

func calls(reply *Reply) []any {
	var list []any
	for _, call := range reply.ToolCalls {
		f := map[string]any{"name": call.Name}
		if len(call.Args) > 0 {
			f["args"] = call.Args
		}
		list = append(list, map[string]any{"functionCall": f})
	}

	return list
}

func malformed(reply *Reply) bool {
	for _, call := range reply.ToolCalls {
		if len(call.Args) > 0 && !json.Valid(call.Args) {
			return true
		}
	}

	return false
}

func generated(model string, parts []any, reply *Reply) map[string]any {
	candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
	answer := map[string]any{"modelVersion": model, "candidates": []any{candidate}}
	if reply != nil {
		answer["usageMetadata"] = map[string]any{
			"promptTokenCount": reply.Usage.Input, "candidatesTokenCount": reply.Usage.Output, "cachedContentTokenCount": reply.Usage.Cached,
			"totalTokenCount": reply.Usage.Input + reply.Usage.Output,
		}
		switch {
		case malformed(reply):
			candidate["finishReason"] = "MALFORMED_FUNCTION_CALL"
		case reply.End == EndCutOff:
			candidate["finishReason"] = "MAX_TOKENS"
		case reply.End == EndRefused:
			candidate["finishReason"] = "SAFETY"
		default:
			candidate["finishReason"] = "STOP"
		}
	}

	return answer
}

// streamGenerated sends texts in pieces and each call whole; the last chunk has the finish reason and the usage.
func streamGenerated(w http.ResponseWriter, model string, reply *Reply) {
	stream := newEvents(w)
	texts := pieces(reply.Text)
	if reply.End == EndDisconnect || reply.End == EndSilent {
		texts = texts[:len(texts)/2]
	}
	for _, text := range texts {
		if reply.End != EndRefused {
			stream.send("", generated(model, []any{map[string]any{"text": text}}, nil))
		}
	}
	switch reply.End {
	case EndDisconnect:
		panic(http.ErrAbortHandler)
	case EndSilent:
		return
	case EndCutOff, EndRefused:
	}
	var last []any
	if !malformed(reply) {
		last = calls(reply)
	}
	stream.send("", generated(model, last, reply))
}

// batchEmbed answers with lexical vectors. The handler may make it fail.
func (s *Server) batchEmbed(w http.ResponseWriter, r *http.Request, model string) {
	var request struct {
		Requests []struct {
			Content              content `json:"content"`
			OutputDimensionality int     `json:"outputDimensionality"`
		} `json:"requests"`
	}
	call := &Call{Model: model}
	if !s.read(w, r, &request, call) {
		return
	}
	if _, ok := s.serve(w, r, r.Header.Get("X-Goog-Api-Key"), call); !ok {
		return
	}
	embeddings := make([]any, len(request.Requests))
	for i, one := range request.Requests {
		vectors, err := lexical.Embedder{}.Embed(r.Context(), []string{one.Content.text()})
		if err != nil {
			return
		}
		embeddings[i] = map[string]any{"values": vectors[0][:one.OutputDimensionality]}
	}
	writeJSON(w, http.StatusOK, map[string]any{"embeddings": embeddings})
}
