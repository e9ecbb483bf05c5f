package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/domain"
)

// A scene is made once for each view. A copy, which carries a view across a commit, does not take its scenes along.
func TestScenesBelongToTheirView(t *testing.T) {
	t.Parallel()

	ref := &db.EntityRefListInViewRow{Ref: "vase_1", EntityType: "vase", Tier: "recent"}
	v := &View{Domain: &domain.Domain{}, Turn: &db.Turns{Number: 1}, Registry: []*db.EntityRefListInViewRow{ref}}
	scene := v.Scene(true)
	require.Same(t, scene, v.Scene(true))

	next := *v
	next.Stale = map[string]string{ref.Ref: StaleGone}
	require.Empty(t, v.Scene(true).ByRef[ref.Ref].Stale)
	require.Equal(t, StaleGone, next.Scene(true).ByRef[ref.Ref].Stale)
	require.Same(t, &next, next.Scene(true).View)
	require.Same(t, v, v.Scene(true).View)
}
