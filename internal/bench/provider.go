package main

import "alfred/internal/llm"

// runesPerToken is llm.EstimateTokens's ratio, for the ends of prefixes.
const runesPerToken = 4

// profile is a model's published prices and measured speeds.
type profile struct {
	Provider, Model string
	First           float64 // seconds to the first token of an answer to a short prompt
	Reads, Loads    float64 // tokens per second, uncached and cached prompt
	Writes          float64 // tokens per second of output
	Price           llm.Price
	Kept            float64 // dollars per million tokens written to the cache
	Least, Step     int     // tokens of the shortest cached prefix, and its increment
	Marked          bool    // only prefixes that end at a mark are cached
	Sources         string
}

// profiles are three caching schemes: automatic at a quarter of the price, marked at a tenth with a charge for writing,
// automatic at a tenth.
func profiles() []profile {
	return []profile{
		{
			Provider: "OpenAI", Model: "gpt-4.1", First: 0.844, Reads: 16_000, Loads: 59_000, Writes: 68,
			Price: llm.Price{Input: 2, Cached: 0.5, Output: 8}, Kept: 2, Least: 1024, Step: 128,
			Sources: "prices, cache and reading: OpenAI's cookbook, Prompt Caching 201 (2026), which says that cached prompts of 1,024 tokens start 7 % sooner and those of 150,000 tokens 67 %; " +
				"first token: modelstats.ai, 2026-04-03; writing: a measurement in OpenAI's forum, topic 1307310 (2025)",
		},
		{
			Provider: "Anthropic", Model: "claude-sonnet-4-6", First: 1.293, Reads: 17_000, Loads: 90_000, Writes: 44,
			Price: llm.Price{Input: 3, Cached: 0.3, Output: 15}, Kept: 3.75, Least: 1024, Step: 1, Marked: true,
			Sources: "prices and cache: Anthropic's documentation of prompt caching (2026); reading: its announcement of 2024-08-14, which says that a cached prompt of 10,000 tokens starts 31 % sooner and " +
				"one of 100,000 after 2.4 s; first token: modelstats.ai, 2026-04-03; writing: jonathanwrede.de, median of hourly probes (2026)",
		},
		{
			Provider: "Gemini", Model: "gemini-2.5-flash", First: 0.492, Reads: 53_000, Loads: 212_000, Writes: 205,
			Price: llm.Price{Input: 0.3, Cached: 0.03, Output: 2.5}, Kept: 0.3, Least: 2048, Step: 128,
			Sources: "prices and cache: ai.google.dev, 2026-10-13; first token: modelstats.ai, 2026-04-03; reading: blog.0xmmo.co/forensics (2026), 289 ms for 1 KB and 590 ms for 64 KB; " +
				"writing: kunalganglani.com (2026-03), thinking off; not published, and assumed as for the others: the step by which the cache grows, and that it is read four times as fast",
		},
	}
}

// provider is a simulated provider. Its cache never expires: participants in a conversation write again within minutes.
type provider struct {
	profile

	cache map[uint64]bool
}

func newProvider(p profile) *provider { return &provider{profile: p, cache: map[uint64]bool{}} }

// spent is what one turn cost.
type spent struct {
	Calls, Before         int // calls; those completed before the first word
	Input, Cached, Output int // tokens
	Waited                int // part of Output written before the first word
	Seconds               float64
	Dollars               float64
}

func (s *spent) add(o spent) {
	s.Calls += o.Calls
	s.Before += o.Before
	s.Input += o.Input
	s.Cached += o.Cached
	s.Output += o.Output
	s.Waited += o.Waited
	s.Seconds += o.Seconds
	s.Dollars += o.Dollars
}

// turn runs a turn's calls one after the other. The first word arrives with the first token of the reply, in the call
// that words it; if code words the reply, with the end of the last call that somebody waits for.
func (p *provider) turn(calls []call) spent {
	s, spoken := spent{Calls: len(calls)}, false
	for _, c := range calls {
		input, cached, kept := p.prompt(c.Parts)
		s.Input, s.Cached, s.Output = s.Input+input, s.Cached+cached, s.Output+c.Output
		s.Dollars += (float64(input-cached-kept)*p.Price.Input + float64(cached)*p.Price.Cached + float64(kept)*p.Kept + float64(c.Output)*p.Price.Output) / 1e6
		if spoken || c.Behind {
			continue
		}
		s.Seconds += p.First + float64(input-cached)/p.Reads + float64(cached)/p.Loads
		waited := c.Ahead
		if spoken = c.Words; !spoken {
			s.Before++
			waited = c.Output
		}
		s.Waited += waited
		s.Seconds += float64(waited) / p.Writes
	}

	return s
}

// prompt reads a prompt and caches it. It returns its tokens, the cached ones, and those charged for writing to the
// cache.
func (p *provider) prompt(parts []part) (input, cached, kept int) {
	ends, input := p.prefixes(parts)
	for _, e := range ends {
		if p.cache[e.hash] {
			cached = e.tokens
		}
	}
	for _, e := range ends {
		if e.kept {
			p.cache[e.hash] = true
			kept = max(kept, e.tokens-cached)
		}
	}

	return input, cached, kept
}

// prefix is a possible cache prefix of a prompt, and whether it is written.
type prefix struct {
	hash   uint64
	tokens int
	kept   bool
}

// prefixes are those of a prompt, shortest first, and the tokens of the whole.
func (p *provider) prefixes(parts []part) (ends []prefix, tokens int) {
	const basis, prime = 14695981039346656037, 1099511628211 // FNV-1a's
	hash, runes := uint64(basis), 0
	end := func(kept bool) {
		if tokens = (runes + runesPerToken - 1) / runesPerToken; tokens >= p.Least {
			ends = append(ends, prefix{hash, tokens, kept})
		}
	}
	for _, part := range parts {
		for _, r := range part.Text {
			hash = (hash ^ uint64(r)) * prime
			if runes++; !p.Marked && runes%(p.Step*runesPerToken) == 0 {
				end(true)
			}
		}
		if p.Marked {
			end(part.Mark)
		}
	}

	return ends, (runes + runesPerToken - 1) / runesPerToken
}
