package httpapi_test

import (
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"
)

// chatUI is what stock chat programs are: one conversation, resent with each message, and no word about whose it is.
type chatUI struct {
	b        *bundle
	messages []openai.ChatCompletionMessageParamUnion
}

// say sends the conversation with one more message and keeps the answer. It returns the session that it came to.
func (u *chatUI) say(t *testing.T, message, reply string) string {
	t.Helper()
	u.messages = append(u.messages, openai.UserMessage(message))
	got := u.b.complete(t, openai.ChatCompletionNewParams{Model: "alfred", Messages: u.messages}, u.b.replying(t, message, reply))
	require.NoError(t, got.err)
	u.messages = append(u.messages, openai.AssistantMessage(got.Choices[0].Message.Content))

	return got.response.Header.Get("X-Session-Id")
}

// back takes the last exchanges away, as who edits a message does.
func (u *chatUI) back(exchanges int) *chatUI {
	return &chatUI{b: u.b, messages: append([]openai.ChatCompletionMessageParamUnion{}, u.messages[:len(u.messages)-2*exchanges]...)}
}

func (b *bundle) numbers(t *testing.T, session string) []string {
	t.Helper()
	var said []string
	require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT array_agg(number || ' ' || message ORDER BY number) FROM turns WHERE session_id = $1`, session).Scan(&said))

	return said
}

// Y15: a client that resends what was said, and names neither user nor session, goes on in the session that it was said in.
func TestY15ResentHistoryFindsItsSession(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ui := &chatUI{b: b, messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("Now is 9:00.")}}
	first := ui.say(t, "Draft a soup", "A soup. Shall I save it?")
	ui.messages[0] = openai.SystemMessage("Now is 9:01.")
	require.Equal(t, first, ui.say(t, "Save it", "Saved."))
	require.Equal(t, first, ui.say(t, "Thanks", "Gladly."))
	require.Equal(t, []string{"1 Draft a soup", "2 Save it", "3 Thanks"}, b.numbers(t, first))

	// What began alike and was answered otherwise is another conversation; so is what another user says.
	other := &chatUI{b: b}
	second := other.say(t, "Draft a soup", "Which one?")
	require.NotEqual(t, first, second)
	require.Equal(t, second, other.say(t, "Tomato", "A tomato soup."))
	_, key := b.newUser(t, "eve", "chat")
	eve := ui.back(1)
	eve.b = &bundle{url: b.url, pool: b.pool, key: key}
	require.NotContains(t, []string{first, second}, eve.say(t, "And mine?", "You have none."))

	// A message that was said otherwise, or asked again, is a fork: what was said stays.
	edited := ui.back(2)
	fork := edited.say(t, "Leave it", "Left.")
	require.NotEqual(t, first, fork)
	require.Equal(t, []string{"1 Draft a soup", "2 Leave it"}, b.numbers(t, fork))
	require.Equal(t, []string{"1 Draft a soup", "2 Save it", "3 Thanks"}, b.numbers(t, first))
	require.Equal(t, fork, edited.say(t, "Why?", "You said so."))
	require.Equal(t, first, ui.say(t, "Bye", "Goodbye."), "the one that it began as goes on")
}

// Y15: an answer that was stopped, or failed, or is said to have been sent before, changes nothing of that.
func TestY15HistoryOfWhatWasCutShort(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ui := &chatUI{b: b}
	first := ui.say(t, "Show my recipes", "Butter Chicken, Pad See Ew.")
	ui.messages[1] = openai.AssistantMessage("Butter Chi")
	require.Equal(t, first, ui.say(t, "Go on", "There are two."))

	ui.messages[3] = openai.AssistantMessage("Something that was never said")
	require.NotEqual(t, first, ui.say(t, "And now?", "What?"))

	// Sent again by the client itself, or under a key: one turn, in a session that it need not know.
	for name, options := range map[string][]option.RequestOption{
		"by itself": {option.WithHeader("X-Stainless-Retry-Count", "1")}, "under a key": {option.WithHeader("Idempotency-Key", "k9")},
	} {
		retried := &chatUI{b: b}
		began := retried.say(t, name, "Hello.")
		params := openai.ChatCompletionNewParams{Model: "alfred", Messages: append(retried.messages, openai.UserMessage("More "+name))}
		for _, work := range []func(){b.replying(t, "More "+name, "Here."), func() {}} {
			got := b.complete(t, params, work, options...)
			require.NoError(t, got.err)
			require.Equal(t, "Here.", got.Choices[0].Message.Content)
			require.Equal(t, began, got.response.Header.Get("X-Session-Id"))
		}
		require.Equal(t, []string{"1 " + name, "2 More " + name}, b.numbers(t, began))
	}
}
