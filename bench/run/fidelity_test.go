package run

import (
	"math"
	"slices"
	"testing"

	"pollbench/bench/analysis"
	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/scenarios"
)

// The benchmarks of this file play real time on the loopback interface, with sockets, TLS and all. They report how far the measurement
// can be trusted rather than how fast something is:
//
//	go test ./bench/run -run '^$' -bench . -benchtime 1x -timeout 30m

// measure plays the scenario in real time and analyses it.
func measure(b *testing.B, s scenario.Scenario, o plan.Options) analysis.Analysis {
	b.Helper()
	Tune(s)
	timer, err := clock.New()
	if err != nil {
		b.Fatal(err)
	}
	defer timer.Close()
	backend, err := Start(b.Context(), timer, Loopback(), s, Target{})
	if err != nil {
		b.Fatal(err)
	}
	defer backend.Close()
	p := plan.New(s, o)
	result := record.Result{Manifest: record.Manifest{Scenario: s, Plan: p}}
	err = Run(b.Context(), Options{
		Scenario: s, Plan: p, Clock: timer, Backend: backend,
		Record: func(t record.Trial) error {
			result.Trials = append(result.Trials, t)
			return nil
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	a := analysis.Analyse(result)
	for _, reason := range a.Health.Reasons {
		b.Logf("unhealthy: %s", reason)
	}
	return a
}

func inFull(b *testing.B, name string) scenario.Scenario {
	b.Helper()
	text, _ := scenarios.Source(name)
	s, err := scenario.Decode(name, text, scenarios.File)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkMatrix is the whole default matrix: how long it takes against its longest single load, what continuous polling wastes
// on h2, how far measured loads are from the model's, what it takes of the machine.
func BenchmarkMatrix(b *testing.B) {
	for b.Loop() {
		a := measure(b, inFull(b, "sawtooth"), plan.Options{})
		b.ReportMetric(*a.Wall/a.IdealWall, "wall/ideal")
		for _, s := range a.Summary {
			if s.Protocol == "h2" {
				b.ReportMetric(*s.Wasted.Median*1e3, "ms-wasted-p50")
				b.ReportMetric(*s.Wasted.P99*1e3, "ms-wasted-p99")
			}
		}
		var off []float64
		var unexplained int
		for _, c := range a.Cells {
			off = append(off, math.Abs(*c.Model.Difference.Median)*1e3)
			if !c.Explained() {
				unexplained++
			}
		}
		slices.Sort(off)
		b.ReportMetric(off[len(off)/2], "ms-off-model-p50")
		b.ReportMetric(off[len(off)-1], "ms-off-model-max")
		b.ReportMetric(float64(unexplained), "cells-unexplained")
		b.ReportMetric(float64(a.Health.Memory)/(1<<20), "MiB")
		b.ReportMetric(a.Health.OwnCores, "cores")
		b.ReportMetric(a.Health.LatenessP99*1e3, "ms-timer-p99")
		b.ReportMetric(float64(a.Health.SocketWaits), "socket-waits")
		b.ReportMetric(0, "ns/op") // the time is the scenario's, not ours
	}
}

// BenchmarkCrowd plays a sample of cells alone, then as part of the whole matrix: the medians must be the same, or running all at once
// would change what is measured.
func BenchmarkCrowd(b *testing.B) {
	for b.Loop() {
		crowd := measure(b, inFull(b, "sawtooth"), plan.Options{})
		few := inFull(b, "sawtooth")
		few.Groups[0].Sweep = []clock.Seconds{ms(1000), ms(3000), ms(6000)}
		few.Repeats = 5
		alone := measure(b, few, plan.Options{Alone: true})
		var worst float64
		for _, c := range alone.Cells {
			i := slices.IndexFunc(crowd.Cells, func(o analysis.Cell) bool {
				return o.Delay == c.Delay && o.Strategy == c.Strategy && o.Protocol == c.Protocol
			})
			apart := (*crowd.Cells[i].Load.Median - *c.Load.Median) * 1e3
			b.Logf("%s over %s at %v s: alone %.1f ms, in the crowd %+.1f ms", c.Strategy, c.Protocol, c.Delay, *c.Load.Median*1e3, apart)
			worst = max(worst, math.Abs(apart))
		}
		b.ReportMetric(worst, "ms-apart-max")
		b.ReportMetric(0, "ns/op")
	}
}
