package analysis

import (
	"cmp"
	"slices"

	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// Analyse says what a result shows. It needs at least one observation.
func Analyse(r record.Result) Analysis {
	m := r.Manifest
	trips := roundTrips(r.Trials)
	a := Analysis{
		Schema:   Schema,
		Scenario: m.Scenario.Name,
		Seed:     m.Plan.Seed,
		Environment: Environment{
			Created: m.Created, Command: m.Command, Versions: m.Versions, Machine: m.Machine, Backend: m.Backend,
			RoundTrip: tripNames(m.Scenario, trips),
		},
		Health:      judge(r.Trials),
		Warnings:    append([]string{}, r.Warnings...),
		Wall:        wall(r.Trials),
		Cells:       []Cell{},
		Comparisons: []Comparison{},
		Summary:     []Summary{},
	}
	cells := gather(m.Scenario, r)
	for _, c := range cells {
		expected := c.expect(m.Scenario, trips)
		a.IdealWall = max(a.IdealWall, expected.longest)
		a.Cells = append(a.Cells, c.describe(m.Scenario, expected))
	}
	a.compare(m.Scenario, cells)
	a.warn(r)
	return a
}

// key names a cell within one result.
type key struct {
	swept    clock.Seconds
	strategy string
	hop
}

// cell is one cell's trials.
type cell struct {
	key
	variant  scenario.Variant
	delay    float64 // the longest panel's, in seconds: the median over the repeats
	planned  int
	trials   []record.Trial // all that ended
	finished []record.Trial // those of them that went well, by repeat
}

// gather sorts the observations into the planned cells: by delay, then path, protocol and strategy in the scenario's order.
func gather(s scenario.Scenario, r record.Result) []*cell {
	cells := map[key]*cell{}
	var ordered []*cell
	for _, swept := range s.Sweep() {
		delay := longest(s, swept)
		for _, v := range s.Variants() {
			c := &cell{key: key{swept, v.Strategy, hop{v.Protocol, v.Path.String()}}, variant: v, delay: delay}
			cells[c.key] = c
			ordered = append(ordered, c)
		}
	}
	for _, t := range r.Manifest.Plan.Trials {
		if c := cells[key{t.Swept, t.Strategy, hop{t.Protocol, topologyOf(t.Topology)}}]; c != nil {
			c.planned++
		}
	}
	for _, t := range r.Trials {
		c := cells[key{t.Swept, t.Strategy, hop{t.Protocol, topologyOf(t.Topology)}}]
		if c == nil {
			continue
		}
		c.trials = append(c.trials, t)
		if t.Outcome == record.OK {
			c.finished = append(c.finished, t)
		}
	}
	for _, c := range ordered {
		slices.SortFunc(c.finished, func(a, b record.Trial) int { return cmp.Compare(a.Repeat, b.Repeat) })
	}
	slices.SortStableFunc(ordered, func(a, b *cell) int { return byDuration(a.swept, b.swept) })
	return ordered
}

func byDuration(a, b clock.Seconds) int { return cmp.Compare(a.Duration, b.Duration) }

// dashboardsOf lists the repeats whose dashboards differ: all of them where delays are drawn, else one stands for all.
func dashboardsOf(s scenario.Scenario) []int {
	var all []int
	for repeat := range s.Dashboards() {
		all = append(all, repeat+1)
	}
	return all
}

// longest is the longest delay of the dashboards at one value of the sweep, at the median.
func longest(s scenario.Scenario, swept clock.Seconds) float64 {
	var all []float64
	for _, repeat := range dashboardsOf(s) {
		all = append(all, s.Longest(swept, repeat).Seconds())
	}
	return *median(all)
}

// groupDelay is that of each panel of a group; where it is drawn, the median over all its panels of all dashboards.
func groupDelay(s scenario.Scenario, group int, swept clock.Seconds) float64 {
	g := s.Groups[group]
	if g.Distribution == nil {
		return g.DelayAt(swept).Seconds()
	}
	var all []float64
	for _, repeat := range dashboardsOf(s) {
		for _, p := range s.Panels(swept, repeat) {
			if p.Group == group {
				all = append(all, p.Delay.Seconds())
			}
		}
	}
	return *median(all)
}

// measure is what a trial has one value of; nil if it has none.
type measure func(record.Trial) *float64

// values measures each finished trial.
func (c *cell) values(of measure) []float64 {
	var all []float64
	for _, t := range c.finished {
		if v := of(t); v != nil {
			all = append(all, *v)
		}
	}
	return all
}

// loadTime is the time to the last delivery, of all tabs, from the load's intended start.
func loadTime(t record.Trial) float64 {
	var last record.Time
	for _, s := range t.Searches {
		if s.Outcome != record.Hidden {
			last = max(last, s.Delivered)
		}
	}
	return (last - t.Intended).Seconds()
}

func load(t record.Trial) *float64 { return ptr(loadTime(t)) }

// overhead is the load time beyond what no way of waiting can beat.
func (c *cell) overhead(s scenario.Scenario) measure {
	return func(t record.Trial) *float64 { return ptr(loadTime(t) - s.Ideal(c.swept, t.Repeat).Seconds()) }
}

// delivered is the median of a group's panels, each from its tab's start.
func delivered(group string) measure {
	return func(t record.Trial) *float64 {
		var panels []float64
		for _, s := range t.Searches {
			if s.Group == group && s.Outcome != record.Hidden {
				panels = append(panels, (s.Delivered - t.From(s)).Seconds())
			}
		}
		return median(panels)
	}
}

// tabLoad is the load time of one tab from its own start. A tab that was hidden before it had loaded has none.
func tabLoad(tab int) measure {
	return func(t record.Trial) *float64 {
		var last record.Time
		for _, s := range t.Searches {
			if s.Tab != tab {
				continue
			}
			if s.Outcome == record.Hidden {
				return nil
			}
			last = max(last, s.Delivered-t.From(s))
		}
		return ptr(last.Seconds())
	}
}

// bystander is the median latency of a tab's small requests, of all tabs if it is 0.
func bystander(tab int) measure {
	return func(t record.Trial) *float64 {
		var latencies []float64
		for _, b := range t.Bystanders {
			if b.Error == "" && (tab == 0 || b.Tab == tab) {
				latencies = append(latencies, (b.Request.Done - b.Intended).Seconds())
			}
		}
		return median(latencies)
	}
}
