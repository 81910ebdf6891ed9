package analysis

import (
	"cmp"
	"slices"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/model"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// curveStep is fine enough to show a tooth's edge as upright.
const curveStep = 20 * time.Millisecond

func byDuration(a, b clock.Seconds) int { return cmp.Compare(a.Duration, b.Duration) }

// Curves is the model's line for each strategy and protocol over the whole swept range; none if the scenario sweeps nothing.
func Curves(s scenario.Scenario) []Curve {
	if s.Swept() < 0 {
		return nil
	}
	from, to := slices.MinFunc(s.Sweep(), byDuration), slices.MaxFunc(s.Sweep(), byDuration)
	var curves []Curve
	for _, protocol := range s.Protocols {
		for _, st := range s.Strategies {
			c := Curve{Strategy: st.Name, Protocol: string(protocol)}
			for d := from.Duration; d <= to.Duration; d += curveStep {
				load := model.Simulate(s, clock.Seconds{Duration: d}, st, protocol, 0)
				var wasted time.Duration
				for _, w := range load.Wasted() {
					wasted += w
				}
				c.Delay = append(c.Delay, d.Seconds())
				c.Wasted = append(c.Wasted, wasted.Seconds()/float64(len(load.Panels)))
			}
			curves = append(curves, c)
		}
	}
	return curves
}

// Waterfalls picks one load of each strategy and protocol: at the delay at which the strategies differ most, the trial with
// the median load time.
func Waterfalls(r record.Result, a Analysis) []Waterfall {
	s := r.Manifest.Scenario
	swept := telling(s, a)
	var falls []Waterfall
	for _, c := range gather(s, r) {
		if c.swept != swept || len(c.finished) == 0 {
			continue
		}
		slices.SortStableFunc(c.finished, func(a, b record.Trial) int { return cmp.Compare(loadTime(a), loadTime(b)) })
		falls = append(falls, waterfall(c.finished[(len(c.finished)-1)/2], s.Ideal(swept).Seconds()))
	}
	return falls
}

// telling is the swept delay at which a strategy gains most on its base.
func telling(s scenario.Scenario, a Analysis) clock.Seconds {
	best := s.Sweep()[0]
	var most float64
	for _, sum := range a.Summary {
		if sum.Max == nil || *sum.Max <= most {
			continue
		}
		for _, swept := range s.Sweep() {
			if s.Ideal(swept).Seconds() == *sum.MaxAt {
				best, most = swept, *sum.Max
			}
		}
	}
	return best
}

func waterfall(t record.Trial, delay float64) Waterfall {
	w := Waterfall{Strategy: t.Strategy, Protocol: string(t.Protocol), Delay: delay}
	for _, s := range t.Searches {
		lane := Lane{Group: s.Group}
		for _, x := range spans(t.Intended, s) {
			lane.Spans = append(lane.Spans, Span{(x.from - t.Intended).Seconds(), (x.to - t.Intended).Seconds(), x.activity})
		}
		w.Lanes = append(w.Lanes, lane)
	}
	return w
}
