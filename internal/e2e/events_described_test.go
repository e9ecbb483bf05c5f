package e2e_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"alfred/client"
	"alfred/internal/llm/offline"
)

// Y16: streamed events match the API's description, field by field, so that clients' types are correct.
func TestY16EventsAreAsDescribed(t *testing.T) {
	t.Parallel()
	c := openHouse(t, fixtures{model: offline.New}).resident("ada").talk()
	described := c.describedEvents()
	api, err := client.New(c.url, c.key)
	require.NoError(t, err)
	seen := map[string]bool{}
	say := func(text string) {
		made := c.enqueue(message{"message": text})
		for event, err := range api.FollowTurn(t.Context(), made.ID.String(), "") {
			require.NoError(t, err)
			require.Contains(t, described, event.Type)
			var data any
			require.NoError(t, json.Unmarshal(event.Data, &data))
			require.NoError(t, described[event.Type].Validate(data), "%s", event.Data)
			seen[event.Type] = true
		}
		c.end(made)
	}
	for again := 0; again < 10 && !seen["reply.delta"]; again++ { // which is gone once the reply is there, before a slow reader comes
		for _, text := range []string{"Show my recipes", "Draft a Thai basil chicken", "Save it", "Delete it", "Yes", "Add 12 eggs"} {
			say(text)
		}
	}
	for _, kind := range []string{
		"turn.started", "node.started", "node.finished", "plan", "step.started", "tool.called", "step.finished", "entities", "reply.delta", "reply", "turn.finished",
	} {
		require.True(t, seen[kind], kind)
	}
}

// describedEvents are the schemas of events by type, which allow no undescribed fields.
func (p *person) describedEvents() map[string]*jsonschema.Resolved {
	p.t.Helper()
	var spec struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	require.Equal(p.t, http.StatusOK, p.call(http.MethodGet, "/v1/openapi.json", nil, &spec))
	var union struct {
		Discriminator struct {
			Mapping map[string]string `json:"mapping"`
		} `json:"discriminator"`
	}
	require.NoError(p.t, json.Unmarshal(spec.Components.Schemas["TurnEvent"], &union))
	described := map[string]*jsonschema.Resolved{}
	for kind, ref := range union.Discriminator.Mapping {
		whole, err := json.Marshal(map[string]any{"$ref": ref, "$defs": spec.Components.Schemas})
		require.NoError(p.t, err)
		schema := &jsonschema.Schema{}
		require.NoError(p.t, json.Unmarshal(bytes.ReplaceAll(whole, []byte("#/components/schemas/"), []byte("#/$defs/")), schema))
		described[kind], err = schema.Resolve(nil)
		require.NoError(p.t, err, kind)
	}

	return described
}
