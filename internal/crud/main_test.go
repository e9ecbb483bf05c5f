package crud_test

import (
	"testing"

	"alfred/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }
