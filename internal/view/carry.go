package view

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/internal/exact"
	"alfred/internal/pg"
	"alfred/nodes"
	"alfred/registry"
)

// Changes are what a decision's commit did to what its view shows. What others write meanwhile is not included; the
// versions of session and user reveal it.
type Changes struct {
	Turn    *db.Turns // as of the commit
	Run     *db.NodeRunListMadeRow
	Results []*db.TurnStepResultInsertParams
	Round   *nodes.Round    // see View
	Steps   []*db.TurnSteps // all of the turn's; nil: unchanged
	// These parts are read again with the commit.
	Registry, Questions, Curation, Drafts bool
	// Refs are all that changed of the registry, unless it is read again.
	Refs *registry.Written
	// Rows: the domain's rows changed, so what its queries returned is out of date.
	Rows bool
	// User: the commit raised the user's version.
	User bool
}

// Written are the versions of a session and its user, as a commit sees them when it ends. Whoever writes what the user's
// turns show raises one of them.
type Written struct{ Session, User int64 }

// Follow turns a view into the one that a load after the commit would return. Whatever the commit's own statements do
// not yield is read by statements queued here, to be sent last; written holds the versions once they have been sent.
// Once the commit has been acknowledged, followed returns the view. It is nil, so that it must be loaded, if somebody
// else has written what it shows, or if its texts name something that was not looked up with it.
func (l *Loader) Follow(b *pg.Batch, v *View, c *Changes, written *Written) (followed func() *View, err error) {
	next, err := v.after(c)
	if err != nil {
		return nil, err
	}
	if c.Questions {
		next.queueQuestions(b)
	}
	if c.Curation {
		next.queueCuration(b)
	}
	if c.Drafts {
		next.queueDrafts(b)
	}
	refs := c.Refs
	if c.Registry || len(c.Refs.Names) > 0 {
		if spoken := next.spokenOf(); c.Registry || next.unknown(spoken, c.Refs.Names) {
			refs, next.asked = nil, spoken
			pg.Rows(b, "read entities", db.EntityRefListInView, l.inView(next, spoken), &next.Registry)
		}
	}

	return func() *View {
		if next.written != *written {
			return nil
		}
		next.spoken = next.spokenOf()
		if refs != nil {
			next.setRefs(refs.Refs)
		} else {
			next.sort()
		}
		if next.unknown(next.spoken, nil) {
			return nil
		}

		return next
	}, nil
}

// after is the view with what a commit's statements yield.
func (v *View) after(c *Changes) (*View, error) {
	run, err := newRun(c.Run)
	if err != nil {
		return nil, err
	}
	next := *v
	next.Turn, next.Runs = c.Turn, append(slices.Clip(v.Runs), run)
	next.Answers, next.Stale, next.Versions.Rows = nil, nil, nil
	next.Round = c.Round
	next.OlderCounts, next.Events = nil, nil // only the curator needs them, and it runs first
	if c.Rows {
		next.Profile = Profile{}
	}
	if c.User {
		next.written.User++
	}
	if c.Steps != nil {
		next.Steps = c.Steps
	}

	return &next, next.addResults(c.Results)
}

func (v *View) addResults(rows []*db.TurnStepResultInsertParams) error {
	v.Results = slices.Clone(v.Results)
	for _, row := range rows {
		r, err := newResult(&db.TurnStepResultListWindowRow{
			TurnID: row.TurnID, TurnNumber: v.Turn.Number, Step: row.Step, Call: row.Call, Tool: row.Tool, EntityType: row.EntityType, Params: row.Params,
			Rows: row.Rows, RowCount: row.RowCount, Refs: row.Refs, ErrorCode: row.ErrorCode, ErrorMessage: row.ErrorMessage,
		})
		if err != nil {
			return err
		}
		v.Results = append(v.Results, r)
	}
	v.sortResults()

	return nil
}

