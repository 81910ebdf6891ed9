package analysis

import (
	"fmt"
	"slices"
	"time"

	"pollbench/bench/model"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// expectation is what the model says of a cell.
type expectation struct {
	model   Model
	longest float64 // load of any repeat, in seconds; the ideal where nothing is expected
	lacks   string  // why numbers are missing, or are not of all repeats
}

// forecast plays repeats of a cell, each once.
type forecast struct {
	cell     *cell
	scenario scenario.Scenario
	rtt      time.Duration
	played   map[int]model.Load
}

func (f forecast) of(repeat int) model.Load {
	if !f.scenario.Drawn() {
		repeat = 1
	}
	l, ok := f.played[repeat]
	if !ok {
		l = model.Simulate(f.scenario, f.cell.swept, repeat, f.cell.variant, f.rtt)
		f.played[repeat] = l
	}
	return l
}

// expect plays the cell's loads in virtual time: without latency, and at the run's own round trip where that is known. Numbers of several
// repeats are of the finished ones, to be held against what was measured; of all if none has finished.
func (c *cell) expect(s scenario.Scenario, trips map[hop]time.Duration) expectation {
	var e expectation
	repeats := dashboardsOf(s)
	for _, repeat := range repeats {
		e.longest = max(e.longest, s.Ideal(c.swept, repeat).Seconds())
	}
	if ok, reason := model.Expects(s, c.variant); !ok {
		e.lacks = "no expectation: " + reason
		return e
	}
	ideal := forecast{c, s, 0, map[int]model.Load{}}
	rtt, known := trips[c.hop]
	real := forecast{c, s, rtt, map[int]model.Load{}}
	for _, repeat := range repeats {
		e.longest = max(e.longest, ideal.of(repeat).Time().Seconds())
	}
	if s.Drawn() && len(c.finished) > 0 {
		repeats = nil
		for _, t := range c.finished {
			repeats = append(repeats, t.Repeat)
		}
	}
	fails := func(repeat int) bool { return ideal.of(repeat).Failed() || known && real.of(repeat).Failed() }
	good := slices.DeleteFunc(slices.Clone(repeats), fails)
	if n := len(repeats) - len(good); n > 0 {
		e.lacks = failure(ideal.of(repeats[0]))
		if s.Drawn() {
			e.lacks = fmt.Sprintf("the model expects failure: of %d of %d %s", n, len(repeats), plural(len(repeats), "load"))
		}
	}
	if len(good) == 0 {
		return e
	}
	e.model.Load, e.model.Wasted = numbers(ideal, good)
	if known {
		e.model.LoadRTT, e.model.WastedRTT = numbers(real, good)
		e.model.Difference = interval(c.values(func(t record.Trial) *float64 {
			if fails(t.Repeat) {
				return nil
			}
			return ptr(loadTime(t) - real.of(t.Repeat).Time().Seconds())
		}))
	}
	return e
}

func failure(l model.Load) string {
	var failed int
	for _, p := range l.Panels {
		if p.Failed {
			failed++
		}
	}
	return fmt.Sprintf("the model expects failure: of %d of %d %s", failed, len(l.Panels), plural(len(l.Panels), "search"))
}

// numbers are the median load of those repeats and the wasted time of all their searches.
func numbers(f forecast, repeats []int) (load *float64, waste ModelWasted) {
	var loads, all []float64
	for _, repeat := range repeats {
		l := f.of(repeat)
		loads = append(loads, l.Time().Seconds())
		for _, w := range l.Wasted() {
			all = append(all, w.Seconds())
		}
	}
	return median(loads), ModelWasted{Median: median(all), Mean: mean(all)}
}

// explainedWithin is how far from its expectation a cell's median may be when its interval does not reach it.
const explainedWithin = 0.010

// Explained tells whether the model accounts for the cell's load time; false, too, if it has no expectation or nothing has finished.
func (c Cell) Explained() bool {
	d := c.Model.Difference
	if d.Median == nil {
		return false
	}
	if *d.Median >= -explainedWithin && *d.Median <= explainedWithin {
		return true
	}
	return d.Lo != nil && *d.Lo <= 0 && 0 <= *d.Hi
}

// Expected tells whether there is something to hold the cell's load time against.
func (c Cell) Expected() bool { return c.Model.Difference.Median != nil }

// doubts are the warnings that stand beside a cell's numbers.
func doubts(c Cell, e expectation) []string {
	var w []string
	if e.lacks != "" {
		w = append(w, e.lacks)
	}
	switch {
	case c.Finished == 0:
		return append(w, "no finished trial")
	case c.Finished < minInterval:
		w = append(w, fmt.Sprintf("no 95 %% interval: %d finished %s, %d needed", c.Finished, plural(c.Finished, "trial"), minInterval))
	}
	if c.Failed > 0 {
		w = append(w, fmt.Sprintf("%d of %d trials failed and do not count", c.Failed, c.Trials))
	}
	if c.ProtocolSeen != nil && *c.ProtocolSeen != c.Protocol {
		w = append(w, fmt.Sprintf("answers came over %s, not over %s", *c.ProtocolSeen, c.Protocol))
	}
	if c.Expected() && !c.Explained() {
		w = append(w, fmt.Sprintf("not explained: the load took %+.1f ms against the model", *c.Model.Difference.Median*1e3))
	}
	return w
}

func plural(n int, word string) string {
	switch {
	case n == 1:
		return word
	case word == "search":
		return "searches"
	}
	return word + "s"
}
