// Package analysistest makes results without a run, for the tests of what reads results: loads are the model's, with some noise on them.
package analysistest

import (
	"math/rand/v2"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/model"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

// RTT is the round trip of a played result where the network adds nothing.
const RTT = time.Millisecond

// Play plays every trial of the scenario's plan. Each search is delivered late by up to noise, as drawn from the scenario's seed. Requests are fewer than a
// browser's: the submit, and the one that brings the result.
func Play(s scenario.Scenario, noise time.Duration) record.Result {
	p := plan.New(s, plan.Options{})
	r := record.Result{Manifest: record.Manifest{Scenario: s, Plan: p}}
	random := rand.New(rand.NewPCG(s.Seed, 0))
	for _, t := range p.Trials {
		r.Trials = append(r.Trials, play(s, t, func() time.Duration { return time.Duration(random.Float64() * float64(noise)) }))
	}
	return r
}

func play(s scenario.Scenario, t plan.Trial, noise func() time.Duration) record.Trial {
	path, _ := s.Path(t.Topology)
	rtt := RTT + path.RTT()
	st, _ := s.Strategy(t.Strategy)
	told := st.Told(path.ServerProtocol(t.Protocol) == scenario.H2)
	held := st.On(told, st.Learnt(told, t.Protocol == scenario.H2))
	load := model.Simulate(s, t.Swept, t.Repeat, scenario.Variant{Strategy: t.Strategy, Protocol: t.Protocol, Path: path}, rtt)
	intended := time.Second + t.Start.Duration
	seen := record.Trial{
		Trial: t.Trial, Swept: t.Swept, Strategy: t.Strategy, Protocol: t.Protocol, Topology: t.Topology, Repeat: t.Repeat, Outcome: record.OK,
		Intended: at(intended), Started: at(intended), Connections: 1,
	}
	if t.Protocol == scenario.HTTP1 {
		seen.Connections = min(s.Browser.HTTP1Connections, len(load.Panels))
	}
	tabs := s.Tabs.Number()
	for _, panel := range load.Panels {
		x := search(s, held, t.Protocol, panel, intended, rtt, noise())
		if tabs > 1 {
			x.Tab = panel.Tab + 1
		}
		if x.Outcome != record.OK && x.Outcome != record.Hidden {
			seen.Outcome = record.Failed
		}
		seen.Searches = append(seen.Searches, x)
	}
	for i, latency := range load.Bystanders {
		b := record.Bystander{Intended: at(intended), Request: record.Request{Queued: at(intended)}}
		b.Request.Slot = at(intended + max(0, latency-rtt))
		b.Request.Done = at(intended + latency + noise())
		if tabs > 1 {
			b.Tab = 1 + i%tabs
		}
		seen.Bystanders = append(seen.Bystanders, b)
	}
	return seen
}

// search is what a browser would have recorded of a panel, under that plain strategy.
func search(
	s scenario.Scenario, held strategy.Strategy, protocol scenario.Protocol, panel model.Panel, intended, rtt, noise time.Duration,
) record.Search {
	x := record.Search{Group: s.Groups[panel.Group].Name, Delay: seconds(panel.Delay), Outcome: record.OK}
	if panel.Tab > 0 {
		x.Intended = at(intended + panel.Begin)
	}
	switch {
	case panel.Hidden:
		x.Outcome, x.Error = record.Hidden, "its tab was hidden"
		return x
	case panel.Failed:
		x.Outcome, x.Error = record.Failed, "the proxy ended the request"
		return x
	}
	start, delivered := intended+panel.Start, intended+panel.Delivered+noise
	x.Start, x.Ready, x.Delivered = at(start), at(start+panel.Delay), at(delivered)
	slot := start - rtt/2
	submit := record.Request{
		Queued: at(intended + panel.Begin), Slot: at(slot), Sent: at(slot), DashboardIn: at(start), DashboardOut: at(delivered - rtt/2), Done: at(delivered),
		Wait: held.SubmitWait, Connection: 1, Status: 200, Protocol: map[scenario.Protocol]string{scenario.HTTP1: "http/1.1", scenario.H2: "h2"}[protocol],
	}
	answered := slot + rtt + held.SubmitWait.Duration
	if held.Sync || delivered <= answered+rtt {
		x.Requests = []record.Request{submit}
		return x
	}
	poll := submit
	submit.DashboardOut, submit.Done, submit.Running = at(answered-rtt/2), at(answered), true
	asked := delivered - rtt
	if held.Poll == strategy.ByResult && held.PollWait.Duration > 0 { // a long poll, held since
		sleep := held.Next(strategy.State{Elapsed: answered - intended - panel.Begin, Attempt: 1}).Sleep
		asked = min(asked, answered+sleep)
	}
	poll.Sleep, poll.Wait = seconds(asked-answered), held.PollWait
	poll.Queued, poll.Slot, poll.Sent, poll.DashboardIn = at(asked), at(asked), at(asked), at(asked+rtt/2)
	x.Requests = []record.Request{submit, poll}
	return x
}

func at(d time.Duration) record.Time { return record.Time(d / time.Microsecond) }

func seconds(d time.Duration) clock.Seconds { return clock.Seconds{Duration: d} }
