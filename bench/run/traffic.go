package run

import (
	"time"

	"pollbench/bench/model"
	"pollbench/bench/plan"
	"pollbench/bench/scenario"
)

// forecast plays a trial of the scenario by the model, equal ones once.
func forecast(s scenario.Scenario) func(plan.Trial) model.Load {
	type cell struct {
		swept    time.Duration
		repeat   int
		strategy string
		protocol scenario.Protocol
		topology string
	}
	known := map[cell]model.Load{}
	return func(t plan.Trial) model.Load {
		of := cell{t.Swept.Duration, 1, t.Strategy, t.Protocol, t.Topology}
		if s.Drawn() {
			of.repeat = t.Repeat
		}
		l, ok := known[of]
		if !ok {
			path, _ := s.Path(t.Topology) // the plan was made from this scenario
			l = model.Simulate(s, t.Swept, of.repeat, scenario.Variant{Strategy: t.Strategy, Protocol: t.Protocol, Path: path}, path.RTT())
			known[of] = l
		}
		return l
	}
}

// Busy is for how long after its start a load of the scenario has searches at work on the server, by the model: on HTTP/1.1 some are sent late.
func Busy(s scenario.Scenario) func(plan.Trial) time.Duration {
	play := forecast(s)
	return func(t plan.Trial) time.Duration {
		var busy time.Duration
		for _, p := range play(t).Panels {
			busy = max(busy, p.Start+p.Delay)
		}
		return busy
	}
}

// Lasts is how long the plan takes by the model: each load on top of its start, or one after the other.
func Lasts(s scenario.Scenario, p plan.Plan) time.Duration {
	play := forecast(s)
	var total time.Duration
	for _, t := range p.Trials {
		if p.Alone {
			total += play(t).Time()
		} else {
			total = max(total, t.Start.Duration+play(t).Time())
		}
	}
	return total
}

// Traffic is what a run sends to servers that run already.
type Traffic struct {
	Requests int // in all
	Lasts    time.Duration
	Peak     float64 // requests in the busiest second of the measurement
}

// beforehand is what a server is asked for before anything is measured: what it can do, its index, its clock.
const beforehand = 60

// Expect adds up the requests by the model: those of all loads, each load's spread evenly over its time, of opening their pages, of warming up, and of deleting
// searches at the end.
func Expect(s scenario.Scenario, p plan.Plan) Traffic {
	const few = 4 // panels that a variant is warmed up with, and about the requests for each
	t := Traffic{Requests: beforehand + few*few*len(s.Variants())}
	play := forecast(s)
	seconds := map[int]float64{}
	at := time.Duration(0)
	for _, trial := range p.Trials {
		l := play(trial)
		opening := 1
		if trial.Protocol == scenario.HTTP1 {
			opening = s.Browser.HTTP1Connections
		}
		n := opening + len(l.Bystanders)
		for _, panel := range l.Panels {
			n += panel.Requests
		}
		t.Requests += n + len(l.Panels)
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
