package report

import (
	"fmt"
	"slices"
	"strconv"

	"pollbench/bench/analysis"
)

// drawn tells whether delays come from a distribution, so that each repeat is another dashboard.
func drawn(a analysis.Analysis) bool {
	return slices.ContainsFunc(a.Cells, analysis.Cell.Drawn)
}

// mixture has a row for each cell of a result with drawn delays: its loads over the dashboards, and what the strategy gains.
func mixture(a analysis.Analysis) table {
	t := table{title: "load times over a mix of drawn dashboards, above each one's ideal (median), wasted time per search (mean), gain on all loads together"}
	swept := slices.ContainsFunc(a.Cells, func(c analysis.Cell) bool { return delayOf(a, c) != delayOf(a, a.Cells[0]) })
	t.header = append(hopHeader(a), "strategy", "dashboards", "median", "95 % interval", "p95", "above ideal", "to model", "wasted", "gain")
	if swept {
		t.header = append([]string{"delay"}, t.header...)
	}
	for _, c := range a.Cells {
		interval := none
		if c.Load.Lo != nil {
			interval = fmt.Sprintf("%s to %s", duration(c.Load.Lo), duration(c.Load.Hi))
		}
		row := append(hopOf(c).columns(a), c.Strategy, strconv.Itoa(c.Finished), load(c.Load.Median), interval, duration(c.Load.P95),
			duration(c.Overhead.Median), difference(c.Model.Difference.Median), duration(c.Wasted.Mean), gain(a, c))
		if swept {
			row = append([]string{delayOf(a, c)}, row...)
		}
		t.add(row...)
	}
	return t
}

// gain is the cell's strategy's over the base, of all delays of a sweep.
func gain(a analysis.Analysis, c analysis.Cell) string {
	for _, s := range a.Summary {
		if (hop{s.Protocol, s.Topology}) == hopOf(c) && s.Mix != nil {
			switch c.Strategy {
			case s.Base:
				return "base"
			case s.Other:
				return percents(s.Mix.Gain, s.Mix.Lo, s.Mix.Hi)
			}
		}
	}
	return none
}

// gained says the same in a sentence.
func gained(a analysis.Analysis, s analysis.Summary) string {
	h := hop{s.Protocol, s.Topology}
	return fmt.Sprintf("%s: gain of %s over the mix %s over %d dashboards, against %s; it wastes %s per search at the median",
		h.name(a), s.Other, percents(s.Mix.Gain, s.Mix.Lo, s.Mix.Hi), s.Mix.N, s.Base, duration(s.Wasted.Median))
}
