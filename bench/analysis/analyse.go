package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/model"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

// Analyse says what a result shows. It needs at least one observation.
func Analyse(r record.Result) Analysis {
	m := r.Manifest
	rtts := roundTrips(r.Trials)
	a := Analysis{
		Schema:   Schema,
		Scenario: m.Scenario.Name,
		Seed:     m.Plan.Seed,
		Environment: Environment{
			Created: m.Created, Command: m.Command, Versions: m.Versions, Machine: m.Machine, Backend: m.Backend,
			RoundTrip: map[string]float64{},
		},
		Health:      judge(r.Trials),
		Warnings:    append([]string{}, r.Warnings...),
		Wall:        wall(r.Trials),
		Cells:       []Cell{},
		Comparisons: []Comparison{},
		Summary:     []Summary{},
	}
	for protocol, rtt := range rtts {
		a.Environment.RoundTrip[string(protocol)] = rtt.Seconds()
	}
	cells := gather(m.Scenario, r)
	for _, c := range cells {
		described := c.describe(m.Scenario, rtts)
		a.IdealWall = max(a.IdealWall, described.Model.Load)
		a.Cells = append(a.Cells, described)
	}
	a.compare(m.Scenario, cells)
	a.warn(r)
	return a
}

// key names a cell within one result.
type key struct {
	swept    clock.Seconds
	strategy string
	protocol scenario.Protocol
}

// cell is one cell's trials.
type cell struct {
	key
	planned  int
	failed   int
	finished []record.Trial
}

// gather sorts the observations into the planned cells, by delay, protocol and strategy in the scenario's order.
func gather(s scenario.Scenario, r record.Result) []*cell {
	cells := map[key]*cell{}
	var ordered []*cell
	for _, swept := range s.Sweep() {
		for _, protocol := range s.Protocols {
			for _, st := range s.Strategies {
				c := &cell{key: key{swept, st.Name, protocol}}
				cells[c.key] = c
				ordered = append(ordered, c)
			}
		}
	}
	for _, t := range r.Manifest.Plan.Trials {
		if c := cells[key{t.Swept, t.Strategy, t.Protocol}]; c != nil {
			c.planned++
		}
	}
	for _, t := range r.Trials {
		c := cells[key{t.Swept, t.Strategy, t.Protocol}]
		switch {
		case c == nil:
		case t.Outcome == record.OK:
			c.finished = append(c.finished, t)
		default:
			c.failed++
		}
	}
	for _, c := range ordered {
		slices.SortFunc(c.finished, func(a, b record.Trial) int { return cmp.Compare(a.Repeat, b.Repeat) })
	}
	slices.SortStableFunc(ordered, func(a, b *cell) int { return cmp.Compare(a.swept.Duration, b.swept.Duration) })
	return ordered
}

// describe computes the cell's statistics and sets the model beside them.
func (c *cell) describe(s scenario.Scenario, rtts map[scenario.Protocol]time.Duration) Cell {
	ideal := s.Ideal(c.swept).Seconds()
	loads := c.loads()
	d := Cell{
		Delay: ideal, Strategy: c.strategy, Protocol: string(c.protocol), Topology: "direct", Driver: "virtual",
		Trials: c.planned, Finished: len(c.finished), Failed: c.failed,
		Load:     Tail{interval(loads), quantile(loads, 0.95, minP95)},
		Overhead: interval(shifted(loads, -ideal)),
		Wasted:   wasted(c.finished, func(record.Search) bool { return true }),
		Model:    c.model(s, rtts),
		Warnings: []string{},
	}
	for _, g := range s.Groups {
		d.Groups = append(d.Groups, Group{
			Name: g.Name, Delay: g.DelayAt(c.swept).Seconds(), Panels: g.Panels,
			Delivered: interval(c.delivered(g.Name)),
			Wasted:    wasted(c.finished, func(x record.Search) bool { return x.Group == g.Name }),
		})
	}
	if s.Bystanders != nil {
		d.Bystanders = c.bystanders()
	}
	c.connections(&d)
	d.Warnings = append(d.Warnings, doubts(d)...)
	return d
}

// loads is each finished trial's load time.
func (c *cell) loads() []float64 {
	var loads []float64
	for _, t := range c.finished {
		loads = append(loads, loadTime(t))
	}
	return loads
}

func loadTime(t record.Trial) float64 {
	var last record.Time
	for _, s := range t.Searches {
		last = max(last, s.Delivered)
	}
	return (last - t.Intended).Seconds()
}

