// Package model plays a dashboard load in virtual time: the same strategies and the same rules for connection slots as the
// virtual browser, no network, no machine. What comes out is the expectation that stands beside each measurement.
//
// The servers of the model are ideal. A search starts when its request arrives and is ready exactly its delay later; a request
// that may be held is answered at that instant or when its wait is over; everything else is answered at once. Every
// request takes the same round trip, half of it each way; where the network to Elasticsearch is slow, a poll by status that finds the
// search ended takes that hop's round trip once more, to fetch the result. A proxy ends what idles too long, and the dashboard server then cancels the
// search, as in reality. The browser is faithful: requests of all tabs queue first in first out for the slots
// of HTTP/1.1 or the streams of h2, and elapsed time is counted from when the page asked for the search. Of streams the model knows the browser's own limit
// alone, as our servers allow far more: before one that allows fewer than there are requests at once, such as nginx with 128, measured loads are longer than its.
//
// Where the scenario gives the server a search pool, searches queue there, in the order of arrival, as in Elasticsearch twice each: see pool.
//
// What is left to chance has no expectation: see [Expects].
//
// Model and run share the strategy, so that their agreement cannot show that a strategy is the right one: its ticks are tested apart.
package model

import (
	"slices"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/scenario"
)

// Load is one dashboard load in virtual time, of all tabs, counted from the instant at which the first asks for its panels.
type Load struct {
	Panels     []Panel
	Bystanders []time.Duration // latency of each, from its intended start, in the order of their answers
}

// Panel is what became of one panel's search.
type Panel struct {
	Tab              int // the first is 0
	Group            int
	Delay            time.Duration
	Begin            time.Duration   // of its tab
	Start, Delivered time.Duration   // of the search on the server; of its result in the browser
	Sent             []time.Duration // each request: submit and polls
	Failed           bool            // or given up by the browser's time-out: never delivered
	Hidden           bool            // with its tab: never delivered
}

// Wasted is all the panel's time but the search's own.
func (p Panel) Wasted() time.Duration { return p.Delivered - p.Begin - p.Delay }

// Time is the load time: the last panel's delivery.
func (l Load) Time() time.Duration {
	var last time.Duration
	for _, p := range l.Panels {
		last = max(last, p.Delivered)
	}
	return last
}

// Wasted lists the delivered panels' wasted times, in the order of the panels.
func (l Load) Wasted() []time.Duration {
	var wasted []time.Duration
	for _, p := range l.Panels {
		if !p.Failed && !p.Hidden {
			wasted = append(wasted, p.Wasted())
		}
	}
	return wasted
}

// Failed tells whether any panel's search fails.
func (l Load) Failed() bool {
	return slices.ContainsFunc(l.Panels, func(p Panel) bool { return p.Failed })
}

// patience is after how long Kibana closes a connection over which nothing passes, with what it holds.
const patience = 120 * time.Second

// Expects tells whether the model says anything of the scenario's loads over that path; if not, reason is why. It does not where connections are cut at
// random or on schedule, where delays of packets vary, where bandwidth is limited, where searches or answers fail on purpose, where
// connections are opened over a distance, and where the dashboard server may lose its patience with a request.
func Expects(s scenario.Scenario, v scenario.Variant) (ok bool, reason string) {
	for _, c := range v.Path.Conditions() {
		if !c.OnlyRTT() {
			return false, "the model knows nothing of cut connections, jitter and limited bandwidth"
		}
	}
	if s.Faulty() {
		return false, "the model knows nothing of faults"
	}
	if s.Cold && v.Path.RTT() > 0 {
		return false, "the model opens no connections, and on this network that takes its time"
	}
	if drops(s, v) && reopens(v) {
		return false, "the model opens no connections, and on this network that takes its time where a dropped request has closed one"
	}
	if s.SearchPool > 0 && drops(s, v) {
		return false, "the model does not know whom a cancelled search lets into the pool"
	}
	st, _ := s.Strategy(v.Strategy)
	if held := max(st.SubmitWait.Duration, st.PollWait.Duration); held >= patience || st.Sync && longest(s) >= patience {
		return false, "the dashboard server closes a connection that is silent for 120 s"
	}
	return true, ""
}

// drops tells whether requests may be given up before their answer.
func drops(s scenario.Scenario, v scenario.Variant) bool {
	return s.Tabs.Hide.Duration > 0 || s.SearchTimeout.Duration > 0 || v.Path.IdleTimeout.Duration > 0
}

// reopens tells whether a request that is dropped closes a distant connection: each of HTTP/1.1 that it was under way on, and the dashboard server's to
// Elasticsearch, which is always one.
func reopens(v scenario.Variant) bool {
	if v.Protocol == scenario.H2 && v.Path.ServerProtocol(v.Protocol) == scenario.H2 {
		return v.Path.Network.Elasticsearch.RTT.Duration > 0
	}
	return v.Path.RTT() > 0
}

// longest is the longest delay of all dashboards.
func longest(s scenario.Scenario) time.Duration {
	var all time.Duration
	for _, swept := range s.Sweep() {
		for repeat := 1; repeat <= s.Dashboards(); repeat++ {
			all = max(all, s.Longest(swept, repeat).Duration)
		}
	}
	return all
}

// Simulate plays one load of the scenario's dashboards: with that delay for the swept group and the repeat's draws, under one variant, at
// that round trip between browser and Elasticsearch.
func Simulate(s scenario.Scenario, swept clock.Seconds, repeat int, v scenario.Variant, rtt time.Duration) Load {
	st, _ := s.Strategy(v.Strategy)
	b := &browser{scenario: s, variant: v, strategy: st, rtt: rtt, free: s.Browser.H2Streams}
	if s.SearchPool > 0 {
		b.pool = &pool{free: s.SearchPool}
	}
	b.fetch = min(rtt, v.Path.Network.Elasticsearch.RTT.Duration)
	if v.Protocol == scenario.HTTP1 {
		b.free = s.Browser.HTTP1Connections
	}
	panels := s.Panels(swept, repeat)
	b.load.Panels = make([]Panel, 0, s.Tabs.Number()*len(panels))
	for tab := range s.Tabs.Number() {
		page := &page{browser: b, begin: s.Tabs.Start(tab), waiting: len(panels)}
		page.multiplexed = st.Told(v.Path.ServerProtocol(v.Protocol) == scenario.H2)
		for _, p := range panels {
			b.load.Panels = append(b.load.Panels, Panel{Tab: tab, Group: p.Group, Delay: p.Delay.Duration, Begin: page.begin})
			page.searches = append(page.searches, &search{page: page, panel: &b.load.Panels[len(b.load.Panels)-1]})
		}
		b.at(page.begin, page.load)
		if s.Tabs.Hidden(tab) {
			b.at(page.begin+s.Tabs.Hide.Duration, page.hide)
		}
	}
	b.run()
	return b.load
}
