package plots

import (
	"fmt"
	"sync"
	"time"

	"pollbench/bench/analysis"
	"pollbench/bench/analysis/analysistest"
	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

// Results of scenarios with more than one direct path, one tab and fixed delays, made from the model's loads.

func ms(n int) clock.Seconds { return clock.Seconds{Duration: time.Duration(n) * time.Millisecond} }

func panelsOf(n, delay int) scenario.Group {
	return scenario.Group{Name: "panels", Panels: n, Delay: ms(delay)}
}

// picturing is a result with all that its charts are made from.
type picturing struct {
	analysis.Analysis
	analysis.Pictures
}

func play(s scenario.Scenario, change func(*record.Trial)) picturing {
	r := analysistest.Play(s, 6*time.Millisecond)
	for i := range r.Trials {
		if change != nil {
			change(&r.Trials[i])
		}
	}
	a := analysis.Analyse(r)
	a.Health.Healthy = true
	return picturing{a, analysis.Picture(r, a)}
}

// edges goes through proxies that speak another protocol to the server than to the browser.
func edges(strategies []string, groups ...scenario.Group) scenario.Scenario {
	s := analysistest.Scenario("last-hop", strategies, groups...)
	s.Topologies = []scenario.Topology{{Kind: scenario.Direct}, {Kind: scenario.EdgeH2}, {Kind: scenario.EdgeHTTP1}}
	return s
}

var deciding = []string{"traditional", "continuous", "auto", "auto-by-server"}

func unequal() []scenario.Group {
	return []scenario.Group{{Name: "slow", Panels: 6, Delay: ms(6000)}, {Name: "fast", Panels: 6, Delay: ms(1000)}}
}

func seven(strategies []string, tabs, every int) scenario.Scenario {
	s := analysistest.Scenario("tabs", strategies, panelsOf(1, 20_000))
	s.Tabs = scenario.Tabs{Count: tabs, Every: ms(every)}
	return s
}

// far has networks that differ by their round trips.
func far(strategies []string, rtts ...int) scenario.Scenario {
	s := analysistest.Scenario("network", strategies, panelsOf(4, 6000))
	for _, rtt := range rtts {
		n := scenario.Network{Name: fmt.Sprintf("rtt-%dms", rtt), LastHop: scenario.Conditions{RTT: ms(rtt)}}
		if rtt == 0 {
			n.Name = scenario.PerfectNetwork
		}
		s.Networks = append(s.Networks, n)
	}
	return s
}

// cut has three networks. Under each strategy, of the searches on the one that cuts every so many fail, or are asked again if the strategy retries.
func cut(strategies []string) picturing {
	s := analysistest.Scenario("cuts", strategies, panelsOf(4, 2000))
	s.Networks = []scenario.Network{
		{Name: scenario.PerfectNetwork},
		{Name: "wifi", LastHop: scenario.Conditions{RTT: ms(20), Cut: 0.02}},
		{Name: "train", LastHop: scenario.Conditions{RTT: ms(100), Cut: 0.2}},
	}
	n := 0
	return play(s, func(t *record.Trial) {
		for i := range t.Searches {
			n++
			every := map[string]int{"direct+wifi": 9, "direct+train": 2}[t.Topology]
			switch x := &t.Searches[i]; {
			case every == 0 || n%every > 0:
			case t.Strategy == "patient":
				x.Retries = 2
			default:
				t.Outcome, x.Outcome, x.Error = record.Failed, record.Failed, "connection cut"
			}
		}
	})
}

// drawnDelays is a mix of dashboards most of whose searches are short.
func drawnDelays(strategies []string, repeats int) scenario.Scenario {
	s := analysistest.Scenario("mix", strategies, scenario.Group{
		Name: "panels", Panels: 8, Distribution: &scenario.Distribution{Lognormal: &scenario.Lognormal{P50: ms(2000), P95: ms(12_000)}},
	})
	s.Repeats = repeats
	return s
}

// tabbedEdges has two tabs, 3 s apart, and no strategy that goes by the server's protocol.
func tabbedEdges() scenario.Scenario {
	s := edges([]string{"traditional", "continuous"}, unequal()...)
	s.Tabs = scenario.Tabs{Count: 2, Every: ms(3000)}
	return s
}

// cutAndIdle has long polls end behind a proxy, on a network that cuts connections as well as on a perfect one.
func cutAndIdle() scenario.Scenario {
	s := analysistest.Scenario("cuts", []string{"traditional", "continuous"}, panelsOf(4, 12_000))
	s.Topologies = []scenario.Topology{{Kind: scenario.Direct}, {Kind: scenario.EdgeIdleTimeout, IdleTimeout: ms(10_000)}}
	s.Networks = []scenario.Network{{Name: scenario.PerfectNetwork}, {Name: "wifi", LastHop: scenario.Conditions{RTT: ms(20), Cut: 0.02}}}
	return s
}

// mixedTabs has two tabs, 3 s apart, of panels whose delay is drawn and of others whose is not.
func mixedTabs() scenario.Scenario {
	s := drawnDelays([]string{"traditional", "continuous"}, 20)
	s.Groups = append(s.Groups, scenario.Group{Name: "quick", Panels: 2, Delay: ms(700)})
	s.Tabs = scenario.Tabs{Count: 2, Every: ms(3000)}
	return s
}

var crowded = []string{"traditional", "continuous", "fallback", "auto", "auto-by-server", "kibana-8.5", "kibana-8.6", "no-backoff", "long-first-wait",
	"rally", "sync", "a strategy of our own with quite a long name"}

// played are samples of everything but a sweep on a direct path: as a run would give them, and of more than anybody will ask for.
var played = sync.OnceValue(func() map[string]picturing {
	hiding := seven([]string{"traditional", "continuous"}, 8, 1000)
	hiding.Tabs.Hide = ms(3000)
	swept := far([]string{"traditional", "continuous"}, 0, 100)
	swept.Groups[0].Sweep = []clock.Seconds{ms(2000), ms(4000), ms(6000), ms(8000)}
	swept.Topologies = []scenario.Topology{{Kind: scenario.Direct}, {Kind: scenario.EdgeH2}}
	idle := analysistest.Scenario("idle", []string{"traditional", "continuous"}, panelsOf(4, 12_000))
	idle.Topologies = []scenario.Topology{{Kind: scenario.EdgeIdleTimeout, IdleTimeout: ms(10_000)}}
	manyEdges := edges(crowded, unequal()...)
	manyEdges.Networks = far(crowded, 0, 40).Networks
	return map[string]picturing{
		"edges-tabs":    play(tabbedEdges(), nil),
		"cuts-idle":     play(cutAndIdle(), nil),
		"mix-tabs":      play(mixedTabs(), nil),
		"edges":         play(edges(deciding, unequal()...), nil),
		"edges-equal":   play(edges(deciding, panelsOf(10, 6000)), nil),
		"edges-crowd":   play(manyEdges, nil),
		"tabs":          play(seven([]string{"traditional", "continuous"}, 8, 1000), nil),
		"tabs-hidden":   play(hiding, nil),
		"tabs-crowd":    play(seven(crowded, 20, 200), nil),
		"network":       play(far([]string{"traditional", "continuous", "no-backoff"}, 0, 20, 50, 100, 300), nil),
		"network-crowd": play(far(crowded, 0, 1, 2, 10, 50, 100, 600), nil),
		"network-swept": play(swept, nil),
		"cuts":          cut([]string{"traditional", "continuous", "patient"}),
		"cuts-crowd":    cut(append([]string{"patient"}, crowded...)),
		"idle":          play(idle, nil),
		"mix":           play(drawnDelays([]string{"traditional", "continuous", "auto"}, 40), nil),
		"mix-one":       play(drawnDelays([]string{"traditional", "continuous"}, 1), nil),
		"mix-crowd":     play(drawnDelays(crowded, 40), nil),
	}
})
