package analysis

import (
	"slices"

	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// compare sets each strategy against the base in each cell, for the loads and, where the dashboard has several, for its groups.
func (a *Analysis) compare(s scenario.Scenario, cells []*cell) {
	byKey := map[key]*cell{}
	for _, c := range cells {
		byKey[c.key] = c
	}
	for _, v := range s.Variants() {
		if v.Strategy == s.Base {
			continue
		}
		at := hop{v.Protocol, v.Path.String()}
		sum := Summary{Protocol: string(at.protocol), Topology: at.topology, Base: s.Base, Other: v.Strategy}
		var speedups []float64
		var pooled []record.Trial
		var compared [][2]*cell
		for _, swept := range slices.SortedFunc(slices.Values(s.Sweep()), byDuration) {
			base, c := byKey[key{swept, s.Base, at}], byKey[key{swept, v.Strategy, at}]
			compared = append(compared, [2]*cell{base, c})
			pooled = append(pooled, c.finished...)
			x := a.contrast(s, base, c, nil, load)
			if x.Speedup != nil {
				speedups = append(speedups, *x.Speedup)
				if sum.Max == nil || *x.Speedup > *sum.Max {
					sum.Max, sum.MaxAt = x.Speedup, ptr(x.Delay)
				}
			}
			if len(s.Groups) > 1 {
				for _, g := range s.Groups {
					a.contrast(s, base, c, &g.Name, delivered(g.Name))
				}
			}
		}
		sum.Mean = mean(speedups)
		sum.Wasted = pool(pooled)
		if s.Drawn() {
			sum.Mix = ptr(mix(dashboards(compared), a.Seed))
		}
		a.Summary = append(a.Summary, sum)
	}
}

// contrast compares one measure of two cells: as two samples, or dashboard by dashboard where these differ.
func (a *Analysis) contrast(s scenario.Scenario, base, other *cell, group *string, of measure) Comparison {
	c := Comparison{
		Delay: base.delay, Protocol: string(base.protocol), Topology: base.topology, Group: group, Base: base.strategy, Other: other.strategy,
	}
	var seen contrast
	if s.Drawn() {
		same := pairs(base, other, of)
		seen, c.N = comparePairs(same), len(same)
	} else {
		b, o := base.values(of), other.values(of)
		seen, c.N = compare(b, o), min(len(b), len(o))
	}
	c.Speedup, c.Lo, c.Hi, c.P = seen.speedup, seen.lo, seen.hi, seen.p
	a.Comparisons = append(a.Comparisons, c)
	return c
}

// pool takes the wasted times of all searches together.
func pool(trials []record.Trial) PooledWasted {
	var all []float64
	for _, t := range trials {
		for _, s := range t.Searches {
			if s.Outcome != record.Hidden {
				all = append(all, split(t.From(s), s).sum().Seconds())
			}
		}
	}
	return PooledWasted{Median: median(all), P99: quantile(all, 0.99, minP99), N: len(all)}
}
