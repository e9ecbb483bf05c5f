package llm

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
)

//go:embed prices.json
var defaultPrices []byte

// releaseSuffix matches the suffix that identifies a release of a model: gpt-4.1-2025-04-14,
// claude-sonnet-4-5-20250929, gemini-2.5-flash-001.
var releaseSuffix = regexp.MustCompile(`(-\d{4}-\d{2}-\d{2}|-\d{8}|-\d{3}|-latest)$`)

// Price is what a model costs, in US dollars per million tokens.
type Price struct {
	Input  float64 `json:"input"`
	Cached float64 `json:"cached"`
	Output float64 `json:"output"`
}

// Prices are the prices of the known models, by name.
type Prices map[string]Price

// DefaultPrices returns the embedded table (prices.json).
func DefaultPrices() (Prices, error) {
	var prices Prices
	if err := json.Unmarshal(defaultPrices, &prices); err != nil {
		return nil, fmt.Errorf("read embedded prices: %w", err)
	}

	return prices, nil
}

// With returns a copy of p overridden by the table read from r. r has the format of prices.json: {"model": {"input": 2,
// "cached": 0.5, "output": 8}}.
func (p Prices) With(r io.Reader) (Prices, error) {
	merged := maps.Clone(p)
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&merged); err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	for model, price := range merged {
		if min(price.Input, price.Cached, price.Output) < 0 {
			return nil, fmt.Errorf("read prices: the price of %s is below 0", model)
		}
	}

	return merged, nil
}

// Cost returns the price of usage in US dollars. An unlisted model costs 0 and is reported as not known, so that nobody
// mistakes the 0 for a price. Writing to a provider's prompt cache counts as plain input.
func (p Prices) Cost(model string, usage Usage) (usd float64, known bool) {
	price, known := p[model]
	if !known {
		price, known = p[releaseSuffix.ReplaceAllString(model, "")]
	}
	fresh := max(usage.Input-usage.Cached, 0)
	perMillion := float64(fresh)*price.Input + float64(usage.Cached)*price.Cached + float64(usage.Output)*price.Output

	return perMillion / 1e6, known
}
