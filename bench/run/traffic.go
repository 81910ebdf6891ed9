package run

import (
	"time"

	"pollbench/bench/model"
	"pollbench/bench/plan"
	"pollbench/bench/scenario"
)

// Traffic is what a plan sends to its servers, by the model.
type Traffic struct {
	Requests int
	Lasts    time.Duration
	Peak     float64 // requests in the busiest second
}

// Expect adds up the requests of all loads, warm-up excluded, each load's spread evenly over its time.
func Expect(s scenario.Scenario, p plan.Plan) Traffic {
	var t Traffic
	seconds := map[int]float64{}
	at := time.Duration(0)
	for _, trial := range p.Trials {
		path, _ := s.Path(trial.Topology) // the plan was made from this scenario
		v := scenario.Variant{Strategy: trial.Strategy, Protocol: trial.Protocol, Path: path}
		l := model.Simulate(s, trial.Swept, trial.Repeat, v, path.RTT())
		n := len(l.Bystanders)
		for _, panel := range l.Panels {
			n += panel.Requests
		}
		t.Requests += n
		start, lasts := trial.Start.Duration, max(l.Time(), time.Second)
		if p.Alone {
			start = at
			at += lasts
		}
		t.Lasts = max(t.Lasts, start+lasts)
		first, last := int(start/time.Second), int((start+lasts-1)/time.Second)
		for i := first; i <= last; i++ {
			seconds[i] += float64(n) / float64(last-first+1)
		}
	}
	for _, n := range seconds {
		t.Peak = max(t.Peak, n)
	}
	return t
}