// delivered is, for each finished trial, the median of the group's panels.
func (c *cell) delivered(group string) []float64 {
	var all []float64
	for _, t := range c.finished {
		var panels []float64
		for _, s := range t.Searches {
			if s.Group == group {
				panels = append(panels, (s.Delivered - t.Intended).Seconds())
			}
		}
		if m := median(panels); m != nil {
			all = append(all, *m)
		}
	}
	return all
}

// wasted summarises the wasted time of the searches that count.
func wasted(trials []record.Trial, counts func(record.Search) bool) Wasted {
	var all []float64
	sums := parts{}
	for _, t := range trials {
		for _, s := range t.Searches {
			if !counts(s) {
				continue
			}
			p := split(t.Intended, s)
			all = append(all, p.sum().Seconds())
			for a, part := range p {
				sums[a] += part
			}
		}
	}
	if len(all) == 0 {
		return Wasted{}
	}
	part := func(a Activity) *float64 { return ptr(sums[a].Seconds() / float64(len(all))) }
	w := Wasted{Median: median(all), Sleep: part(Sleep), Slot: part(Slot), Network: part(Network), Server: part(Server)}
	w.Mean = ptr(*w.Sleep + *w.Slot + *w.Network + *w.Server)
	return w
}

// bystanders summarises the small requests: the interval is over the trials' medians, the 95th percentile over all requests.
func (c *cell) bystanders() *Bystanders {
	b := &Bystanders{}
	var medians, all, slot []float64
	for _, t := range c.finished {
		var latencies []float64
		for _, one := range t.Bystanders {
			b.Sent++
			if one.Error != "" {
				b.Failed++
				continue
			}
			latencies = append(latencies, (one.Request.Done - one.Intended).Seconds())
			slot = append(slot, (one.Request.Slot - one.Request.Queued).Seconds())
		}
		if m := median(latencies); m != nil {
			medians = append(medians, *m)
		}
		all = append(all, latencies...)
	}
	b.Latency = Tail{interval(medians), quantile(all, 0.95, minP95)}
	b.Slot = mean(slot)
	return b
}

// connections counts requests and connections, and says over which protocol the answers came.
func (c *cell) connections(d *Cell) {
	var requests, searches, connections int
	protocols := map[string]bool{}
	for _, t := range c.finished {
		connections = max(connections, t.Connections)
		for _, s := range t.Searches {
			searches++
			requests += len(s.Requests)
			for _, r := range s.Requests {
				protocols[r.Protocol] = true
			}
		}
	}
	if searches == 0 {
		return
	}
	d.RequestsPerSearch = ptr(float64(requests) / float64(searches))
	d.Connections = &connections
	seen := "mixed"
	for p := range protocols {
		if len(protocols) == 1 {
			seen = map[string]string{"http/1.1": "http1", "h2": "h2", "h3": "h3"}[p]
		}
	}
	d.ProtocolSeen = ptr(cmp.Or(seen, "mixed"))
}

// model is the expectation for the cell.
func (c *cell) model(s scenario.Scenario, rtts map[scenario.Protocol]time.Duration) Model {
	st, _ := s.Strategy(c.strategy)
	return expect(s, c.swept, st, c.protocol, rtts)
}

func expect(
	s scenario.Scenario, swept clock.Seconds, st strategy.Strategy, p scenario.Protocol, rtts map[scenario.Protocol]time.Duration,
) Model {
	ideal := model.Simulate(s, swept, st, p, 0)
	var waste []float64
	for _, w := range ideal.Wasted() {
		waste = append(waste, w.Seconds())
	}
	m := Model{Load: ideal.Time().Seconds(), Wasted: ModelWasted{Median: *median(waste), Mean: *mean(waste)}}
	if rtt, ok := rtts[p]; ok {
		m.LoadRTT = ptr(model.Simulate(s, swept, st, p, rtt).Time().Seconds())
	}
	return m
}

// explainedWithin is how far from its expectation a cell's median may be when its interval does not reach it.
const explainedWithin = 0.010

// Explained tells whether the model accounts for the cell's load time; false, too, if either is missing.
func (c Cell) Explained() bool {
	if c.Load.Median == nil || c.Model.LoadRTT == nil {
		return false
	}
	want := *c.Model.LoadRTT
	if d := *c.Load.Median - want; d >= -explainedWithin && d <= explainedWithin {
		return true
	}
	return c.Load.Lo != nil && *c.Load.Lo <= want && want <= *c.Load.Hi
}

// doubts are the warnings that stand beside a cell's numbers.
func doubts(c Cell) []string {
	var w []string
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
	if c.Model.LoadRTT != nil && !c.Explained() {
		w = append(w, fmt.Sprintf("not explained: the load took %+.1f ms against the model", (*c.Load.Median-*c.Model.LoadRTT)*1e3))
	}
	return w
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

func shifted(values []float64, by float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v + by
	}
	return out
}
