package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pollbench/bench/analysis"
)

// name is the run's scenario, and what it was played against if that is not the embedded server.
func (r Run) name() string {
	if on := r.Environment.Backend.On(); on != "" {
		return r.Scenario + " on " + on
	}
	return r.Scenario
}

// real sets a run on a real Elasticsearch beside the same scenario on the embedded one, if that is there.
func (w *page) real(r Run) {
	b := r.Environment.Backend
	w.line("## %s %s: %s\n", b.Product, b.Version, r.name())
	w.line("The same dashboards, strategies and browser, with a real server behind them. %s.\n", headline(r.Analysis))
	w.line("| | |")
	w.line("|:--|:--|")
	w.line("| delays by | %s |", map[string]string{"server": "the server's own aggregation `shard_delay`", "gate": "a delay gate in front of the server"}[b.DelayImplementer])
	w.line("| *ready* is known to | %s |", millis(b.ReadyResolution))
	if c := b.ServerClock; c != nil {
		w.line("| the server's clock is read to | ± %s |", millis(c.Uncertainty))
	}
	if p := b.SearchPool; p != nil && p.Size > 0 {
		w.line("| search threads | %d |", p.Size)
	}
	w.line("")
	w.chart(&r, "sawtooth-h2", "Wasted time against query delay over h2 on "+b.Product)
	w.chart(&r, "load-h2", "Load times over h2 on "+b.Product)
	if !slices.ContainsFunc(r.Charts, func(c Chart) bool { return c.Name == "load-h2" }) { // nothing is swept: then one load says most
		for _, s := range strategies(r.Analysis) {
			w.chart(&r, "waterfall-"+s+"-h2", fmt.Sprintf("One dashboard load under %s over h2 on %s, panel by panel", s, b.Product))
		}
	}
	stand := w.run(r.Scenario)
	if stand == nil {
		for _, t := range tables(r.Analysis) {
			w.line("### %s\n\n%s", t.title, t.markdown())
		}
	} else {
		for _, h := range hops(r.Analysis) {
			t := beside(stand.Analysis, r.Analysis, h)
			w.line("### %s\n\n%s", t.title, t.markdown())
		}
		t := added(stand.Analysis, r.Analysis)
		w.line("### %s\n\n%s", t.title, t.markdown())
	}
	w.line("- %s.", distance(r.Analysis))
	if stand != nil {
		w.line("- %s.", changed(stand.Analysis, r.Analysis))
	}
	for _, line := range conclusions(r.Analysis) {
		w.line("- %s.", line)
	}
	w.line("")
}

