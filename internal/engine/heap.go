package engine

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	heapRoom = 64 << 20
	// leastLive is the live heap below which the runtime's heap goal no longer shrinks.
	leastLive = 4 << 20
	// leastPercent bounds what a large heap costs: a thousand turns that wait for their models keep some 80 MB alive.
	leastPercent = 50
	// leastLimit is the memory, not counting the program's code, in which a small process stays.
	leastLimit = 128 << 20
)

// RelaxGC lets the process's heap grow to 64 MB before it is collected; a heap with more than two thirds of that alive
// is collected at one and a half times its live bytes. A worker allocates much and keeps little, so by default it would
// collect every few MB, which takes a seventh of its processor time. It is for whole programs, since it changes the
// process's collector for good, and for those whose user has not set GOGC or GOMEMLIMIT.
func RelaxGC() {
	found := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(found)
	live, mapped, released := found[0].Value.Uint64(), found[1].Value.Uint64(), found[2].Value.Uint64()
	debug.SetGCPercent(roomyPercent(live))
	// Until this runs again, a heap that has become large keeps a small one's percentage.
	debug.SetMemoryLimit(int64(max(mapped-released+live*3/2, leastLimit)))
	type untilCollected struct{ _ *byte } // with a pointer, since small values without one share a block that may live on
	runtime.AddCleanup(new(untilCollected), func(struct{}) { RelaxGC() }, struct{}{})
}

// roomyPercent is the growth that takes a heap with this many live bytes to heapRoom.
func roomyPercent(live uint64) int {
	return max(int(heapRoom*100/max(live, leastLive))-100, leastPercent)
}
