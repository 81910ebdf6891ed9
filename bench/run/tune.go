package run

import (
	"os"
	"runtime/debug"

	"pollbench/bench/scenario"
)

const (
	// memory is what a run may take before it collects garbage, and perSearch what each search of a larger plan adds to that.
	memory    = 390 << 20
	perSearch = 60 << 10
	// gcPercent leaves it to the limit when garbage is collected, as long as the heap is small.
	gcPercent = 800
)

// Tune has Go collect garbage as seldom as the memory allows. A collection holds up by some tens of milliseconds whatever runs beside it,
// with thousands of goroutines to look through; by Go's own measure there would be twice as many. The full matrix stays under
// 400 MiB. Whoever set GOGC or GOMEMLIMIT knows better. It changes the whole process: call it where that is decided.
func Tune(s scenario.Scenario) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	var searches int64
	for _, swept := range s.Sweep() {
		searches += int64(len(s.Panels(swept)) * len(s.Strategies) * len(s.Protocols) * s.Repeats)
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(max(memory, searches*perSearch))
}
