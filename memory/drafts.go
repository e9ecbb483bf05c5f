package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"alfred/db"
)

// generated lists what is not saved yet; with contents, in full.
func (t *turn) generated(full bool) *section {
	s := newSection("## Generated (NOT YET SAVED)")
	budget := t.memory.config.Budget.Entities
	if !full {
		t.list(s, t.tier("generated"), "generated", &budget)

		return s
	}
	t.draftsInFull(s, func(e *entity) string { return t.line(e, "", text(e.ActiveReason)) })

	return s
}

// draftsInFull prints drafts with their content. Over budget the oldest content
// gives way, then the oldest drafts.
func (t *turn) draftsInFull(s *section, lineOf func(*entity) string) {
	drafts := t.tier("generated")
	newest := slices.Clone(drafts)
	slices.SortStableFunc(newest, func(a, b *entity) int {
		return cmpOr(int(b.TurnLastRef-a.TurnLastRef), int(b.TurnCreated-a.TurnCreated))
	})
	lines, contents := t.memory.config.Budget.Entities, t.memory.config.Budget.Drafts
	shown := map[*entity]string{}
	hidden := 0
	for _, e := range newest {
		line := lineOf(e)
		if tokens(line) > lines {
			break
		}
		lines -= tokens(line)
		shown[e], hidden = t.withContent(e, line, &contents, hidden)
	}
	for _, e := range drafts {
		if line, ok := shown[e]; ok {
			s.line(line)
			s.because("generated", e.Ref, int(e.TurnCreated), line)
		}
	}
	s.shown(len(shown), len(drafts), "")
	if hidden > 0 {
		s.shown(len(shown)-hidden, len(shown), " in full; db_read by id shows the others")
	}
}

// withContent adds a draft's JSON below its line while the budget lasts.
func (t *turn) withContent(e *entity, line string, budget *int, hidden int) (string, int) {
	content, ok := t.drafts[e.Ref]
	if !ok {
		return line, hidden
	}
	shown := draftText(content)
	if tokens(shown) > *budget {
		return line, hidden + 1
	}
	*budget -= tokens(shown)

	return line + "\n" + shown, hidden
}

// draftText is a draft's content on one line, without what could pose as structure.
func draftText(content []byte) string {
	var value any
	if err := decode(content, &value); err != nil {
		return "{}"
	}

	return jsonText(value)
}

// loadDrafts reads the content of all drafts.
func loadDrafts(ctx context.Context, q *db.Queries, conn db.DBTX, t *turn) error {
	rows, err := q.ArtifactListPending(ctx, conn, t.row.SessionID)
	if err != nil {
		return fmt.Errorf("load drafts: %w", err)
	}
	t.drafts = make(map[string]json.RawMessage, len(rows))
	for _, row := range rows {
		t.drafts[row.Ref] = row.Content
	}

	return nil
}
