package analysis

import (
	"fmt"
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
	for _, protocol := range s.Protocols {
		for _, other := range s.Strategies {
			if other.Name == s.Base {
				continue
			}
			sum := Summary{Protocol: string(protocol), Topology: "direct", Base: s.Base, Other: other.Name}
			var speedups []float64
			var pooled []record.Trial
			for _, swept := range slices.SortedFunc(slices.Values(s.Sweep()), byDuration) {
				base, c := byKey[key{swept, s.Base, protocol}], byKey[key{swept, other.Name, protocol}]
				load := a.contrast(s, base, c, nil, base.loads(), c.loads())
				pooled = append(pooled, c.finished...)
				if load.Speedup != nil {
					speedups = append(speedups, *load.Speedup)
					if sum.Max == nil || *load.Speedup > *sum.Max {
						sum.Max, sum.MaxAt = load.Speedup, ptr(load.Delay)
					}
				}
				if len(s.Groups) > 1 {
					for _, g := range s.Groups {
						a.contrast(s, base, c, &g.Name, base.delivered(g.Name), c.delivered(g.Name))
					}
				}
			}
			sum.Mean = mean(speedups)
			sum.Wasted = pool(pooled)
			a.Summary = append(a.Summary, sum)
		}
	}
}

func (a *Analysis) contrast(s scenario.Scenario, base, other *cell, group *string, b, o []float64) Comparison {
	seen := compare(b, o)
	c := Comparison{
		Delay: s.Ideal(base.swept).Seconds(), Protocol: string(base.protocol), Topology: "direct", Group: group,
		Base: base.strategy, Other: other.strategy,
		Speedup: seen.speedup, Lo: seen.lo, Hi: seen.hi, P: seen.p, N: min(len(b), len(o)),
	}
	a.Comparisons = append(a.Comparisons, c)
	return c
}

// pool takes the wasted times of all searches together.
func pool(trials []record.Trial) PooledWasted {
	var all []float64
	for _, t := range trials {
		for _, s := range t.Searches {
			all = append(all, split(t.Intended, s).sum().Seconds())
		}
	}
	return PooledWasted{Median: median(all), P99: quantile(all, 0.99, minP99), N: len(all)}
}

// warn collects what makes the whole result doubtful.
func (a *Analysis) warn(r record.Result) {
	add := func(format string, args ...any) { a.Warnings = append(a.Warnings, fmt.Sprintf(format, args...)) }
	if missing := len(r.Manifest.Plan.Trials) - len(r.Trials); missing > 0 {
		add("%d of %d planned trials have no observation: the run was interrupted", missing, len(r.Manifest.Plan.Trials))
	}
	var failed, unexplained, noInterval, noFinished int
	for _, c := range a.Cells {
		failed += c.Failed
		switch {
		case c.Finished == 0:
			noFinished++
			continue
		case c.Finished < minInterval:
			noInterval++
		}
		if c.Model.LoadRTT != nil && !c.Explained() {
			unexplained++
		}
	}
	if failed > 0 {
		add("%d of %d trials failed and do not count: %s", failed, len(r.Trials), firstError(r.Trials))
	}
	if noFinished > 0 {
		add("%d of %d cells have no finished trial", noFinished, len(a.Cells))
	}
	if noInterval > 0 {
		add("%d of %d cells have no interval: a 95 %% interval of a median needs %d trials", noInterval, len(a.Cells), minInterval)
	}
	if slices.ContainsFunc(a.Comparisons, func(c Comparison) bool { return c.P == nil }) {
		add("comparisons of fewer than %d trials have no p-value", minP)
	}
	if unexplained > 0 {
		add("%d of %d cells are not explained by the model", unexplained, len(a.Cells))
	}
	if n := a.Health.SocketWaits; n > 0 {
		add("%d requests queued for one of the dashboard server's connections to Elasticsearch, up to %.3f s", n, a.Health.SocketWaitMax)
	}
	for _, reason := range a.Health.Reasons {
		add("unhealthy run: %s", reason)
	}
	if !a.Health.Healthy {
		add("trust no number of an unhealthy run: end other programs, or spread the loads with --spacing or --alone")
	}
}

// firstError is an example of what failed.
func firstError(trials []record.Trial) string {
	for _, t := range trials {
		if e := t.FirstError(); e != "" {
			return e
		}
	}
	return "no reason was recorded"
}
