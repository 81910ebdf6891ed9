package run

import (
	"os"
	"runtime"
)

// threadsPerCore lets the garbage collector, which takes a quarter of Go's threads for itself, have whole threads of its own. With only as many
// threads as cores, two say, it works in the goroutines' own time instead, and loads that meet it are held up by more.
const threadsPerCore = 4

// Tune sets Go's scheduler for thousands of goroutines that wait and must not be late. Whoever set GOMAXPROCS knows better. It changes
// the whole process: call it once, where that is decided.
func Tune() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(threadsPerCore * runtime.NumCPU())
	}
}
