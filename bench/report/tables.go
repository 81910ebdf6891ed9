package report

import (
	"fmt"
	"math"
	"slices"

	"pollbench/bench/analysis"
)

func headline(a analysis.Analysis) string {
	var trials, finished int
	for _, c := range a.Cells {
		trials += c.Trials
		finished += c.Finished
	}
	return fmt.Sprintf("%s, seed %d: %d of %d loads finished in %s; the longest single load takes %s by the model",
		a.Scenario, a.Seed, finished, trials, load(a.Wall), load(&a.IdealWall))
}

// tables are what a person reads: loads by delay for each protocol and topology, or over the mix where delays are drawn; groups, tabs and outcomes
// where there is something to tell; and where the wasted time went.
func tables(a analysis.Analysis) []table {
	all := loadTables(a)
	if grouped(a) {
		all = append(all, groups(a))
	}
	if slices.ContainsFunc(a.Cells, func(c analysis.Cell) bool { return len(c.Tabs) > 0 }) {
		all = append(all, tabs(a))
	}
	if t := outcomes(a); len(t.rows) > 0 {
		all = append(all, t)
	}
	return append(all, wasted(a))
}

func loadTables(a analysis.Analysis) []table {
	if drawn(a) {
		return []table{mixture(a)}
	}
	var all []table
	for _, h := range hops(a) {
		all = append(all, loads(a, h))
	}
	return all
}

// loads has a row for each delay: every strategy's load time, its distance from the model and its wasted time, then the speed-ups.
// Cells stand in the order of the analysis: of one hop, the strategies of one delay follow each other.
func loads(a analysis.Analysis, h hop) table {
	names := strategies(a)
	t := table{title: h.name(a) + ": load time (median), its distance from the model, wasted time per search (mean)"}
	t.header = []string{"delay"}
	for _, name := range names {
		t.header = append(t.header, name, "to model", "wasted")
	}
	var comparisons []analysis.Comparison
	for _, c := range a.Comparisons {
		if (hop{c.Protocol, c.Topology}) == h && c.Group == nil {
			comparisons = append(comparisons, c)
		}
	}
	others := len(names) - 1
	rows := 0 // in all, those left out too
	few := brief(a, h)
	if few != nil {
		t.title += "; at whole seconds, report --format csv has all"
	}
	for _, name := range names {
		if len(comparisons) > 0 && name != comparisons[0].Base {
			t.header = append(t.header, "speed-up of "+name)
		}
	}
	var row []string
	for _, c := range a.Cells {
		if hopOf(c) != h {
			continue
		}
		if row == nil {
			row = []string{delayOf(a, c)}
		}
		row = append(row, load(c.Load.Median), difference(c.Model.Difference.Median), duration(c.Wasted.Mean))
		if len(row) < 1+3*len(names) {
			continue
		}
		// The analysis lists comparisons strategy by strategy, each over all delays.
		for i := range others {
			x := comparisons[i*len(comparisons)/max(others, 1)+rows]
			row = append(row, percents(x.Speedup, x.Lo, x.Hi))
		}
		if few == nil || few(c) {
			t.rows = append(t.rows, row)
		}
		rows++
		row = nil
	}
	return t
}

// tooMany rows are more than anybody reads on a terminal.
const tooMany = 60

// brief says which delays are shown of a sweep that has too many: those of whole seconds. It is nil if all are.
func brief(a analysis.Analysis, h hop) func(analysis.Cell) bool {
	var delays int
	for _, c := range a.Cells {
		if hopOf(c) == h && c.Strategy == a.Cells[0].Strategy {
			delays++
		}
	}
	if delays <= tooMany {
		return nil
	}
	return func(c analysis.Cell) bool { return c.Delay == math.Trunc(c.Delay) }
}

// delayOf names a cell by its longest delay, and by the swept group's where that is another one. Where delays are drawn, the longest is but a median: then
// by the swept group's, if there is one.
func delayOf(a analysis.Analysis, c analysis.Cell) string {
	for i, g := range c.Groups {
		swept := slices.ContainsFunc(a.Cells, func(o analysis.Cell) bool { return o.Groups[i].Delay != g.Delay })
		if swept && !g.Drawn && c.Drawn() {
			return g.Name + " " + delay(g.Delay)
		}
		if swept && g.Delay != c.Delay {
			return fmt.Sprintf("%s (%s %s)", delay(c.Delay), g.Name, delay(g.Delay))
		}
	}
	if c.Drawn() {
		return aMedian + duration(&c.Delay)
	}
	return delay(c.Delay)
}

// aMedian stands before a delay that is not exact.
const aMedian = "median "
