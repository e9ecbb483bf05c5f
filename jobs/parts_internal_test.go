package jobs

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/exact"
	"alfred/internal/llm"
)

// whole puts the parts back, as v_llm_calls does.
func (c *cutRequest) whole() string {
	texts := map[uuid.UUID]string{}
	for _, one := range slices.Concat(c.own.list, c.shared.list) {
		texts[one.Hash] = one.Text
	}
	var b strings.Builder
	for i, text := range strings.Split(string(c.outline), "\n") {
		b.WriteString(text)
		if i < len(c.parts) {
			b.WriteString(texts[c.parts[i]])
		}
	}

	return b.String()
}

// A cut request is restored, whatever it contains, and sections that requests share are found in any order.
func TestCutRequest(t *testing.T) {
	t.Parallel()

	long := func(text string) string { return strings.Repeat(text+" ", minOwn/len(text)+1) }
	section := "## Conversation\n" + long(`she said "no \ yes" <b> & `+"\t\x00 \xff \u2028")
	schema := json.RawMessage("{\n\"type\": \"object\", \"about\": \"" + long("a text") + "\"}")
	for name, req := range map[string]*llm.Request{
		"empty": {},
		"short": {System: "be brief", Messages: []llm.Message{{Role: "user", Content: "## Task\nhello\n\n## More\nthere"}}},
		"long": {System: long("instructions\n"), Schema: schema, SchemaName: "think", Tools: []llm.Tool{{Name: "t", Schema: schema}},
			Messages: []llm.Message{{Role: "user", Content: "<a>\n" + section + "\n</a>\n\n<b>\n## Task\n" + long("do this") + "\n</b>"}}},
		"by chance": {Messages: []llm.Message{{Role: "user", Content: long(`a\n## b`) + "\n## " + long("\n## \n<")}}},
		"repaired":  {Messages: []llm.Message{{Role: "user", Content: section}, {Role: "assistant", Content: section}, {Role: "user", Content: section}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, err := cut(req, nil)
			require.NoError(t, err)
			require.True(t, json.Valid([]byte(c.whole())), c.whole())
			var again llm.Request
			require.NoError(t, json.Unmarshal([]byte(c.whole()), &again))
			require.Len(t, again.Messages, len(req.Messages))
			for i, message := range req.Messages {
				clean := strings.ToValidUTF8(strings.ReplaceAll(message.Content, "\x00", ""), "\ufffd")
				require.Equal(t, clean, again.Messages[i].Content)
			}
			require.Equal(t, req.System, again.System)
		})
	}
	one, err := cut(&llm.Request{Messages: []llm.Message{{Content: "<a>\n## Task\nhello\n\n" + section + "\n</a>"}}}, nil)
	require.NoError(t, err)
	other, err := cut(&llm.Request{System: long("x"), Messages: []llm.Message{{Content: "<c>\n" + section + "\n</c>\n\n<d>\nno\n</d>"}}}, nil)
	require.NoError(t, err)
	require.NotEmpty(t, one.own.list)
	require.Equal(t, one.own.list, other.own.list)
	require.Len(t, other.shared.list, 1)
}

// Every field of a request is on record, in the form that encoding it whole has.
func TestCutKeepsEveryField(t *testing.T) {
	t.Parallel()

	warm := 0.5
	req := &llm.Request{
		System: "be brief", Tools: []llm.Tool{{Name: "t", Description: "d", Schema: json.RawMessage(`{}`)}}, SchemaName: "think", Schema: json.RawMessage(`{}`),
		Temperature: &warm, MaxTokens: 5, Messages: []llm.Message{{
			Role: llm.RoleAssistant, Content: "## Task\nhello", ToolCalls: []llm.ToolCall{{Name: "t", Args: json.RawMessage(`{}`)}}, Reasoning: "hm", Provider: "p",
		}},
	}
	for _, value := range []any{*req, req.Messages[0]} {
		for i := range reflect.TypeOf(value).NumField() {
			if field := reflect.TypeOf(value).Field(i); field.Tag.Get("json") != "-" {
				require.False(t, reflect.ValueOf(value).Field(i).IsZero(), "%s is not tried here", field.Name)
			}
		}
	}
	for _, req := range []*llm.Request{req, {Messages: []llm.Message{}}} {
		c, err := cut(req, nil)
		require.NoError(t, err)
		expected, err := exact.Storable(req)
		require.NoError(t, err)
		require.Equal(t, string(expected), c.whole())
	}
}