// beside has a row for each delay: each strategy's load on the stand-in and on the real server, and how far the latter is from the model; then both
// speed-ups.
func beside(stand, real analysis.Analysis, h hop) table {
	t := table{title: h.name(real) + ": load time (median) on the stand-in and on the real server, whose distance from the model, and what continuous polling gains"}
	t.header = []string{"delay"}
	names := strategies(real)
	for _, name := range names {
		t.header = append(t.header, name+", stand-in", "real", "to model")
	}
	t.header = append(t.header, "speed-up, stand-in", "real")
	for _, delayed := range distinct(h.cells(real, names[0]), func(c analysis.Cell) float64 { return c.Delay }) {
		row := []string{delay(delayed)}
		for _, name := range names {
			there := cellAt(real, h, name, delayed)
			row = append(row, load(cellAt(stand, h, name, delayed).Load.Median), load(there.Load.Median), difference(there.Model.Difference.Median))
		}
		for _, a := range []analysis.Analysis{stand, real} {
			x := comparisonAt(a, analysis.Comparison{Protocol: h.protocol, Topology: h.topology, Delay: delayed, Base: names[0], Other: names[len(names)-1]})
			row = append(row, percents(x.Speedup, x.Lo, x.Hi))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// cellAt is a cell without numbers if there is none.
func cellAt(a analysis.Analysis, h hop, strategy string, delay float64) analysis.Cell {
	for _, c := range a.Cells {
		if hopOf(c) == h && c.Strategy == strategy && c.Delay == delay {
			return c
		}
	}
	return analysis.Cell{}
}

// comparisonAt is the comparison of loads of the same strategies in the same cell; one without numbers if there is none.
func comparisonAt(a analysis.Analysis, like analysis.Comparison) analysis.Comparison {
	for _, c := range a.Comparisons {
		if c.Group == nil && c.Protocol == like.Protocol && c.Topology == like.Topology && c.Delay == like.Delay && c.Base == like.Base && c.Other == like.Other {
			return c
		}
	}
	return analysis.Comparison{}
}

// added is what the real server adds to each search.
func added(stand, real analysis.Analysis) table {
	t := table{title: "What the real server adds: wasted time per search over all delays (mean), on the stand-in and on the real server"}
	t.header = slices.Concat(hopHeader(real), []string{"strategy", "server, stand-in", "real", "network, stand-in", "real", "sleep, stand-in", "real", "slot, stand-in", "real"})
	for _, h := range hops(real) {
		for _, name := range strategies(real) {
			on, off := h.cells(real, name), h.cells(stand, name)
			if len(on) == 0 || len(off) == 0 {
				continue
			}
			row := append(h.columns(real), name)
			for _, part := range []func(analysis.Cell) *float64{
				func(c analysis.Cell) *float64 { return c.Wasted.Server },
				func(c analysis.Cell) *float64 { return c.Wasted.Network },
				func(c analysis.Cell) *float64 { return c.Wasted.Sleep },
				func(c analysis.Cell) *float64 { return c.Wasted.Slot },
			} {
				before, now := meanOf(off, part), meanOf(on, part)
				row = append(row, duration(&before), duration(&now))
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// aSleep is a difference that only another number of sleeps makes, in seconds: the shortest of traditional polling's.
const aSleep = 0.3

// distance says how far the cells are from the model.
func distance(a analysis.Analysis) string {
	var all []float64
	for _, c := range a.Cells {
		if c.Expected() {
			all = append(all, math.Abs(*c.Model.Difference.Median))
		}
	}
	if len(all) == 0 {
		return "the model expects nothing of these loads"
	}
	slices.Sort(all)
	line := fmt.Sprintf("a cell's load differs from the model's by %s at the median of %d cells, %s at most", millis(all[len(all)/2]), len(all), duration(&all[len(all)-1]))
	if all[len(all)-1] > aSleep {
		line += "; where a search is ready at about the instant at which it is asked for, a poll that comes some milliseconds later finds it, and saves a whole sleep, or costs one that comes sooner"
	}
	return line
}

// changed tells which comparisons end otherwise on the real server, and which of the others tell of another gain there, or of none that can be relied on.
func changed(stand, real analysis.Analysis) string {
	var same, untold int
	var others, moved, unsure []string
	for _, x := range real.Comparisons {
		if x.Group != nil {
			continue
		}
		y := comparisonAt(stand, x)
		if x.Speedup == nil || y.Speedup == nil {
			untold++
			continue
		}
		at := fmt.Sprintf("%s at %s", hop{x.Protocol, x.Topology}.name(real), delay(x.Delay))
		if verdict(x) != verdict(y) {
			others = append(others, fmt.Sprintf("%s: %s on the stand-in, %s on the real server", at, verdict(y), verdict(x)))
			continue
		}
		same++
		gains := fmt.Sprintf("%s: %s on the stand-in, %s on the real server", at, percents(y.Speedup, y.Lo, y.Hi), percents(x.Speedup, x.Lo, x.Hi))
		switch {
		case verdict(x) != noDifference && vague(x):
			unsure = append(unsure, gains)
		case math.Abs(*x.Speedup-*y.Speedup) > otherGain && disjoint(x, y):
			moved = append(moved, gains)
		}
	}
	var line string
	switch {
	case same+len(others) == 0:
		return "no cell can be compared: none has numbers on both servers"
	case len(others) == 0:
		line = fmt.Sprintf("which strategy is faster does not change: cells compared %d, with another verdict on the real server 0", same)
	default:
		line = fmt.Sprintf("which strategy is faster changes: cells compared %d, with another verdict on the real server %d: %s", same+len(others), len(others), strings.Join(others, "; "))
	}
	if len(moved) > 0 {
		line += "; by how much does: " + strings.Join(moved, "; ")
	}
	if len(unsure) > 0 {
		line += "; by how much cannot be relied on where the loads of one strategy lie far apart: " + strings.Join(unsure, "; ")
	}
	if untold > 0 {
		line += fmt.Sprintf("; without numbers on one of them %d", untold)
	}
	return line
}

// otherGain is by how much two speed-ups differ that tell of different gains.
const otherGain = 0.03

// disjoint tells whether the intervals of two comparisons have nothing in common; without them, numbers speak for themselves.
func disjoint(x, y analysis.Comparison) bool {
	if x.Lo == nil || x.Hi == nil || y.Lo == nil || y.Hi == nil {
		return true
	}
	return *x.Lo > *y.Hi || *y.Lo > *x.Hi
}

// vague tells whether a gain that is there has an interval which leaves open how large it is.
func vague(c analysis.Comparison) bool {
	if c.Lo == nil || c.Hi == nil {
		return false
	}
	width := *c.Hi - *c.Lo
	return width > otherGain && width > math.Abs(*c.Speedup)/2
}

// noDifference is the verdict where nothing is beyond noise.
const noDifference = "no difference"

// verdict is what a comparison says.
func verdict(c analysis.Comparison) string {
	switch {
	case !beyond(c.Speedup, c.Lo, c.Hi):
		return noDifference
	case *c.Speedup > 0:
		return "faster"
	}
	return "slower"
}
