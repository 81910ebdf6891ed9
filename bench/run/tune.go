package run

import (
	"os"
	"runtime"
	"runtime/debug"
)

const (
	// threadsPerCore lets the garbage collector, which takes a quarter of Go's threads for itself, have whole threads of its own. With as many threads as
	// cores, two say, it works in the goroutines' own time instead: of a thousand loads those that met it were held up by a tenth of a second, here by
	// some hundredths.
	threadsPerCore = 4
	// gcPercent trades processor time for memory: the full matrix fits into 400 MiB.
	gcPercent = 70
)

// Tune sets Go's scheduler and garbage collector for thousands of goroutines that wait and must not be late. Whoever set GOMAXPROCS or GOGC
// knows better. It changes the whole process: call it once, where that is decided.
func Tune() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(threadsPerCore * runtime.NumCPU())
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
