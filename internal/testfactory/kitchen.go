package testfactory

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

var kitchen struct {
	sync.Mutex
	bound *domain.Domain
}

// Kitchen returns the domain that comes with the program. It is bound once for all tests of a package, whose databases
// are copies of one, and none of them may change it: see [OwnKitchen].
func Kitchen(t testing.TB) *domain.Domain {
	t.Helper()
	kitchen.Lock()
	defer kitchen.Unlock()
	if kitchen.bound == nil {
		kitchen.bound = OwnKitchen(t)
	}

	return kitchen.bound
}

// OwnKitchen is [Kitchen] for a test that changes it.
func OwnKitchen(t testing.TB) *domain.Domain {
	t.Helper()
	files, file := domain.Find("kitchen")
	bound, err := domain.Open(t.Context(), dbtest.Tx(t), files, file)
	require.NoError(t, err)

	return bound
}
