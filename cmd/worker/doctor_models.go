package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/llm/offline"
	"alfred/internal/llm/provider"
	"alfred/internal/recall"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// probeTimeout is how long a model may take for a one-word answer.
const probeTimeout = 20 * time.Second

// askModels asks each remote model for one word, the fallback's separately: only the server can say whether the key is
// valid, the model exists and supports tools. It costs a few tokens each.
func askModels(ctx context.Context, s *settings.Settings, bound *domain.Domain) []program.Finding {
	first := s.Model
	first.Fallback = nil // it would hide the first one's faults
	findings := []program.Finding{askProvider(ctx, "models", &first, bound)}
	if s.Model.Fallback != nil {
		findings = append(findings, askProvider(ctx, "fallback", s.Model.Fallback, bound))
	}

	return findings
}

func askProvider(ctx context.Context, check string, config *provider.Config, bound *domain.Domain) program.Finding {
	name := cmp.Or(config.Name, provider.Offline)
	config.OfflineModel = offline.New(bound)
	models, err := provider.New(config)
	if err != nil || name == provider.Offline || name == provider.Script {
		return program.Found(check, err, name+" needs no network")
	}
	var (
		asked  []string
		faults []error
	)
	for _, node := range provider.Nodes() {
		own := cmp.Or(config.Models[node], config.Model, "its default model")
		if slices.Contains(asked, own) {
			continue
		}
		asked = append(asked, own)
		faults = append(faults, probe(ctx, models[node]))
	}

	return program.Found(check, errors.Join(faults...), name+" answers with "+strings.Join(asked, ", "))
}

func probe(ctx context.Context, model llm.Model) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	_, err := model.Generate(ctx, &llm.Request{
		System: "This is a test of the connection.", Messages: []llm.Message{{Role: llm.RoleUser, Content: "Call the tool ok, or answer ok."}},
		Tools:     []llm.Tool{{Name: "ok", Description: "Says ok.", Schema: json.RawMessage(`{"type": "object", "properties": {}, "additionalProperties": false}`)}},
		MaxTokens: 200,
	})
	if llm.KindOf(err) == llm.KindInvalidOutput {
		return nil // it answered, which is all that was asked
	}

	return err
}

// openModels opens the configured models.
func openModels(s *settings.Settings, bound *domain.Domain) (map[string]llm.Model, error) {
	s.Model.OfflineModel = offline.New(bound)
	if s.Model.Fallback != nil {
		s.Model.Fallback.OfflineModel = s.Model.OfflineModel
	}
	models, err := provider.New(&s.Model)
	if err != nil {
		return nil, fmt.Errorf("choose models: %w", err)
	}

	return models, nil
}

// askEmbedder asks the configured embedder for a vector and reports how far re-embedding has got; being incomplete is
// not a fault.
func askEmbedder(ctx context.Context, s *settings.Settings, pool *pgxpool.Pool, bound *domain.Domain) program.Finding {
	searcher, err := program.OpenSearch(s, pool, bound)
	if err != nil {
		return program.Found("embedder", err, "")
	}
	progress, err := recall.NewIndex(searcher, pool).Progress(ctx)
	if err != nil {
		return program.Found("embedder", err, "")
	}
	detail := fmt.Sprintf("%s has vectors of %d of about %d texts", progress.Model, progress.Vectors, progress.Texts)
	if !progress.Complete {
		detail += "; a running worker makes the others, and until then " + progress.Serves + " is searched"
	}
	if len(progress.Others) > 0 {
		detail += "; vectors of " + strings.Join(progress.Others, ", ") + " stand as well, until a worker deletes them"
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if err := searcher.Probe(ctx); err != nil {
		return program.Finding{Check: "embedder", Detail: err.Error() + "; searches go by words alone. " + detail}
	}

	return program.Finding{Check: "embedder", OK: true, Detail: detail}
}

// trial is one node's model under test: it records what the server refused on the way to an answer.
type trial struct {
	llm.Model

	asked   time.Duration
	err     error
	model   string
	refused []string
}

// Prepare passes on what llm.Prepare looks for.
func (m *trial) Prepare(req *llm.Request) { llm.Prepare(m.Model, req) }

// Generate implements llm.Model.
func (m *trial) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	asked := *req
	asked.OnFailed = func(_ *llm.Response, err error) { m.refused = append(m.refused, err.Error()) }
	started := time.Now()
	resp, err := m.Model.Generate(ctx, &asked)
	m.asked += time.Since(started)
	if m.err = err; resp != nil {
		m.model = resp.Model
	}

	return resp, err
}

// question asks one node's real question: its prompt, schema or tools, streamed if the node streams.
type question struct {
	name, node string
	ask        func(ctx context.Context, model llm.Model) error
}

// asks is the question of a node with an input, whose output may be at fault.
func asks[In, Out any](name, node string, run func(context.Context, llm.Model, In) (Out, error), in In, fault func(Out) string) question {
	return question{name, node, func(ctx context.Context, model llm.Model) error {
		out, err := run(ctx, model, in)
		if err != nil || fault == nil || fault(out) == "" {
			return err
		}

		return errors.New(fault(out))
	}}
}

