package prompt_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/stretchr/testify/require"
)

// What TestLongConversationIsFlat writes with -measure.

var measuredNodes = []string{"understand", "think", "act", "reply", "summarize"}

// settled is the turn after which prompts must not grow: the windows are full after five turns, the compressed text
// after about twenty.
const settled = 20

func (m *measuring) of(node string) []sample {
	var own []sample
	for _, s := range m.samples {
		if s.node == node {
			own = append(own, s)
		}
	}

	return own
}

// trend is the mean of a node's tokens after the turn settled and, by least squares, their increase per turn.
func (m *measuring) trend(node string) (mean, slope float64) {
	var n, sx, sy, sxx, sxy float64
	for _, s := range m.of(node) {
		if s.turn <= settled {
			continue
		}
		x, y := float64(s.turn), float64(s.tokens)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}

	return sy / n, (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

func (m *measuring) write() {
	var b strings.Builder
	fmt.Fprintf(&b, `# What prompts cost

After about twenty turns, prompts stop growing. The measured conversation has %d turns, each with one read of 1 to 200
rows from a pantry of 600, and now and then a draft, a wish or a retained entity. Tokens are estimated at four
characters each. `+"`go test ./internal/prompt -run TestLongConversationIsFlat -measure`"+` writes this page;
without the flag the same test fails if a prompt grows or a section exceeds its budget.

![tokens of each node's prompt by turn](prompt-tokens.svg)

## Tokens by turn

| turn | understand | think | act | reply | summarize | whole history |
|--:|--:|--:|--:|--:|--:|--:|
`, measuredTurns)
	for _, turn := range []int{1, 2, 5, 10, 20, 50, 100, 150, 200} {
		fmt.Fprintf(&b, "| %d |", turn)
		for _, node := range measuredNodes {
			fmt.Fprintf(&b, " %d |", m.tokensAt(node, turn))
		}
		fmt.Fprintf(&b, " %d |\n", m.history[turn])
	}
	b.WriteString(`
The last column is everything that was said and read: the least that a prompt with the whole history would hold.
A turn has two prompts of act; the second is shown, which includes the rows it has read.

## Each node after the twentieth turn

By then the text of older turns has reached its full length.

| node | mean tokens | maximum | growth, tokens per turn | queries | bytes shared with the start of the previous prompt |
|---|--:|--:|--:|--:|--:|
`)
	for _, node := range measuredNodes {
		m.writeNode(&b, node)
	}
	b.WriteString(`
A provider's prompt cache can keep the shared start: instructions, tools and stable sections. Within a turn the prompts of act
share more, because their table of rows is at the end.
`)
	require.NoError(m.t, os.WriteFile("../../docs/measurements.md", []byte(b.String()), 0o600))
	require.NoError(m.t, os.WriteFile("../../docs/prompt-tokens.svg", []byte(m.plot()), 0o600))
}

func (m *measuring) tokensAt(node string, turn int) int {
	tokens := 0
	for _, s := range m.of(node) {
		if s.turn == turn {
			tokens = s.tokens
		}
	}

	return tokens
}

func (m *measuring) writeNode(b *strings.Builder, node string) {
	mean, slope := m.trend(node)
	most, queries, same, bytes := 0, 0, 0, 0
	for _, s := range m.of(node) {
		if s.turn <= settled {
			continue
		}
		most, queries = max(most, s.tokens), max(queries, s.queries)
		same, bytes = same+s.same, bytes+s.bytes
	}
	fmt.Fprintf(b, "| %s | %.0f | %d | %+.2f | %d | %d %% |\n", node, mean, most, slope, queries, 100*same/bytes)
}

// plot draws each node's tokens, and the whole history's until it leaves the picture.
func (m *measuring) plot() string {
	const width, height, left, bottom = 760.0, 360.0, 60.0, 30.0
	top := 0
	for _, s := range m.samples {
		top = max(top, s.tokens)
	}
	top = (top/5000 + 2) * 5000
	at := func(turn, tokens int) string {
		return fmt.Sprintf("%.1f,%.1f", left+float64(turn)/measuredTurns*(width-left-110), height-bottom-float64(tokens)/float64(top)*(height-bottom-10))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="11">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" fill="#fff"/>`+"\n", width, height)
	for tokens := 0; tokens <= top; tokens += 5000 {
		from, to := at(0, tokens), at(measuredTurns, tokens)
		fmt.Fprintf(&b, `<path d="M%s L%s" stroke="#ddd"/><text x="%.0f" y="%s" text-anchor="end">%d</text>`+"\n", from, to, left-6, from[strings.IndexByte(from, ',')+1:], tokens)
	}
	for turn := 0; turn <= measuredTurns; turn += 50 {
		x, _, _ := strings.Cut(at(turn, 0), ",")
		fmt.Fprintf(&b, `<text x="%s" y="%.0f" text-anchor="middle">%d</text>`+"\n", x, height-10, turn)
	}
	colours := map[string]string{"understand": "#7048e8", "think": "#1c7ed6", "act": "#e8590c", "reply": "#2b8a3e", "summarize": "#868e96"}
	for i, node := range measuredNodes {
		var points []string
		for turn := 1; turn <= measuredTurns; turn++ {
			points = append(points, at(turn, m.tokensAt(node, turn)))
		}
		label(&b, i, node, colours[node], points)
	}
	var points []string
	for turn := 1; turn <= measuredTurns && m.history[turn] <= top; turn++ {
		points = append(points, at(turn, m.history[turn]))
	}
	label(&b, len(measuredNodes), "whole history", "#e03131", points)
	b.WriteString("</svg>\n")

	return b.String()
}

func label(b *strings.Builder, i int, name, colour string, points []string) {
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.3"/>`+"\n", strings.Join(points, " "), colour)
	fmt.Fprintf(b, `<text x="664" y="%d" fill="%s">%s</text>`+"\n", 24+16*i, colour, name)
}
