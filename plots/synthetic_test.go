package plots

import (
	"math/rand/v2"
	"slices"

	"pollbench/bench/analysis"
)

// Results as a run would give them. The traditional waits come from the published tiers of sleeps (300 ms below 1.5 s, 1 s below
// 5 s, 2.5 s below 20 s, 5 s beyond), written out as the instants at which an ended search is noticed.
var (
	ticks = []float64{0.2, 0.5, 0.8, 1.1, 1.4, 1.7, 2.7, 3.7, 4.7, 5.7, 8.2, 10.7, 13.2, 15.7, 18.2, 20.7, 25.7, 30.7}
	// The same for a panel whose first request waited 0.2 s for a slot: all instants count from when the page asked.
	lateTicks = []float64{0.4, 0.7, 1.0, 1.3, 1.6, 2.6, 3.6, 4.6, 5.6, 8.1, 10.6, 13.1, 15.6, 18.1, 20.6, 25.6, 30.6}
)

const slotWait = 0.2 // of panels 7 to 10 on HTTP/1.1

func noticed(ticks []float64, ready float64) float64 {
	i := slices.IndexFunc(ticks, func(t float64) bool { return t >= ready-1e-9 })
	return ticks[i]
}

// delivered is when an early and a late panel of a delay have their result, without any latency.
func delivered(strategy, protocol string, delay float64) (early, late float64) {
	wait := 0.0
	if protocol == "http1" {
		wait = slotWait
	}
	if strategy == "continuous" {
		return delay, delay + wait
	}
	early = noticed(ticks, delay)
	if wait == 0 {
		return early, early
	}
	return early, noticed(lateTicks, delay+wait)
}

// meanWasted is the model's mean over a dashboard of which 4 panels of 10 are late on HTTP/1.1.
func meanWasted(strategy, protocol string, delay float64) float64 {
	early, late := delivered(strategy, protocol, delay)
	return 0.6*(early-delay) + 0.4*(late-delay)
}

func ptr[T any](v T) *T { return &v }

func around(v, by float64) analysis.Interval {
	return analysis.Interval{Median: ptr(v), Lo: ptr(v - by), Hi: ptr(v + by)}
}

func delaysOf(from, to, step float64) []float64 {
	var ds []float64
	for i := 0; ; i++ {
		d := from + float64(i)*step
		if d > to+1e-9 {
			return ds
		}
		ds = append(ds, d)
	}
}

// sweep is a result over delays with some milliseconds of noise; one repeat has no intervals.
func sweep(name string, delays []float64, protocols []string, repeats int) analysis.Analysis {
	noise := rand.New(rand.NewPCG(1, 2))
	a := analysis.Analysis{Scenario: name, Health: analysis.Health{Healthy: true}}
	strategies := []string{"traditional", "continuous"}
	for _, p := range protocols {
		sum := 0.0
		for _, d := range delays {
			var loads []float64
			for _, s := range strategies {
				early, late := delivered(s, p, d)
				load := max(early, late) + 0.002 + 0.004*noise.Float64()
				loads = append(loads, load)
				c := analysis.Cell{
					Delay: d, Strategy: s, Protocol: p, Topology: "direct", Trials: repeats, Finished: repeats,
					Wasted: analysis.Wasted{Mean: ptr(meanWasted(s, p, d) + 0.001 + 0.003*noise.Float64())},
					Groups: []analysis.Group{{Name: "panels", Delay: d, Panels: 10, Delivered: around(load, 0.002)}},
				}
				c.Load.Interval = analysis.Interval{Median: ptr(load)}
				if repeats >= 6 {
					c.Load.Interval = around(load, 0.003+0.01*noise.Float64())
				}
				a.Cells = append(a.Cells, c)
			}
			gain := 1 - loads[1]/loads[0]
			sum += gain
			cmp := analysis.Comparison{Delay: d, Protocol: p, Topology: "direct", Base: strategies[0], Other: strategies[1], Speedup: ptr(gain)}
			if repeats >= 6 {
				half := 0.004 + 0.012*noise.Float64()
				cmp.Lo, cmp.Hi = ptr(gain-half), ptr(gain+half)
			}
			a.Comparisons = append(a.Comparisons, cmp)
		}
		a.Summary = append(a.Summary, analysis.Summary{
			Protocol: p, Topology: "direct", Base: strategies[0], Other: strategies[1], Mean: ptr(sum / float64(len(delays))),
		})
	}
	return a
}

