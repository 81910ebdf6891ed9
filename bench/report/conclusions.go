package report

import (
	"fmt"
	"slices"

	"pollbench/bench/analysis"
)

// conclusions are the sentences under the tables.
func conclusions(a analysis.Analysis) []string {
	var lines []string
	for _, s := range a.Summary {
		if s.Mean == nil {
			continue
		}
		line := faster(a, s)
		if s.Mix != nil {
			line = gained(a, s)
		}
		if s.Wasted.P99 != nil {
			line += fmt.Sprintf(" and %s at p99", duration(s.Wasted.P99))
		}
		lines = append(lines, line)
	}
	lines = append(lines, harms(a)...)
	return append(lines, explained(a), health(a.Health))
}

func faster(a analysis.Analysis, s analysis.Summary) string {
	line := fmt.Sprintf("%s: %s loads faster than %s by %s", hop{s.Protocol, s.Topology}.name(a), s.Other, s.Base, percent(s.Mean))
	if loss := -*s.Mean; loss >= noLoss {
		line = fmt.Sprintf("%s: %s loads slower than %s by %s", hop{s.Protocol, s.Topology}.name(a), s.Other, s.Base, percent(&loss))
		if loss := -*s.Max; *s.Mean != *s.Max && loss >= noLoss {
			line += fmt.Sprintf(" on average and %s at least (at %s)", percent(&loss), delay(*s.MaxAt))
		} else if *s.Mean != *s.Max {
			line += fmt.Sprintf(" on average, and at best faster by %s (at %s)", percent(s.Max), delay(*s.MaxAt))
		}
	} else if *s.Mean != *s.Max {
		line += fmt.Sprintf(" on average and %s at most (at %s)", percent(s.Max), delay(*s.MaxAt))
	}
	return line + fmt.Sprintf("; %s wastes %s per search at the median", s.Other, duration(s.Wasted.Median))
}

// noLoss rounds to nothing.
const noLoss = 0.0005

// explained says of how many cells the model knew the outcome.
func explained(a analysis.Analysis) string {
	var explained, known, finished int
	for _, c := range a.Cells {
		if c.Finished > 0 {
			finished++
		}
		if c.Expected() {
			known++
			if c.Explained() {
				explained++
			}
		}
	}
	line := fmt.Sprintf("the model explains %d of %d cells (load time within the interval or 10 ms)", explained, known)
	if known < finished {
		line += fmt.Sprintf("; of %d more it expects nothing", finished-known)
	}
	return line
}

// harms names what became slower while, perhaps, the load became faster: a group of panels or the last tab by a tenth or more, bystanders by a tenth of
// a second.
func harms(a analysis.Analysis) []string {
	var lines []string
	for _, s := range a.Summary {
		for _, c := range a.Cells {
			if hopOf(c) != (hop{s.Protocol, s.Topology}) || c.Strategy != s.Other {
				continue
			}
			i := slices.IndexFunc(a.Cells, func(b analysis.Cell) bool {
				return hopOf(b) == hopOf(c) && b.Strategy == s.Base && slices.EqualFunc(b.Groups, c.Groups, sameSearches)
			})
			if i >= 0 {
				where := fmt.Sprintf("%s at %s", hopOf(c).name(a), delay(c.Delay))
				lines = append(lines, harmed(where, c, a.Cells[i])...)
			}
		}
	}
	return lines
}

func sameSearches(a, b analysis.Group) bool { return a.Name == b.Name && a.Delay == b.Delay }

func harmed(where string, c, base analysis.Cell) []string {
	var lines []string
	for i, g := range c.Groups {
		if b := base.Groups[i].Delivered.Median; len(c.Groups) > 1 && slower(g.Delivered.Median, b) {
			lines = append(lines, fmt.Sprintf("%s: under %s the %s panels, of %s, were there after %s; under %s after %s",
				where, c.Strategy, g.Name, delay(g.Delay), duration(g.Delivered.Median), base.Strategy, duration(b)))
		}
	}
	if n := len(c.Tabs); n > 0 && slower(c.Tabs[n-1].Load.Median, base.Tabs[n-1].Load.Median) {
		lines = append(lines, fmt.Sprintf("%s: under %s the last of %d tabs loaded in %s; under %s in %s",
			where, c.Strategy, n, duration(c.Tabs[n-1].Load.Median), base.Strategy, duration(base.Tabs[n-1].Load.Median)))
	}
	if c.Bystanders == nil || base.Bystanders == nil || len(c.Groups) == 1 && len(c.Tabs) == 0 {
		return lines
	}
	own, other := c.Bystanders.Latency.Median, base.Bystanders.Latency.Median
	if own != nil && other != nil && *own > *other+0.1 {
		lines = append(lines, fmt.Sprintf("%s: under %s small requests of the page took %s; under %s %s",
			where, c.Strategy, duration(own), base.Strategy, duration(other)))
	}
	return lines
}

func slower(own, base *float64) bool { return own != nil && base != nil && *own > 1.1**base }

// health says in one line how well the machine kept up.
func health(h analysis.Health) string {
	verdict := "healthy"
	if !h.Healthy {
		verdict = "not healthy"
	}
	return fmt.Sprintf("%s run: timers late by %s (p99), processor %.0f %% busy, starts at most %s late; the process used %.2f cores and %.0f MiB",
		verdict, millis(h.LatenessP99), h.CPU*100, millis(h.LateStart), h.OwnCores, float64(h.Memory)/(1<<20))
}
