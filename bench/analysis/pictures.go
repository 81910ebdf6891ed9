package analysis

import (
	"cmp"
	"slices"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/model"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

// Picture extracts what charts show beside the analysis of a result.
func Picture(r record.Result, a Analysis) Pictures {
	s := r.Manifest.Scenario
	p := Pictures{Curves: curves(s), Waterfalls: waterfalls(r, a), Loads: drawnLoads(r), Hops: hops(s)}
	p.LastTab = s.Tabs.Start(s.Tabs.Number() - 1).Seconds()
	for _, st := range s.Strategies {
		if st.Choice != nil && st.Choice.By == strategy.ServerHop {
			p.ByServer = append(p.ByServer, st.Name)
		}
	}
	return p
}

// curveStep is fine enough to show a tooth's edge as upright.
const curveStep = 20 * time.Millisecond

// curves is the model's line for each variant over the whole swept range, as far as it expects anything; none if the scenario sweeps nothing, or
// draws other delays beside.
func curves(s scenario.Scenario) []Curve {
	if s.Swept() < 0 || s.Drawn() {
		return nil
	}
	from, to := slices.MinFunc(s.Sweep(), byDuration), slices.MaxFunc(s.Sweep(), byDuration)
	var all []Curve
	for _, v := range s.Variants() {
		if ok, _ := model.Expects(s, v); !ok {
			continue
		}
		c := Curve{Strategy: v.Strategy, Protocol: string(v.Protocol), Topology: v.Path.String()}
		for d := from.Duration; d <= to.Duration; d += curveStep {
			load := model.Simulate(s, clock.Seconds{Duration: d}, 1, v, v.Path.RTT())
			if load.Failed() {
				continue
			}
			var wasted time.Duration
			for _, w := range load.Wasted() {
				wasted += w
			}
			c.Delay = append(c.Delay, d.Seconds())
			c.Wasted = append(c.Wasted, wasted.Seconds()/float64(len(load.Wasted())))
		}
		all = append(all, c)
	}
	return all
}

// waterfalls picks one load of each variant, at the delay at which the strategies differ most: the trial with the median load time; where delays are
// drawn, that of the dashboard on which the first variant has it. Networks that are not perfect are left out, if any is.
func waterfalls(r record.Result, a Analysis) []Waterfall {
	s := r.Manifest.Scenario
	delay := telling(a)
	var cells []*cell
	for _, c := range gather(s, r) {
		if len(c.finished) > 0 && c.delay == delay && onShownNetwork(s, c.variant.Path.Network) {
			cells = append(cells, c)
		}
	}
	var falls []Waterfall
	dashboard := 0
	for _, c := range cells {
		if c.swept != cells[0].swept {
			break // another dashboard with the same longest delay
		}
		t := middle(c.finished)
		if i := slices.IndexFunc(c.finished, func(t record.Trial) bool { return t.Repeat == dashboard }); s.Drawn() && i >= 0 {
			t = c.finished[i]
		}
		dashboard = cmp.Or(dashboard, t.Repeat)
		falls = append(falls, c.waterfall(t, s.Longest(c.swept, t.Repeat).Seconds()))
	}
	return falls
}

// onShownNetwork tells whether loads over that network are shown one by one: over the perfect one, or the first if no other is perfect.
func onShownNetwork(s scenario.Scenario, n scenario.Network) bool {
	for _, p := range s.Paths() {
		if perfect(p) {
			return n.Name == p.Network.Name
		}
	}
	return n.Name == s.Paths()[0].Network.Name
}

func perfect(p scenario.Path) bool { return p.Network.Name == scenario.PerfectNetwork }

// middle is the trial with the median load time.
func middle(trials []record.Trial) record.Trial {
	sorted := slices.SortedStableFunc(slices.Values(trials), func(a, b record.Trial) int { return cmp.Compare(loadTime(a), loadTime(b)) })
	return sorted[(len(sorted)-1)/2]
}

// telling is the delay at which a strategy gains most on its base, or the first if none does.
func telling(a Analysis) float64 {
	delay := a.Cells[0].Delay
	var most float64
	for _, sum := range a.Summary {
		if sum.Max != nil && *sum.Max > most {
			delay, most = *sum.MaxAt, *sum.Max
		}
	}
	return delay
}

func (c *cell) waterfall(t record.Trial, delay float64) Waterfall {
	w := Waterfall{Strategy: c.strategy, Protocol: string(c.protocol), Topology: c.topology, Delay: delay}
	for _, s := range t.Searches {
		lane := Lane{Tab: s.Tab, Group: s.Group}
		if s.Outcome != record.Hidden {
			for _, x := range spans(t.From(s), s) {
				lane.Spans = append(lane.Spans, Span{(x.from - t.Intended).Seconds(), (x.to - t.Intended).Seconds(), x.activity})
			}
		}
		w.Lanes = append(w.Lanes, lane)
	}
	return w
}

// drawnLoads lists the load times of each variant over drawn dashboards.
func drawnLoads(r record.Result) []Loads {
	s := r.Manifest.Scenario
	if !s.Drawn() {
		return nil
	}
	var all []Loads
	for _, c := range gather(s, r) {
		if len(c.finished) == 0 {
			continue
		}
		i := slices.IndexFunc(all, func(l Loads) bool {
			return l.Strategy == c.strategy && l.Protocol == string(c.protocol) && l.Topology == c.topology
		})
		if i < 0 {
			i = len(all)
			all = append(all, Loads{Strategy: c.strategy, Protocol: string(c.protocol), Topology: c.topology})
		}
		all[i].Load = append(all[i].Load, c.values(load)...)
		all[i].Overhead = append(all[i].Overhead, c.values(c.overhead(s))...)
	}
	for _, l := range all {
		slices.Sort(l.Load)
		slices.Sort(l.Overhead)
	}
	return all
}

// hops lists what the scenario measures over.
func hops(s scenario.Scenario) []Hop {
	var all []Hop
	limited := s.SearchTimeout.Duration > 0 || s.Faulty()
	for _, p := range s.Paths() {
		for _, protocol := range s.Protocols {
			if !p.Carries(protocol) {
				continue
			}
			h := Hop{
				Protocol: string(protocol), Topology: p.String(), Kind: p.Topology.String(), ServerProtocol: string(p.ServerProtocol(protocol)),
				Network: p.Network.Name, Perfect: perfect(p), RTT: p.RTT().Seconds(), OnlyRTT: true,
			}
			for _, c := range p.Conditions() {
				h.Cuts = h.Cuts || c.Cutting()
				h.OnlyRTT = h.OnlyRTT && c.OnlyRTT()
			}
			h.OnlyCuts = h.Cuts && !limited && p.Topology.IdleTimeout.Duration == 0
			all = append(all, h)
		}
	}
	return all
}