// curvesOf is the model's line each 50 ms.
func curvesOf(protocols []string, to float64) []analysis.Curve {
	var curves []analysis.Curve
	for _, p := range protocols {
		for _, s := range []string{"traditional", "continuous"} {
			c := analysis.Curve{Strategy: s, Protocol: p, Topology: "direct"}
			for _, d := range delaysOf(0.2, to, 0.05) {
				c.Delay = append(c.Delay, d)
				c.Wasted = append(c.Wasted, meanWasted(s, p, d))
			}
			curves = append(curves, c)
		}
	}
	return curves
}

// viceResult is six slow panels before six fast ones, with bystanders: by the six slots of HTTP/1.1, continuous holds up
// all that comes after until the slow panels are done.
func viceResult() analysis.Analysis {
	a := analysis.Analysis{Scenario: "http1-vice", Health: analysis.Health{Healthy: true}}
	for _, c := range []struct {
		strategy, protocol          string
		slow, fast, bystander, half float64
	}{
		{"traditional", "http1", 10.704, 1.304, 0.0021, 0.0002},
		{"continuous", "http1", 10.006, 10.008, 4.93, 0.61},
		{"traditional", "h2", 10.703, 1.104, 0.0019, 0.0001},
		{"continuous", "h2", 10.004, 1.004, 0.0022, 0.0001},
	} {
		cell := analysis.Cell{
			Delay: 10, Strategy: c.strategy, Protocol: c.protocol, Topology: "direct", Trials: 7, Finished: 7,
			Wasted: analysis.Wasted{Mean: ptr(1.0)},
			Groups: []analysis.Group{
				{Name: "slow", Delay: 10, Panels: 6, Delivered: around(c.slow, 0.003)},
				{Name: "fast", Delay: 1, Panels: 6, Delivered: around(c.fast, 0.004)},
			},
			Bystanders: &analysis.Bystanders{Sent: 140, Latency: analysis.Tail{Interval: around(c.bystander, c.half)}},
		}
		cell.Load.Interval = around(max(c.slow, c.fast), 0.003)
		a.Cells = append(a.Cells, cell)
	}
	return a
}

// fallOf is one load of 10 panels: a millisecond of network each way and half of one in the server.
func fallOf(strategy, protocol string, delay float64, n int) analysis.Waterfall {
	w := analysis.Waterfall{Strategy: strategy, Protocol: protocol, Topology: "direct", Delay: delay}
	for i := range n {
		var l analysis.Lane
		at := 0.0
		span := func(to float64, a analysis.Activity) {
			if to > at {
				l.Spans = append(l.Spans, analysis.Span{From: at, To: to, Activity: a})
				at = to
			}
		}
		l.Group = "panels"
		early, late := delivered(strategy, protocol, delay)
		end := early
		if protocol == "http1" && i >= 6 {
			span(slotWait, analysis.Slot)
			end = late
		}
		span(at+0.0007, analysis.Network)
		span(at+delay, analysis.Useful)
		span(end, analysis.Sleep)
		span(at+0.0004, analysis.Network)
		span(at+0.0005, analysis.Server)
		span(at+0.0006, analysis.Network)
		w.Lanes = append(w.Lanes, l)
	}
	return w
}

// viceFall is a load of the vice scenario under continuous polling on HTTP/1.1: the fast panels wait for a slot.
func viceFall() analysis.Waterfall {
	w := analysis.Waterfall{Strategy: "continuous", Protocol: "http1", Topology: "direct", Delay: 10}
	lane := func(group string, spans ...analysis.Span) {
		w.Lanes = append(w.Lanes, analysis.Lane{Group: group, Spans: spans})
	}
	for range 6 {
		lane("slow", analysis.Span{From: 0, To: 0.001, Activity: analysis.Network}, analysis.Span{From: 0.001, To: 10.001, Activity: analysis.Useful},
			analysis.Span{From: 10.001, To: 10.002, Activity: analysis.Network})
	}
	for range 6 {
		lane("fast", analysis.Span{From: 0, To: 0.2, Activity: analysis.Slot}, analysis.Span{From: 0.2, To: 0.201, Activity: analysis.Network},
			analysis.Span{From: 0.201, To: 1.201, Activity: analysis.Useful}, analysis.Span{From: 1.201, To: 10.002, Activity: analysis.Slot},
			analysis.Span{From: 10.002, To: 10.003, Activity: analysis.Network}, analysis.Span{From: 10.003, To: 10.004, Activity: analysis.Server})
	}
	return w
}

var both = []string{"http1", "h2"}

// whole is the reproduction's result: 23 whole seconds, both protocols, seven repeats.
func whole() analysis.Analysis { return sweep("sawtooth", delaysOf(1, 23, 1), both, 7) }

// dense is the result with 221 delays and one load each.
func dense() analysis.Analysis {
	return sweep("sawtooth-fine", delaysOf(1, 23, 0.1), []string{"h2"}, 1)
}
