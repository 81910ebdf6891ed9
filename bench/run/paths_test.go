package run

import (
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/plan"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

// odd is a dashboard whose delays meet no strategy's tick, and of which HTTP/1.1 has to let some panels queue.
func odd() scenario.Scenario {
	return scenario.Scenario{
		Name:      "odd",
		Groups:    []scenario.Group{{Name: "slow", Panels: 6, Delay: ms(6130)}, {Name: "fast", Panels: 3, Delay: ms(1030)}},
		Payload:   2 << 10,
		Base:      "traditional",
		Protocols: scenario.Protocols(),
		Repeats:   1, Seed: 1,
		Browser: scenario.Browser{HTTP1Connections: 6, H2Streams: 256},
	}
}

func with(s scenario.Scenario, names ...string) scenario.Scenario {
	for _, name := range names {
		st, _ := strategy.Named(name)
		s.Strategies = append(s.Strategies, st)
	}
	return s
}

// retrying is a shipped strategy that asks failed polls again.
func retrying(name string, retry int) strategy.Strategy {
	st, _ := strategy.Named(name)
	st.Name, st.Retry = name+"-retry", retry
	return st
}

// Each topology, played through a real proxy: what the browser sees, and how auto decides, is the model's, to the microsecond.
func TestTopologiesAreTheModel(t *testing.T) {
	s := with(odd(), "traditional", "continuous", "auto", "auto-by-server")
	s.Topologies = []scenario.Topology{
		{Kind: scenario.EdgeH2}, {Kind: scenario.Direct}, {Kind: scenario.EdgeHTTP1}, {Kind: scenario.EdgeIdleTimeout, IdleTimeout: ms(20_000)},
	}
	checkTrials(t, s)
}

// A proxy that ends long polls fails them; who keeps the search and asks again gets it.
func TestIdleTimeoutIsTheModel(t *testing.T) {
	for _, keep := range []bool{false, true} {
		s := with(odd(), "traditional", "continuous")
		s.Strategies = append(s.Strategies, retrying("continuous", 3))
		s.Topologies = []scenario.Topology{{Kind: scenario.EdgeIdleTimeout, IdleTimeout: ms(2510)}}
		s.KeepOnDisconnect = keep
		checkTrials(t, s)
	}
}

// A path without conditions is that path wherever it is listed.
func TestPerfectNetworkIsNotTheFirst(t *testing.T) {
	s := with(odd(), "continuous")
	s.Networks = []scenario.Network{{Name: "far", LastHop: scenario.Conditions{RTT: ms(300)}}, {Name: scenario.PerfectNetwork}}
	synctest.Test(t, func(t *testing.T) {
		trials, err := play(t.Context(), t, s, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, seen := range trials {
			var rtt time.Duration
			if seen.Topology != "" {
				rtt = 300 * time.Millisecond
			}
			checkTrialAt(t, s, seen, rtt)
		}
	})
}

// A page that opens its connections as it needs them queues for them as one that has them, on h2 for as few streams as the browser may have.
func TestColdPagesAreTheModel(t *testing.T) {
	s := with(odd(), "traditional", "continuous")
	s.Cold = true
	s.Browser.H2Streams = 3
	checkTrials(t, s)
}

// Tabs share slots, on either protocol. Panels of a tab are equal, so that it does not matter which of them is the first to be answered.
func TestTabsAreTheModel(t *testing.T) {
	s := with(odd(), "traditional", "continuous")
	s.Groups = []scenario.Group{{Name: "slow", Panels: 2, Delay: ms(6130)}}
	s.Tabs = scenario.Tabs{Count: 5, Every: ms(977)}
	s.Bystanders = &scenario.Bystanders{Every: ms(487), Size: 200}
	checkTrials(t, s)
}

// Hidden tabs leave their slots to the others, and delete what they waited for.
func TestHiddenTabsAreTheModel(t *testing.T) {
	s := with(odd(), "traditional", "continuous")
	s.Groups = []scenario.Group{{Name: "slow", Panels: 8, Delay: ms(6130)}}
	s.Tabs = scenario.Tabs{Count: 2, Every: ms(977), Hide: ms(3113)}
	checkTrials(t, s)
}

// The DELETEs of a hidden tab queue with the requests of the others. Where a request takes its time, those that come after them are later for it. On h2: over
// HTTP/1.1 a dropped request would close its connection, and opening another takes its time too.
func TestDeletesQueueAsInTheModel(t *testing.T) {
	s := with(odd(), "traditional", "continuous")
	s.Groups = []scenario.Group{{Name: "slow", Panels: 8, Delay: ms(6130)}}
	s.Tabs = scenario.Tabs{Count: 3, Every: ms(1577), Hide: ms(3113)}
	s.Protocols, s.Browser.H2Streams = []scenario.Protocol{scenario.H2}, 3
	s.Networks = []scenario.Network{{Name: "far", LastHop: scenario.Conditions{RTT: ms(120)}}}
	checkTrialsAt(t, s, clock.Seconds(ms(120)).Duration)
}

// Drawn delays are each repeat's own, the same under every variant. There are as many panels as slots: with more it were chance which of them has
// to wait.
func TestDrawnDelaysAreTheModel(t *testing.T) {
	s := with(odd(), "traditional", "continuous")
	s.Repeats = 3
	s.Groups = []scenario.Group{{Name: "drawn", Panels: 6, Distribution: &scenario.Distribution{
		Lognormal: &scenario.Lognormal{P50: ms(2017), P95: ms(12_345)},
	}}}
	checkTrials(t, s)
}

// The network's round trips come on top, wherever they are.
func TestRoundTripsAreTheModel(t *testing.T) {
	for name, n := range map[string]scenario.Network{
		"last hop":      {Name: "far", LastHop: scenario.Conditions{RTT: ms(120)}},
		"behind edge":   {Name: "far", BehindEdge: scenario.Conditions{RTT: ms(120)}},
		"elasticsearch": {Name: "far", Elasticsearch: scenario.Conditions{RTT: ms(120)}},
	} {
		t.Run(name, func(t *testing.T) {
			s := with(odd(), "traditional", "continuous", "auto", "fallback")
			s.Networks = []scenario.Network{n}
			if n.BehindEdge.RTT.Duration > 0 {
				s.Topologies = []scenario.Topology{{Kind: scenario.EdgeH2}, {Kind: scenario.EdgeHTTP1}}
			}
			checkTrialsAt(t, s, clock.Seconds(ms(120)).Duration)
		})
	}
}
