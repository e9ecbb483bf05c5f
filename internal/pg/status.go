package pg

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Status is the migration status of each source, in the order in which they are applied.
type Status struct {
	Sources []SourceStatus `json:"sources"`
}

// SourceStatus is one source's versions, ascending.
type SourceStatus struct {
	// Ahead are versions in the database that this program does not know.
	Ahead []int64 `json:"ahead"`
	// Altered are versions that were applied with a different text than this program's.
	Altered []int64 `json:"altered"`
	Applied []int64 `json:"applied"`
	Pending []int64 `json:"pending"`
	Source  string  `json:"source"`
}

// Err is the first of [ErrSchemaAltered], [ErrSchemaAhead] or [ErrSchemaBehind] that applies, with the versions in
// question, or nil.
func (s Status) Err() error {
	for _, fault := range []struct {
		err      error
		verb     string
		versions func(s *SourceStatus) []int64
	}{
		{ErrSchemaAltered, "has another", func(s *SourceStatus) []int64 { return s.Altered }},
		{ErrSchemaAhead, "has", func(s *SourceStatus) []int64 { return s.Ahead }},
		{ErrSchemaBehind, "lacks", func(s *SourceStatus) []int64 { return s.Pending }},
	} {
		for i := range s.Sources {
			if versions := fault.versions(&s.Sources[i]); len(versions) > 0 {
				return fmt.Errorf("%w (%s %s %v)", fault.err, s.Sources[i].Source, fault.verb, versions)
			}
		}
	}

	return nil
}

// refused returns the status's error if it is this one.
func (s Status) refused(as error) error {
	if err := s.Err(); errors.Is(err, as) {
		return err
	}

	return nil
}

// CheckSchema is a process's check at startup. It returns the error of [Status.Err], or of reading the status.
func CheckSchema(ctx context.Context, pool *pgxpool.Pool, logger *slog.Logger) error {
	migrator, err := NewMigrator(pool, logger)
	if err != nil {
		return err
	}
	status, err := migrator.Status(ctx)
	if err != nil {
		return err
	}

	return status.Err()
}

// Fingerprint is a hash over every migration of every source: equal fingerprints mean equal schemas.
func (m *Migrator) Fingerprint() string {
	sum := sha256.New()
	sum.Write([]byte(bootstrapSQL))
	for _, source := range m.sources {
		for _, migration := range source.known {
			fmt.Fprintf(sum, "%s %d %s\n", source.name, migration.version, migration.digest())
		}
	}

	return hex.EncodeToString(sum.Sum(nil))
}

// Status reads the version tables and changes nothing.
func (m *Migrator) Status(ctx context.Context) (Status, error) {
	var status Status
	for _, source := range m.sources {
		applied, err := source.applied(ctx, m.pool)
		if err != nil {
			return Status{}, err
		}
		texts, err := appliedTexts(ctx, m.pool, source.name)
		if err != nil {
			return Status{}, err
		}
		status.Sources = append(status.Sources, compare(source, applied, texts))
	}

	return status, nil
}

func compare(source *source, applied []int64, texts []appliedText) SourceStatus {
	status := SourceStatus{Ahead: []int64{}, Altered: []int64{}, Applied: []int64{}, Pending: []int64{}, Source: source.name}
	for _, migration := range source.known {
		switch {
		case !slices.Contains(applied, migration.version):
			status.Pending = append(status.Pending, migration.version)
		case source.ours && !slices.Contains(texts, appliedText{migration.version, migration.digest()}):
			status.Altered = append(status.Altered, migration.version)
		}
	}
	for _, version := range applied {
		if slices.ContainsFunc(source.known, func(m migration) bool { return m.version == version }) {
			status.Applied = append(status.Applied, version)
		} else {
			status.Ahead = append(status.Ahead, version)
		}
	}

	return status
}
