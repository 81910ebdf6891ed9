package run

import (
	"slices"
	"time"

	"pollbench/bench/model"
	"pollbench/bench/plan"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
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

// Traffic is what a run sends to servers that run already, from the first question to the last DELETE: estimated from above.
type Traffic struct {
	Requests int // in all
	Lasts    time.Duration
	Peak     float64 // requests in the busiest second
}

const (
	// What servers are asked for before anything is measured, one after the other: Elasticsearch what it can do, for its index, and its clock; a dashboard
	// server for a search, some times if it has only just started, and its clock.
	askedOfElasticsearch = 50
	askedOfDashboard     = 35
	// window is in which the requests of a second are looked for: what is delayed on its way may come together with what was sent later.
	window = 1250 * time.Millisecond
)

// Expect lists the requests by the model: those beforehand, of warming up, of opening the pages, of all loads, and of deleting searches at the end. Nobody
// knows yet whether there will be a delay gate; it is counted in unless the target has none for certain.
func (t Target) Expect(s scenario.Scenario, p plan.Plan) Traffic {
	var sent []time.Duration
	if t.Elasticsearch.Given() {
		sent = make([]time.Duration, askedOfElasticsearch)
	}
	if t.Dashboard.Given() {
		sent = append(sent, make([]time.Duration, askedOfDashboard)...)
	}
	now, searches := lead, 0
	panels := fewPanels(p.AtOnce)
	warm := warming(s, panels)
	var loads []scenario.Variant
	for _, v := range warm.Variants() {
		loads = append(loads, slices.Repeat([]scenario.Variant{v}, t.servers(s, v.Path, p.AtOnce))...)
	}
	play := forecast(warm)
	for some := range slices.Chunk(loads, together(len(loads), panels, p.AtOnce)) {
		begins, ends := now, now
		for _, v := range some {
			load := play(plan.Trial{Strategy: v.Strategy, Protocol: v.Protocol, Topology: v.Path.String(), Repeat: 1})
			sent = t.addLoad(sent, warm, v.Strategy, v.Protocol, load, begins)
			searches += len(load.Panels)
			ends = max(ends, begins+load.Time())
			begins += plan.MinSpacing
		}
		now = ends + lead
	}
	play = forecast(s)
	first := now + lead
	for _, trial := range p.Trials {
		load, begins := play(trial), first+trial.Start.Duration
		if p.Alone {
			begins = now + lead
		}
		sent = t.addLoad(sent, s, trial.Strategy, trial.Protocol, load, begins)
		searches += len(load.Panels)
		now = max(now, begins+load.Time())
	}
	slices.Sort(sent)
	deletes := searches + 1 // with the index
	deleting := float64(deletes)
	if t.Rate > 0 { // and a pause before, so that they share no second with others
		now += pause + time.Duration(deleting/t.Rate*float64(time.Second))
		deleting = min(deleting, t.Rate)
	}
	return Traffic{Requests: len(sent) + deletes, Lasts: now, Peak: max(float64(busiest(sent)), deleting)}
}

// addLoad adds the requests of a load that begins at that instant, the opening of its page included.
func (t Target) addLoad(sent []time.Duration, s scenario.Scenario, name string, by scenario.Protocol, load model.Load, begins time.Duration) []time.Duration {
	st, _ := s.Strategy(name) // the plan was made from this scenario
	fetches := st.Choice != nil || st.Poll == strategy.ByStatus
	for _, panel := range load.Panels {
		for _, at := range panel.Sent {
			sent = append(sent, begins+at)
		}
		if t.Dashboard.Given() {
			continue
		}
		if fetches { // the dashboard server, once it knows by the status that the search is done
			sent = append(sent, begins+panel.Delivered)
		}
		if t.DelayBy != ByServer { // a gate makes two of a submit
			sent = append(sent, begins+panel.Start)
		}
	}
	if !t.Dashboard.Given() {
		return sent
	}
	for i := range load.Bystanders {
		sent = append(sent, begins+time.Duration(i/s.Tabs.Number()+1)*s.Bystanders.Every.Duration)
	}
	opening := 1
	if by == scenario.HTTP1 {
		opening = s.Browser.HTTP1Connections
	}
	return append(sent, slices.Repeat([]time.Duration{begins - lead}, opening)...)
}

// servers is how many dashboard servers there will be on a path.
func (t Target) servers(s scenario.Scenario, path scenario.Path, atOnce int) int {
	if t.Dashboard.Given() {
		return 1
	}
	return servers(s, path, atOnce)
}

// busiest is the most of the instants, which are in order, that lie within a [window].
func busiest(at []time.Duration) int {
	var most, oldest int
	for i := range at {
		for at[i]-at[oldest] >= window {
			oldest++
		}
		most = max(most, i+1-oldest)
	}
	return most
}
