package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

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

// tables are what a person reads: loads by delay for each protocol, groups and bystanders where there are any, and where
// the wasted time went.
func tables(a analysis.Analysis) []table {
	var all []table
	for _, p := range protocols(a) {
		all = append(all, loads(a, p))
	}
	if grouped(a) {
		all = append(all, groups(a))
	}
	return append(all, wasted(a))
}

func protocols(a analysis.Analysis) []string {
	return distinct(a, func(c analysis.Cell) string { return c.Protocol })
}

func strategies(a analysis.Analysis) []string {
	return distinct(a, func(c analysis.Cell) string { return c.Strategy })
}

func distinct(a analysis.Analysis, of func(analysis.Cell) string) []string {
	var all []string
	for _, c := range a.Cells {
		if v := of(c); !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// grouped tells whether any cell has more to show than its load.
func grouped(a analysis.Analysis) bool {
	return slices.ContainsFunc(a.Cells, func(c analysis.Cell) bool { return len(c.Groups) > 1 })
}

// loads has a row for each delay: every strategy's load time, its distance from the model and its wasted time, then the speed-ups.
// Cells stand in the order of the analysis: of one protocol, the strategies of one delay follow each other.
func loads(a analysis.Analysis, p string) table {
	names := strategies(a)
	t := table{title: protocol(p) + ": load time (median), its distance from the model, wasted time per search (mean)"}
	t.header = []string{"delay"}
	for _, name := range names {
		t.header = append(t.header, name, "to model", "wasted")
	}
	var comparisons []analysis.Comparison
	for _, c := range a.Comparisons {
		if c.Protocol == p && c.Group == nil {
			comparisons = append(comparisons, c)
		}
	}
	others := len(names) - 1
	rows := 0 // in all, those left out too
	few := brief(a, p)
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
		if c.Protocol != p {
			continue
		}
		if row == nil {
			row = []string{delayOf(a, c)}
		}
		row = append(row, load(c.Load.Median), difference(c.Load.Median, c.Model.LoadRTT), duration(c.Wasted.Mean))
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
func brief(a analysis.Analysis, p string) func(analysis.Cell) bool {
	var delays int
	for _, c := range a.Cells {
		if c.Protocol == p && c.Strategy == a.Cells[0].Strategy {
			delays++
		}
	}
	if delays <= tooMany {
		return nil
	}
	return func(c analysis.Cell) bool { return c.Delay == math.Trunc(c.Delay) }
}

// delayOf names a cell by its longest delay, and by the swept group's where that is another one.
func delayOf(a analysis.Analysis, c analysis.Cell) string {
	for i, g := range c.Groups {
		swept := slices.ContainsFunc(a.Cells, func(o analysis.Cell) bool { return o.Groups[i].Delay != g.Delay })
		if swept && g.Delay != c.Delay {
			return fmt.Sprintf("%s (%s %s)", delay(c.Delay), g.Name, delay(g.Delay))
		}
	}
	return delay(c.Delay)
}

// groups has a row for each cell: when its groups of panels were there, and how long the bystanders took.
func groups(a analysis.Analysis) table {
	t := table{title: "groups of panels (delivered, median) and bystanders (latency, from the intended start)"}
	t.header = []string{"delay", "protocol", "strategy"}
	for _, g := range a.Cells[0].Groups {
		t.header = append(t.header, fmt.Sprintf("%d %s", g.Panels, g.Name))
	}
	t.header = append(t.header, "bystanders", "p95", "of it slot (mean)")
	for _, c := range a.Cells {
		row := []string{delayOf(a, c), protocol(c.Protocol), c.Strategy}
		for _, g := range c.Groups {
			row = append(row, duration(g.Delivered.Median))
		}
		if b := c.Bystanders; b != nil {
			row = append(row, duration(b.Latency.Median), duration(b.Latency.P95), duration(b.Slot))
		} else {
			row = append(row, none, none, none)
		}
		t.add(row...)
	}
	return t
}

// wasted says, for each variant over all its delays, where the wasted time went and what the waiting cost in requests.
func wasted(a analysis.Analysis) table {
	t := table{title: "wasted time per search over all delays (mean), by what the browser was doing; latency of bystanders, the page's small requests"}
	t.header = []string{"protocol", "strategy", "wasted", "sleep", "slot", "network", "server", "bystanders", "requests per search", "connections"}
	for _, p := range protocols(a) {
		for _, name := range strategies(a) {
			var cells []analysis.Cell
			for _, c := range a.Cells {
				if c.Protocol == p && c.Strategy == name && c.Finished > 0 {
					cells = append(cells, c)
				}
			}
			if len(cells) == 0 {
				continue
			}
			row := []string{protocol(p), name}
			for _, part := range []func(analysis.Cell) *float64{
				func(c analysis.Cell) *float64 { return c.Wasted.Mean },
				func(c analysis.Cell) *float64 { return c.Wasted.Sleep },
				func(c analysis.Cell) *float64 { return c.Wasted.Slot },
				func(c analysis.Cell) *float64 { return c.Wasted.Network },
				func(c analysis.Cell) *float64 { return c.Wasted.Server },
			} {
				m := meanOf(cells, part)
				row = append(row, duration(&m))
			}
			row = append(row, small(cells))
			requests := meanOf(cells, func(c analysis.Cell) *float64 { return c.RequestsPerSearch })
			t.add(append(row, fmt.Sprintf("%.1f", requests), connections(cells))...)
		}
	}
	return t
}

func meanOf(cells []analysis.Cell, of func(analysis.Cell) *float64) float64 {
	var sum float64
	for _, c := range cells {
		sum += *of(c) // a cell with a finished trial has all of these
	}
	return sum / float64(len(cells))
}

// small is the mean over the cells of the bystanders' median latency.
func small(cells []analysis.Cell) string {
	var sum float64
	var n int
	for _, c := range cells {
		if c.Bystanders != nil && c.Bystanders.Latency.Median != nil {
			sum += *c.Bystanders.Latency.Median
			n++
		}
	}
	if n == 0 {
		return none
	}
	mean := sum / float64(n)
	return duration(&mean)
}

func connections(cells []analysis.Cell) string {
	var most int
	for _, c := range cells {
		most = max(most, *c.Connections)
	}
	return strconv.Itoa(most)
}

// conclusions are the sentences under the tables.
func conclusions(a analysis.Analysis) []string {
	var lines []string
	for _, s := range a.Summary {
		if s.Mean == nil {
			continue
		}
		line := fmt.Sprintf("%s: %s loads faster than %s by %s", protocol(s.Protocol), s.Other, s.Base, percent(s.Mean))
		if *s.Mean != *s.Max {
			line += fmt.Sprintf(" on average and %s at most (at %s)", percent(s.Max), delay(*s.MaxAt))
		}
		line += fmt.Sprintf("; %s wastes %s per search at the median", s.Other, duration(s.Wasted.Median))
		if s.Wasted.P99 != nil {
			line += fmt.Sprintf(" and %s at p99", duration(s.Wasted.P99))
		}
		lines = append(lines, line)
	}
	lines = append(lines, harms(a)...)
	var explained, known int
	for _, c := range a.Cells {
		if c.Load.Median != nil && c.Model.LoadRTT != nil {
			known++
			if c.Explained() {
				explained++
			}
		}
	}
	lines = append(lines, fmt.Sprintf("the model explains %d of %d cells (load time within the interval or 10 ms)", explained, known))
	return append(lines, health(a.Health))
}

// harms names what became slower while, perhaps, the load became faster: a group of panels by a tenth or more, bystanders by a tenth of
// a second.
func harms(a analysis.Analysis) []string {
	var lines []string
	for _, s := range a.Summary {
		for _, c := range a.Cells {
			if c.Protocol != s.Protocol || c.Strategy != s.Other {
				continue
			}
			i := slices.IndexFunc(a.Cells, func(b analysis.Cell) bool {
				return b.Protocol == c.Protocol && b.Strategy == s.Base && slices.EqualFunc(b.Groups, c.Groups, sameSearches)
			})
			if i >= 0 {
				lines = append(lines, harmed(c, a.Cells[i])...)
			}
		}
	}
	return lines
}

func sameSearches(a, b analysis.Group) bool { return a.Name == b.Name && a.Delay == b.Delay }

func harmed(c, base analysis.Cell) []string {
	var lines []string
	for i, g := range c.Groups {
		b := base.Groups[i].Delivered.Median
		if len(c.Groups) > 1 && b != nil && g.Delivered.Median != nil && *g.Delivered.Median > 1.1**b {
			lines = append(lines, fmt.Sprintf("%s at %s: under %s the %s panels, of %s, were there after %s; under %s after %s",
				protocol(c.Protocol), delay(c.Delay), c.Strategy, g.Name, delay(g.Delay), duration(g.Delivered.Median), base.Strategy, duration(b)))
		}
	}
	if c.Bystanders == nil || base.Bystanders == nil || len(c.Groups) == 1 {
		return lines
	}
	own, other := c.Bystanders.Latency.Median, base.Bystanders.Latency.Median
	if own != nil && other != nil && *own > *other+0.1 {
		lines = append(lines, fmt.Sprintf("%s at %s: under %s small requests of the page took %s; under %s %s",
			protocol(c.Protocol), delay(c.Delay), c.Strategy, duration(own), base.Strategy, duration(other)))
	}
	return lines
}

// health says in one line how well the machine kept up.
func health(h analysis.Health) string {
	verdict := "healthy"
	if !h.Healthy {
		verdict = "not healthy"
	}
	return fmt.Sprintf("%s run: timers late by %s (p99), processor %.0f %% busy, starts at most %s late; the process used %.2f cores and %.0f MiB",
		verdict, millis(h.LatenessP99), h.CPU*100, millis(h.LateStart), h.OwnCores, float64(h.Memory)/(1<<20))
}
