package run

import (
	"os"
	"runtime/debug"

	"github.com/shirou/gopsutil/v4/mem"

	"pollbench/bench/plan"
	"pollbench/bench/scenario"
)

const (
	// leastMemory is what a run may take before it collects garbage, on whatever machine, and perSearch what each search adds to that: the full
	// matrix stays under 400 MiB.
	leastMemory = 390 << 20
	perSearch   = 60 << 10
	// share is the part of the machine's free memory that a run may take if that is more.
	share = 8
)

// Tune has Go collect garbage only when memory runs short. A collection has to look through thousands of waiting goroutines, and on two cores
// that holds up by tens of milliseconds whatever should happen meanwhile; traditional polling never makes up for it, since each poll begins its
// sleep when the one before was answered. The full matrix leaves about 1 GiB behind. A machine that has eight times that to spare is never
// held up; another one collects as often as it must. Whoever set GOGC or GOMEMLIMIT knows better.
//
// It changes the whole process: call it once before each run.
func Tune(s scenario.Scenario) {
	debug.FreeOSMemory() // what a run before this one took is not this one's
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := max(leastMemory, int64(plan.All(s))*perSearch)
	if memory, err := mem.VirtualMemory(); err == nil {
		limit = max(limit, int64(memory.Available/share))
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(limit)
}