// setRefs replaces refs by what has been written of them. A ref that no longer has a tier stays only while a text names
// it; once it is gone, the next text that names it asks for it again.
func (v *View) setRefs(written []*db.EntityRefWriteRow) {
	if len(written) == 0 {
		return
	}
	newest := make(map[string]*db.EntityRefListInViewRow, len(written))
	for _, row := range written {
		newest[row.Ref] = (*db.EntityRefListInViewRow)(row)
	}
	v.Registry = slices.DeleteFunc(slices.Clone(v.Registry), func(e *db.EntityRefListInViewRow) bool { return newest[e.Ref] != nil })
	v.Registry = slices.AppendSeq(v.Registry, maps.Values(newest))
	v.asked = v.asked.clone()
	v.Registry = slices.DeleteFunc(v.Registry, func(e *db.EntityRefListInViewRow) bool {
		gone := e.Tier == "" && !v.spoken.names(e)
		if gone {
			v.asked.forget(e)
		}

		return gone
	})
	v.sort()
}

// sort puts the registry into display order.
func (v *View) sort() {
	slices.SortFunc(v.Registry, func(a, b *db.EntityRefListInViewRow) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.EntityType, b.EntityType), cmp.Compare(saved(a.Ref), saved(b.Ref)), numberOf(a.Ref)-numberOf(b.Ref))
	})
}

// saved is 0 for a ref that began as a draft, and 1 for others.
func saved(ref string) int {
	if strings.HasPrefix(ref, "gen_") {
		return 0
	}

	return 1
}

// Renew brings a view that was carried a moment ago up to date by comparing its rows with the database, in one round trip
// at most. It returns nil if that fails: then the view must be loaded.
func (l *Loader) Renew(ctx context.Context, pool *pgxpool.Pool, v *View, need Need, rows bool) *View {
	var (
		b     = &pg.Batch{}
		next  = v.probed()
		known map[string][]*Entity
	)
	if rows {
		known = v.known()
	}
	profile := need.Profile && !v.Profile.known
	if !profile && len(known) == 0 {
		return next
	}
	b.BecomeTenant(v.Turn.UserID)
	next.queueVersions(b, known)
	if profile {
		next.queueProfile(b)
	}
	if b.Send(ctx, pool) != nil {
		return nil
	}

	return next
}

// Diff describes how a view differs from one loaded at the same moment; "" if it does not, or if somebody wrote in
// between, which may be a text for older turns that was written before the turn began and committed after its load.
// Values that vary from load to load (row versions, results of the domain's queries) are not compared.
func (v *View) Diff(loaded *View) string {
	same := func(a, b *db.HistorySummaryListNewestRow) bool { return *a == *b }
	if v.written != loaded.written || !maps.EqualFunc(v.Earlier, loaded.Earlier, same) {
		return ""
	}
	mine, theirs := v.parts(), loaded.parts()
	for i, part := range mine {
		a, err := plain(part.value)
		b, otherErr := plain(theirs[i].value)
		if err != nil || otherErr != nil || a != b {
			return fmt.Sprintf("%s: carried %s, loaded %s", part.name, a, b)
		}
	}

	return ""
}

type part struct {
	name  string
	value any
}

func (v *View) parts() []part {
	entities := slices.DeleteFunc(slices.Clone(v.Registry), func(e *db.EntityRefListInViewRow) bool { return e.Tier == "" && !v.spoken.names(e) })

	return []part{
		{"turn", []any{v.Turn.Status, v.Turn.Position, v.Turn.CurrentNode, v.Turn.Goal, v.Turn.Reply, v.Turn.Undoes, v.Began}},
		{"registry", entities}, {"past", v.Past}, {"decisions", v.Decisions}, {"constraints", v.Constraints},
		{"questions", v.Questions}, {"steps", v.Steps}, {"runs", v.Runs}, {"results", v.Results}, {"drafts", v.Drafts},
		{"versions of drafts", v.Versions.Drafts}, {"round", v.Continues()},
	}
}

// plain encodes a value as JSON independently of Postgres's formatting.
func plain(value any) (string, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	var decoded any
	if err := exact.Decode(encoded, &decoded); err != nil {
		return "", err
	}
	encoded, err = json.Marshal(decoded)

	return string(encoded), err
}
