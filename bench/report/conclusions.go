package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pollbench/bench/analysis"
)

// conclusions are the sentences under the tables.
func conclusions(a analysis.Analysis) []string {
	var lines []string
	var equal []hop
	others := map[hop][]string{}
	for _, s := range a.Summary {
		if s.Mean == nil {
			continue
		}
		if !differs(a, s) {
			h := hop{s.Protocol, s.Topology}
			if others[h] == nil {
				equal = append(equal, h)
			}
			others[h] = append(others[h], s.Other)
			continue
		}
		line := faster(a, s)
		if s.Mix != nil {
			line = gained(a, s)
		}
		if s.Wasted.P99 != nil {
			line += fmt.Sprintf(" and %s at p99", duration(s.Wasted.P99))
		}
		lines = append(lines, line+notItsOwn(a, s)+survivors(a, s))
	}
	for _, h := range equal {
		lines = append(lines, fmt.Sprintf("%s: no difference from %s beyond noise: %s", h.name(a), a.Summary[0].Base, strings.Join(others[h], ", ")))
	}
	lines = append(lines, harms(a)...)
	if line := known(a); line != "" {
		lines = append(lines, line)
	}
	return append(lines, explained(a), health(a.Health))
}

// known says what was measured against, and how well it tells when a search was ready, if that was not the embedded server.
func known(a analysis.Analysis) string {
	b := a.Environment.Backend
	on := b.On()
	if on == "" {
		return ""
	}
	line := fmt.Sprintf("on %s: %s, ready known ", on, strings.TrimSpace(b.Product+" "+b.Version))
	if b.ReadyResolution < 0.0001 {
		line += "exactly"
	} else {
		line += "to " + millis(b.ReadyResolution)
	}
	if c := b.ServerClock; c != nil {
		line += fmt.Sprintf(" by the server's clock, which is %s %s ours, ± %s", millis(math.Abs(c.Offset)), side(c.Offset), millis(c.Uncertainty))
	}
	if b.DelayImplementer == "gate" {
		line += ", delayed by a gate"
	}
	return line
}

func side(offset float64) string {
	if offset < 0 {
		return "behind"
	}
	return "ahead of"
}

// differs tells whether a strategy's load times are others than its base's by more than noise. Over a mix the interval of the gain says so. Over a sweep
// one delay has to, with a p-value that stands among as many; where there is none, by a twentieth.
func differs(a analysis.Analysis, s analysis.Summary) bool {
	if s.Mix != nil {
		return beyond(s.Mix.Gain, s.Mix.Lo, s.Mix.Hi)
	}
	var all []analysis.Comparison
	for _, c := range a.Comparisons {
		if c.Group == nil && c.Other == s.Other && (hop{c.Protocol, c.Topology}) == (hop{s.Protocol, s.Topology}) {
			all = append(all, c)
		}
	}
	return slices.ContainsFunc(all, func(c analysis.Comparison) bool {
		if c.Speedup != nil && math.Abs(*c.Speedup) < noLoss {
			return false
		}
		if c.P == nil {
			return beyond(c.Speedup, nil, nil)
		}
		return *c.P*float64(len(all)) <= 0.05 // Bonferroni's correction
	})
}

// beyond tells whether an interval leaves out zero; without an interval, whether the ratio is large enough to be told all the same.
func beyond(ratio, lo, hi *float64) bool {
	const most = 0.05
	if lo == nil || hi == nil {
		return ratio != nil && math.Abs(*ratio) >= most
	}
	return *lo > 0 || *hi < 0
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

// notItsOwn names what a strategy's searches mostly waited for, if that is nothing that a way of asking can spare them: a slot of the browser, or the server.
func notItsOwn(a analysis.Analysis, s analysis.Summary) string {
	const least = 0.01 // seconds on average; less explains nothing that anybody would ask about
	h := hop{s.Protocol, s.Topology}
	cells := h.cells(a, s.Other)
	all := meanOf(cells, func(c analysis.Cell) *float64 { return c.Wasted.Mean })
	for _, part := range []struct {
		name string
		mean float64
	}{
		{"waiting for a connection", meanOf(cells, func(c analysis.Cell) *float64 { return c.Wasted.Slot })},
		{"the server's", meanOf(cells, func(c analysis.Cell) *float64 { return c.Wasted.Server })},
	} {
		if part.mean >= least && part.mean > all/2 {
			return fmt.Sprintf(" (of %s on average, %s are %s)", duration(&all), duration(&part.mean), part.name)
		}
	}
	return ""
}

// survivors says how many loads failed, of which the statistics know nothing: the rest may look better for it.
func survivors(a analysis.Analysis, s analysis.Summary) string {
	h := hop{s.Protocol, s.Topology}
	failed, loads := failures(a, h, s.Other)
	if failed == 0 {
		return ""
	}
	base, _ := failures(a, h, s.Base)
	return fmt.Sprintf(". That is of the loads that finished: %d of its %d failed, %d of %s's", failed, loads, base, s.Base)
}

// failures counts the loads that failed, and all that were played.
func failures(a analysis.Analysis, h hop, strategy string) (failed, loads int) {
	for _, c := range a.Cells {
		if hopOf(c) == h && c.Strategy == strategy {
			failed, loads = failed+c.Failed, loads+c.Finished+c.Failed
		}
	}
	return failed, loads
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
				where := hopOf(c).name(a)
				if label := delayOf(a, c); !strings.HasPrefix(label, aMedian) { // which would name nothing
					where += " at " + label
				}
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
		if b := base.Groups[i].Delivered; len(c.Groups) > 1 && slower(g.Delivered, b) {
			lines = append(lines, fmt.Sprintf("%s: under %s the %s were there after %s; under %s after %s",
				where, c.Strategy, panelsOf(g), duration(g.Delivered.Median), base.Strategy, duration(b.Median)))
		}
	}
	if n := len(c.Tabs); n > 0 && slower(c.Tabs[n-1].Load, base.Tabs[n-1].Load) {
		lines = append(lines, fmt.Sprintf("%s: under %s the last of %d tabs loaded in %s; under %s in %s",
			where, c.Strategy, n, duration(c.Tabs[n-1].Load.Median), base.Strategy, duration(base.Tabs[n-1].Load.Median)))
	}
	if c.Bystanders == nil || base.Bystanders == nil || len(c.Groups) == 1 && len(c.Tabs) == 0 {
		return lines
	}
	own, other := c.Bystanders.Latency.Interval, base.Bystanders.Latency.Interval
	if slower(own, other) && *own.Median > *other.Median+0.1 {
		lines = append(lines, fmt.Sprintf("%s: under %s small requests of the page took %s; under %s %s",
			where, c.Strategy, duration(own.Median), base.Strategy, duration(other.Median)))
	}
	return lines
}

// panelsOf names a group's panels in a sentence, by their delay too where it is exact.
func panelsOf(g analysis.Group) string {
	if g.Drawn {
		return g.Name + " panels"
	}
	return fmt.Sprintf("%s panels, of %s,", g.Name, delay(g.Delay))
}

// slower tells whether a time is longer by a tenth or more, and its interval beyond the base's.
func slower(own, base analysis.Interval) bool {
	if own.Median == nil || base.Median == nil || *own.Median <= 1.1**base.Median {
		return false
	}
	return own.Lo == nil || base.Hi == nil || *own.Lo > *base.Hi
}

// doubt says why no number is to be trusted; empty if the run was healthy.
func doubt(h analysis.Health) string {
	if h.Healthy {
		return ""
	}
	return "the run was not healthy, trust no number below: " + strings.Join(h.Reasons, "; ")
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
