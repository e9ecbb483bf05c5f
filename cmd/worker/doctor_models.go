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
