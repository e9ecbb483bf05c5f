package settings

import (
	"slices"
	"strings"

	"alfred/internal/llm/provider"
)

// Program is who reads a setting.
type Program int

// The programs.
const (
	API Program = 1 << iota
	Worker
	both = API | Worker
)

// nodeSuffix is the placeholder for a node's name in a setting's name.
const nodeSuffix = "<NODE>"

// line is one setting.
type line struct {
	name     string
	by       Program
	fallback string // its default, as in the environment; "" is explained in the meaning
	set      setter
	meaning  string
	secret   bool
}

// lines are the settings that a program reads.
func (s *Settings) lines(by Program) []line {
	return slices.DeleteFunc(s.table(), func(l line) bool { return by&l.by == 0 })
}

// table lists every setting, in the order in which people look for them.
func (s *Settings) table() []line {
	return []line{
		{"DATABASE_URL", both, "", word.into(&s.DatabaseURL), "the database; required", true},
		{"ALFRED_DIRECTORY_URL", both, "", word.into(&s.Directory), "the directory that maps users to databases, if there are several (see docs/scaling.md); the API then needs no DATABASE_URL", true},
		{"ALFRED_ADDR", API, "127.0.0.1:8080", word.into(&s.Addr), "where the API listens", false},
		{"ALFRED_AUTH", API, "on", either(&s.Open, "off", "on"), "`off` serves every request as the user `demo`; only on loopback, and with one database", false},
		{"ALFRED_CORS_ORIGINS", API, "", origins(&s.Origins), "origins whose pages may call the API, separated by commas", false},
		{"ALFRED_JWKS_URL", API, "", word.into(&s.Tokens.JWKSURL), "where an identity provider publishes its keys, over https; its signed tokens (JWT) are then accepted besides API keys", false},
		{"ALFRED_JWT_ISSUER", API, "", word.into(&s.Tokens.Issuer), "what a token's `iss` must be", false},
		{"ALFRED_JWT_AUDIENCE", API, "", word.into(&s.Tokens.Audience), "what a token's `aud` must contain", false},
		{"ALFRED_JWT_USER_CLAIM", API, "sub", word.into(&s.Tokens.UserClaim), "the claim that names the user", false},
		{"ALFRED_RATE_LIMIT", API, "50", count.into(&s.Budget.PerSecond), "requests that a key may make per second, on average and per process; 0 is no limit", false},
		{"ALFRED_RATE_BURST", API, "200", atLeastOne.into(&s.Budget.Burst), "requests that a key may make at once", false},
		{"ALFRED_STREAMS_PER_KEY", API, "50", count.into(&s.Budget.Streams), "event streams that a key may have open, per process; 0 is no limit", false},
		{"ALFRED_DOMAIN", both, "kitchen", word.into(&s.Domain), "a built-in domain, or the path of a YAML file", false},
		{"ALFRED_LLM", Worker, provider.Offline, word.into(&s.Model.Name), "the provider of models: `offline`, `openai`, `anthropic`, `gemini` or `script`", false},
		{"ALFRED_DECISIONS", both, "together", either(&s.Windows.Apart, "apart", "together"), "`together`: one model call for a message's meaning and the plan; `apart`: one call each", false},
		{"ALFRED_MODEL", Worker, "", word.into(&s.Model.Model), "the model of all nodes; unset: the provider's default", false},
		{"ALFRED_MODEL_<NODE>", Worker, "", word.byNode(&s.Model.Models), "the model of one node: " + strings.Join(provider.Nodes(), ", "), false},
		{"ALFRED_TEMPERATURE_<NODE>", Worker, "", temperature.byNode(&s.Model.Temperatures), "temperature of one node, 0 to 2; unset: low where answers are checked, high for prose", false},
		{"ALFRED_MAX_TOKENS_<NODE>", Worker, "", atLeastOne.byNode(&s.Model.MaxTokens), "maximum length of one node's answers, in tokens; unset: the node's own", false},
		{"ALFRED_FIRST_BYTE_<NODE>", Worker, "", duration.byNode(&s.Model.FirstByte), "how long one node's model may take to start answering, such as 90s; unset: 90s", false},
		{"ALFRED_SILENCE_<NODE>", Worker, "", duration.byNode(&s.Model.Silence), "how long it may pause within an answer; unset: 30s", false},
		{"ALFRED_TIMEOUT_<NODE>", Worker, "", duration.byNode(&s.Model.Whole), "how long its whole answer may take; unset: 3m", false},
		{"ALFRED_MAX_ANSWER_BYTES", Worker, "4194304", atLeastOne.into(&s.Model.MaxBytes), "maximum size of an answer as received, in bytes", false},
		{"ALFRED_TURN_DEADLINE", Worker, "5m", lasts.into(&s.TurnDeadline), "how long a turn may try to make one decision before it fails and says what was done; 0 is for ever", false},
		{"ALFRED_FALLBACK_LLM", Worker, "", word.into(&s.fallbackLLM), "the provider that is asked instead if the first is overloaded and has streamed no text yet", false},
		{"ALFRED_FALLBACK_MODEL", Worker, "", word.into(&s.fallbackModel), "the fallback's model", false},
		{"ALFRED_PRICES", Worker, "", prices(&s.Prices), "a file of prices that override the built-in table", false},
		{"ALFRED_SCRIPT", Worker, "", word.into(&s.Model.ScriptPath), "the YAML file that `script` plays", false},
		{"ALFRED_EMBEDDER", both, provider.Lexical, word.into(&s.Embedder.Name), "`lexical` (in process), `openai` or `gemini`", false},
		{"ALFRED_EMBEDDER_MODEL", both, "", word.into(&s.Embedder.Model), "another embedding model; rows are re-embedded in the background while the old vectors serve", false},
		{"ALFRED_EMBEDDER_DIMENSIONS", both, "", count.into(&s.Embedder.Dimensions), "its dimensions; unset: the provider's default", false},
		{"OPENAI_API_KEY", both, "", word.into(&s.openAI.APIKey), "key for OpenAI, or for a server that speaks its protocol", true},
		{"OPENAI_BASE_URL", both, "", word.into(&s.openAI.BaseURL), "address of such a server", false},
		{"ANTHROPIC_API_KEY", Worker, "", word.into(&s.anthropic.APIKey), "key for Anthropic", true},
		{"ANTHROPIC_BASE_URL", Worker, "", word.into(&s.anthropic.BaseURL), "another address for Anthropic's API", false},
		{"GEMINI_API_KEY", both, "", word.into(&s.gemini.APIKey), "key for Gemini", true},
		{"GEMINI_BASE_URL", both, "", word.into(&s.gemini.BaseURL), "another address for Gemini's API", false},
		{"ALFRED_LIMIT_TURNS", both, "0", turns.into(&s.Limits.Turns), "turns that a user may use per day, in the user's time zone; 0 is no limit", false},
		{"ALFRED_LIMIT_TOKENS", both, "0", count.into(&s.Limits.Tokens), "the same for tokens, of prompts and answers together", false},
		{"ALFRED_LIMIT_COST_USD", both, "0", dollars.into(&s.Limits.CostUSD), "the same for the cost of model calls, in US dollars", false},
		{"TURN_RETENTION_WINDOW", both, "2", turns.into(&s.Windows.RetentionWindow), "recent turns of which prompts show the rows and what happened", false},
		{"FULL_DETAIL_TURNS", both, "3", turns.into(&s.Windows.FullDetailTurns), "turns of conversation shown in full", false},
		{"UNDERSTAND_TURNS", both, "5", turns.into(&s.Windows.UnderstandTurns), "turns that Understand sees in full", false},
		{"COMPRESS_OLDER_TURNS", both, "true", boolean.into(&s.Windows.CompressOlder), "compress older turns in the background; `false`: one line per turn instead", false},
		{"COMPRESS_EVERY_TURNS", both, "4", turns.into(&s.Windows.CompressEvery), "turns from one compression to the next; 0 is every turn", false},
		{"ALFRED_METRICS_ADDR", Worker, "", word.into(&s.MetricsAddr), "where the worker serves its own `/metrics` and `/healthz`, such as 127.0.0.1:9091; the API serves them at its address", false},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", both, "", address.into(&s.Collector), "base URL of a collector that accepts traces and metrics by OTLP over HTTP; the other standard `OTEL_*` variables apply", false},
		{"RETENTION_DECAY_TURNS", Worker, "20", turns.into(&s.RetentionDecay), "turns after which a reason to keep an entity in view expires unless it is renewed; 0 is never", false},
	}
}
