package gemini

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"google.golang.org/genai"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

// answer collects the pieces of an answer.
type answer struct {
	blocked  bool
	response llm.Response
	reason   genai.FinishReason
}

// add appends a piece: texts are joined, each function call arrives whole, and the last token count covers the whole
// answer.
func (a *answer) add(piece *genai.GenerateContentResponse, onDelta func(string)) {
	a.response.Model = cmp.Or(piece.ModelVersion, a.response.Model)
	if usage := piece.UsageMetadata; usage != nil {
		a.response.Usage = llm.Usage{
			Input:  int(usage.PromptTokenCount),
			Output: int(usage.CandidatesTokenCount + usage.ThoughtsTokenCount),
			Cached: int(usage.CachedContentTokenCount),
		}
	}
	a.blocked = a.blocked || piece.PromptFeedback != nil && piece.PromptFeedback.BlockReason != ""
	if len(piece.Candidates) == 0 {
		return
	}
	first := piece.Candidates[0]
	a.reason = cmp.Or(first.FinishReason, a.reason)
	if first.Content == nil {
		return
	}
	for _, part := range first.Content.Parts {
		a.addPart(part, onDelta)
	}
}

func (a *answer) addPart(part *genai.Part, onDelta func(string)) {
	if call := part.FunctionCall; call != nil {
		args, err := json.Marshal(call.Args)
		if err != nil || call.Args == nil {
			args = nil // no arguments
		}
		a.response.ToolCalls = append(a.response.ToolCalls, llm.ToolCall{Name: call.Name, Args: args, Signature: base64.StdEncoding.EncodeToString(part.ThoughtSignature)})
	}
	if part.Text == "" || part.Thought {
		return
	}
	a.response.Text += part.Text
	onDelta(part.Text)
}

// finish ends the answer according to the server's finish reason.
func (a *answer) finish(req *llm.Request) (*llm.Response, error) {
	end := wire.EndWhole
	switch a.reason {
	case genai.FinishReasonStop, genai.FinishReasonUnspecified:
	case "":
		end = wire.EndIncomplete
		if a.blocked {
			end = wire.EndRefused
		}
	case genai.FinishReasonMaxTokens:
		end = wire.EndCutOff
	case genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonBlocklist, genai.FinishReasonProhibitedContent, genai.FinishReasonSPII:
		end = wire.EndRefused
	default: // mainly a function call that is not JSON, which is not reported otherwise
		return &a.response, &llm.Error{Kind: llm.KindInvalidOutput, Provider: a.response.Provider, Err: fmt.Errorf("the answer ended with %s", a.reason)}
	}

	return wire.Finish(req, &a.response, end)
}

// failure is an error within a stream, as its server wrote it.
func failure(failed *genai.APIError) []byte {
	body, err := json.Marshal(map[string]any{"error": failed})
	if err != nil {
		return []byte(failed.Message)
	}

	return body
}
