package run

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"syscall"
	"testing"
	"time"

	"pollbench/bench/plan"
)

func zcpu() float64 {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return float64(r.Utime.Sec+r.Stime.Sec) + float64(r.Utime.Usec+r.Stime.Usec)/1e6
}

func BenchmarkZZ(b *testing.B) {
	for b.Loop() {
		go func() {
			last := zcpu()
			for i := 0; i < 34; i++ {
				time.Sleep(1 * time.Second)
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				now := zcpu()
				fmt.Printf("%2d s: cpu %.2f heapinuse %d stack %d goroutines %d sys %d gc %d\n", (i + 1), now-last, m.HeapInuse>>20, m.StackInuse>>20, runtime.NumGoroutine(), m.Sys>>20, m.NumGC)
				last = now
				if i == 3 {
					f, _ := os.Create("/tmp/cpu1.prof")
					pprof.StartCPUProfile(f)
				}
				if i == 11 {
					pprof.StopCPUProfile()
				}
			}
		}()
		measure(b, inFull(b, "sawtooth"), plan.Options{})
	}
}
