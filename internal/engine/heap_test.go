package engine

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

func TestASmallHeapHasRoomAndALargeOneLittle(t *testing.T) {
	t.Parallel()
	RelaxGC()
	waitForGoal(t, "a small heap", func(_, goal uint64) bool { return goal > heapRoom-heapRoom/8 })
	large := make([]byte, 3*heapRoom)
	for i := range large {
		large[i] = 1
	}
	waitForGoal(t, "a large heap", func(live, goal uint64) bool {
		return live > 3*heapRoom && goal > live*11/8 && goal < live*13/8 // neither a small heap's percentage nor the limit decides
	})
	runtime.KeepAlive(large)
	waitForGoal(t, "a heap that is small again", func(live, goal uint64) bool { return live < heapRoom/2 && goal > heapRoom-heapRoom/8 })
}

// waitForGoal collects until the collector's next goal is right: how much it grows is decided after a collection.
func waitForGoal(t *testing.T, what string, right func(live, goal uint64) bool) {
	t.Helper()
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"}}
	for range 100 {
		runtime.GC()
		metrics.Read(heap)
		if right(heap[0].Value.Uint64(), heap[1].Value.Uint64()) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: %d bytes are alive, the goal is %d", what, heap[0].Value.Uint64(), heap[1].Value.Uint64())
}
