package pg_test

import (
	"log/slog"
	"testing"

	"alfred/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
