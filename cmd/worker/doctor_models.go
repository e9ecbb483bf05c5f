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
	"alfred/domain"
	"alfred/llm"
	"alfred/llm/offline"
	"alfred/llm/provider"
	"alfred/recall"
)

// probeTimeout is how long a model may take for a word.
const probeTimeout = 20 * time.Second

// askModels asks each remote model for a word: whether the key is right, the model
// there, and tools taken, nobody else can say. It costs a few tokens for each.
func askModels(ctx context.Context, s *settings.Settings, bound *domain.Domain) program.Finding {
	name := cmp.Or(s.Model.Name, provider.Offline)
	models, err := openModels(s, bound)
	if err != nil || name == provider.Offline || name == provider.Script {
		return program.Found("models", err, name+" needs no network")
	}
	var (
		asked  []string
		faults []error
	)
	for _, node := range provider.Nodes() {
		own := cmp.Or(s.Model.Models[node], s.Model.Model, "its default model")
		if slices.Contains(asked, own) {
			continue
		}
		asked = append(asked, own)
		faults = append(faults, probe(ctx, models[node]))
	}

	return program.Found("models", errors.Join(faults...), name+" answers with "+strings.Join(asked, ", "))
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

	return err //nolint:wrapcheck // says who answered what
}

// openModels makes the models of the settings.
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

// askEmbedder says how far the vectors are; that they are not complete is no fault.
func askEmbedder(ctx context.Context, s *settings.Settings, pool *pgxpool.Pool, bound *domain.Domain) program.Finding {
	searcher, err := program.OpenSearch(s, pool, bound)
	if err != nil {
		return program.Found("embedder", err, "")
	}
	vectors, err := searcher.EmbedTexts(ctx, []string{"ok"})
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
	if vectors.Notice != "" {
		return program.Finding{Check: "embedder", Detail: detail + "; it does not answer, so that searches go by words alone: check its key and address"}
	}

	return program.Finding{Check: "embedder", OK: true, Detail: detail}
}
