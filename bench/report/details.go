package report

import (
	"fmt"
	"slices"
	"strconv"

	"pollbench/bench/analysis"
)

// grouped tells whether any cell has more to show than its load.
func grouped(a analysis.Analysis) bool {
	return slices.ContainsFunc(a.Cells, func(c analysis.Cell) bool { return len(c.Groups) > 1 })
}

// groups has a row for each cell: when its groups of panels were there, and how long the bystanders took.
func groups(a analysis.Analysis) table {
	t := table{title: "groups of panels (delivered, median) and bystanders (latency, from the intended start)"}
	t.header = slices.Concat([]string{"delay"}, hopHeader(a), []string{"strategy"})
	for _, g := range a.Cells[0].Groups {
		t.header = append(t.header, fmt.Sprintf("%d %s", g.Panels, g.Name))
	}
	t.header = append(t.header, "bystanders", "p95", "wait for a slot (mean)")
	for _, c := range a.Cells {
		row := slices.Concat([]string{delayOf(a, c)}, hopOf(c).columns(a), []string{c.Strategy})
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

// mostTabs are as many as have a column each; of more, the first, the middle one and the last do.
const mostTabs = 6

// tabs has a row for each cell: the load time of each of the browser's tabs, and what its last one suffers.
func tabs(a analysis.Analysis) table {
	t := table{title: "tabs (load time from the tab's own start, median), and the last one's wasted time per search (mean) and bystanders (latency)"}
	t.header = slices.Concat([]string{"delay"}, hopHeader(a), []string{"strategy"})
	n := len(a.Cells[0].Tabs)
	var shown []int
	for i := range n {
		if n <= mostTabs || i == 0 || i == n/2 || i == n-1 {
			shown = append(shown, i)
			t.header = append(t.header, fmt.Sprintf("tab %d", i+1))
		}
	}
	t.header = append(t.header, "last: wasted", "of it slot", "bystanders")
	for _, c := range a.Cells {
		row := slices.Concat([]string{delayOf(a, c)}, hopOf(c).columns(a), []string{c.Strategy})
		for _, i := range shown {
			row = append(row, load(c.Tabs[i].Load.Median))
		}
		last := c.Tabs[n-1]
		t.add(append(row, duration(last.Wasted.Mean), duration(last.Wasted.Slot), duration(last.Bystanders.Median))...)
	}
	return t
}

// outcomes has a row for each variant of whose searches not all went well at once; none if all did.
func outcomes(a analysis.Analysis) table {
	t := table{title: "searches that failed, that the browser gave up, or that a hidden tab cancelled; failed polls asked again"}
	t.header = slices.Concat(hopHeader(a), []string{"strategy", "searches", "failed", "timed out", "hidden", "retries", "delivered", "loads finished"})
	for _, h := range hops(a) {
		for _, name := range strategies(a) {
			var o analysis.Outcomes
			var finished, ended int
			for _, c := range a.Cells {
				if hopOf(c) != h || c.Strategy != name {
					continue
				}
				o.OK += c.Outcomes.OK
				o.Failed += c.Outcomes.Failed
				o.TimedOut += c.Outcomes.TimedOut
				o.Hidden += c.Outcomes.Hidden
				o.Retries += c.Outcomes.Retries
				finished += c.Finished
				ended += c.Finished + c.Failed
			}
			all := o.OK + o.Failed + o.TimedOut + o.Hidden
			if all == o.OK && o.Retries == 0 {
				continue
			}
			share := float64(o.OK) / float64(max(all, 1))
			t.add(slices.Concat(h.columns(a), []string{name}, counts(all, o.Failed, o.TimedOut, o.Hidden, o.Retries),
				[]string{percent(&share), fmt.Sprintf("%d of %d", finished, ended)})...)
		}
	}
	return t
}

func counts(all ...int) []string {
	var text []string
	for _, n := range all {
		text = append(text, strconv.Itoa(n))
	}
	return text
}

// wasted says, for each variant over all its delays, where the wasted time went and what the waiting cost in requests.
func wasted(a analysis.Analysis) table {
	t := table{title: "wasted time per search over all delays (mean), by what the browser was doing; latency of bystanders, the page's small requests"}
	t.header = slices.Concat(hopHeader(a), []string{"strategy", "wasted", "sleep", "slot", "network", "server", "bystanders", "requests per search", "connections"})
	for _, h := range hops(a) {
		for _, name := range strategies(a) {
			cells := h.cells(a, name)
			if len(cells) == 0 {
				continue
			}
			row := append(h.columns(a), name)
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
