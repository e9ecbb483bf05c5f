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

// Kitchen returns the domain that comes with the program. It is bound once for all tests of a package: their databases
// are copies of one. A test that alters the kitchen's tables binds it anew.
func Kitchen(t testing.TB) *domain.Domain {
	t.Helper()
	kitchen.Lock()
	defer kitchen.Unlock()
	if kitchen.bound == nil {
		files, file := domain.Find("kitchen")
		bound, err := domain.Open(t.Context(), dbtest.Tx(t), files, file)
		require.NoError(t, err)
		kitchen.bound = bound
	}

	return kitchen.bound
}