// small is a minimal prompt.
func small() nodes.Frame {
	return nodes.Frame{
		Persona: "You keep lists.", At: nodes.At{Turn: 1, Step: 1, Call: 1},
		Blocks: []nodes.Block{{Tag: "current_task", Sections: []nodes.Section{{Heading: "## Current Message", Body: "Put milk on my list."}}}},
	}
}

func questions() []question {
	degraded := func(out *nodes.UnderstandOutput) string { return out.Degraded }
	unplanned := func(out *nodes.UnderstandOutput) string {
		if out.Degraded == "" && out.Think == nil && out.Disambiguation == nil && out.Clarification == nil && out.Recall == nil {
			return "the answer holds no plan: set ALFRED_DECISIONS=apart for this model"
		}

		return out.Degraded
	}
	understand := nodes.UnderstandInput{Frame: small(), EntityTypes: []string{"item"}}
	both := nodes.UnderstandInput{Frame: small(), EntityTypes: []string{"item"}, Plan: &nodes.ThinkInput{Subdomains: []string{"lists"}, MaxSteps: 3}}
	think := nodes.ThinkInput{Frame: small(), Subdomains: []string{"lists"}, MaxSteps: 3, Permission: nodes.Permission{Allowed: true, Why: "the message asks for it"}}
	all := []question{
		asks("understand", vocab.NodeUnderstand, nodes.Understand, understand, degraded),
		asks("understand and think in one", vocab.NodeUnderstand, nodes.Understand, both, unplanned),
		asks("think", vocab.NodeThink, nodes.Think, think, nil),
		asks("reply", vocab.NodeReply, nodes.Reply, nodes.ReplyInput{Frame: small(), OnDelta: func(string) {}}, nil),
		asks("summarize", vocab.NodeSummarize, nodes.Summarize, nodes.SummarizeInput{Frame: small()}, nil),
		asks("compress", vocab.NodeCompress, nodes.Compress, nodes.CompressInput{Frame: small()}, nil),
	}
	tables := []string{"items"}
	box := nodes.Toolbox{Tables: tables, EntityTypes: []string{"item"}, Writable: map[string][]string{vocab.ToolCreate: tables, vocab.ToolUpdate: tables, vocab.ToolDelete: tables}}
	for _, stepType := range vocab.StepTypes {
		all = append(all, asks("act, "+stepType, vocab.NodeAct, nodes.Act, nodes.ActInput{Frame: small(), Toolbox: box, StepType: stepType, SchemaRequestsLeft: 1}, nil))
	}

	return append(all, question{"a prompt of 8,000 tokens", vocab.NodeReply, askAtLength})
}

// askAtLength asks for what stands at the beginning of a prompt as long as Alfred's are: a server that cuts prompts off has lost it
// with the instructions, and answers all the same.
func askAtLength(ctx context.Context, model llm.Model) error {
	resp, err := model.Generate(ctx, &llm.Request{
		Node: vocab.NodeReply, System: "The password is heron. When you are asked for it, answer with this one word.",
		Messages: []llm.Message{{Role: llm.RoleUser, Content: strings.Repeat("This line says nothing at all. ", 1030) + "What is the password?"}},
	})
	if err == nil && !strings.Contains(strings.ToLower(resp.Text), "heron") {
		return errors.New("the beginning of the prompt was not known: the server cuts prompts off, unless the model is very weak; give it a longer context, with Ollama OLLAMA_CONTEXT_LENGTH=16384")
	}

	return err
}

// tryNodes asks the configured models each node's real question and reports what their server refused. It costs some
// twenty thousand tokens.
func tryNodes(ctx context.Context, e settings.Env) ([]program.Finding, error) {
	s, err := settings.Parse(e, settings.Worker)
	if err != nil && !errors.Is(err, settings.ErrNoDatabase) {
		return nil, err
	}
	config := s.Model
	config.Fallback = nil // it would hide the first one's faults
	if name := cmp.Or(config.Name, provider.Offline); name == provider.Offline || name == provider.Script {
		return []program.Finding{{Check: "models", OK: true, Detail: name + " needs no network"}}, nil
	}
	models, err := provider.New(&config)
	if err != nil {
		return nil, fmt.Errorf("choose models: %w", err)
	}
	var findings []program.Finding
	for _, q := range questions() {
		findings = append(findings, q.try(ctx, models[q.node]))
	}

	return findings, nil
}

// try keeps the server's own error, which the node might hide.
func (q question) try(ctx context.Context, model llm.Model) program.Finding {
	tried := &trial{Model: model}
	err := q.ask(ctx, tried)
	detail := fmt.Sprintf("%s answers, in %d ms", tried.model, tried.asked.Milliseconds())
	if len(tried.refused) > 0 {
		detail += "; refused, and left out from then on: " + strings.Join(tried.refused, " | ")
	}

	return program.Found(q.name, errors.Join(tried.err, err), detail)
}