// What the model has called and thought is stored once, however many calls of a step repeat it.
func TestCutTakesCallsOut(t *testing.T) {
	t.Parallel()

	req := &llm.Request{Messages: []llm.Message{
		{Role: llm.RoleUser, Content: "hi"},
		{
			Role: llm.RoleAssistant, Reasoning: strings.Repeat("hm \n## ", minOwn),
			ToolCalls: []llm.ToolCall{{Name: "generate", Args: json.RawMessage(`{"content": "` + strings.Repeat("soup ", minOwn) + `"}`)}},
		},
		{Role: llm.RoleTool, Content: "1 row"},
	}}
	c, err := cut(req, nil)
	require.NoError(t, err)
	require.Less(t, len(c.outline), minOwn)
	var again llm.Request
	require.NoError(t, json.Unmarshal([]byte(c.whole()), &again))
	require.Equal(t, req.Messages[1].Reasoning, again.Messages[1].Reasoning)
	require.JSONEq(t, string(req.Messages[1].ToolCalls[0].Args), string(again.Messages[1].ToolCalls[0].Args))
	require.Equal(t, "1 row", again.Messages[2].Content)
}

// Text of the declaration within a message is stored once for all users; the text around it is not.
func TestCutSharesWhatIsDeclared(t *testing.T) {
	t.Parallel()

	declared := "## Schema\n" + strings.Repeat("name: \"text\", <required>\n", minShared/20) + "end"
	req := &llm.Request{Declared: []string{"## Guidance\nbe brief", declared}, Messages: []llm.Message{
		{Role: llm.RoleUser, Content: "<step>\n" + declared + "\n\n## Goal\n" + strings.Repeat("a stew ", minShared) + "\n" + declared + " of mine\n</step>"},
	}}
	c, err := cut(req, nil)
	require.NoError(t, err)
	require.Len(t, c.shared.list, 1)
	require.Contains(t, c.shared.list[0].Text, "Schema")
	require.NotContains(t, c.shared.list[0].Text, "stew")
	require.NotContains(t, c.shared.list[0].Text, "mine")
	var again llm.Request
	require.NoError(t, json.Unmarshal([]byte(c.whole()), &again))
	require.Equal(t, req.Messages, again.Messages)
}

// Instructions and tools are sent once a month, because each month has its own partition, and again until they are
// committed.
func TestSharedPartsAreSentOnce(t *testing.T) {
	t.Parallel()

	parts := &sharedParts{stored: map[sharedPart]time.Time{}}
	all := []piece{{uuid.UUID{1}, "tools"}, {uuid.UUID{2}, "schema"}}
	november, december := uuid.MustParse("01a1dc80-f000-7000-8000-000000000000"), uuid.MustParse("01a276ff-b800-7000-8000-000000000000")
	require.Equal(t, "2026-11", monthOf(november))
	require.Equal(t, "2026-12", monthOf(december))

	require.Equal(t, all, parts.missing(november, all))
	require.Equal(t, all, parts.missing(november, all), "nothing is committed yet")

	parts.committed(november, all[:1])
	require.Equal(t, all[1:], parts.missing(november, all))
	require.Equal(t, all, parts.missing(december, all))

	parts.stored[sharedPart{"2026-11", all[0].Hash}] = time.Now().Add(-2 * resendShared)
	require.Equal(t, all, parts.missing(november, all), "somebody may have emptied the table")
}

// What requests of earlier turns said is stored once, by sections and lines, and not what only one turn says.
func TestCutTakesOutWhatEarlierTurnsSaid(t *testing.T) {
	t.Parallel()

	profile, row := "## Profile\nvegan"+strings.Repeat(", likes soup", 20), "- recipe_1: soup"+strings.Repeat(" of leeks", 30)
	request := func(news string) *llm.Request {
		return &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "<a>\n" + profile + "\n\n## Rows\n" + news + "\n" + row + "\n" + row + "\n</a>"}}}
	}
	var known repeated
	session, first, second := uuid.New(), uuid.New(), uuid.New()
	keep := func(session, turn uuid.UUID, news string) *cutRequest {
		req := request(news)
		c, err := cut(req, known.before(session, turn))
		require.NoError(t, err)
		var again llm.Request
		require.NoError(t, json.Unmarshal([]byte(c.whole()), &again))
		require.Equal(t, req.Messages, again.Messages)

		return c
	}
	for range 2 {
		require.Empty(t, keep(session, first, "one").parts)
	}
	require.Len(t, keep(session, second, "two").parts, 3, "the profile, and the row twice")
	require.Empty(t, keep(uuid.New(), second, "three").parts, "parts belong to a session")
	for i := range 2 * maxRepeated {
		known.before(session, second)(strconv.Itoa(i))
	}
	require.LessOrEqual(t, len(known.newer)+len(known.older), 2*maxRepeated)
	require.Empty(t, keep(session, uuid.New(), "four").parts, "forgotten")
}
