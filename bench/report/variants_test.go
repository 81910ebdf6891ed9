package report

import (
	"testing"
	"time"

	"pollbench/bench/analysis"
	"pollbench/bench/analysis/analysistest"
	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

func ms(n int) clock.Seconds { return clock.Seconds{Duration: time.Duration(n) * time.Millisecond} }

// edges goes through proxies that speak another protocol to the server than to the browser.
func edges() analysis.Analysis {
	s := analysistest.Scenario("edges", []string{"fallback", "auto", "auto-by-server"},
		scenario.Group{Name: "slow", Panels: 6, Delay: ms(6000)}, scenario.Group{Name: "fast", Panels: 6, Delay: ms(1000)})
	s.Topologies = []scenario.Topology{{Kind: scenario.Direct}, {Kind: scenario.EdgeH2}, {Kind: scenario.EdgeHTTP1}}
	return analysis.Analyse(analysistest.Play(s, 0))
}

// manyTabs is more dashboards than HTTP/1.1 has connections.
func manyTabs() analysis.Analysis {
	s := analysistest.Scenario("tabs", []string{"traditional", "continuous"}, scenario.Group{Name: "panels", Panels: 2, Delay: ms(8000)})
	s.Tabs = scenario.Tabs{Count: 8, Every: ms(500)}
	return analysis.Analyse(analysistest.Play(s, 0))
}

// cutting is a network that cuts connections: under continuous polling one load fails, one search is given up, and one is asked again.
func cutting() analysis.Analysis {
	s := analysistest.Scenario("cuts", []string{"traditional", "continuous"}, scenario.Group{Name: "panels", Panels: 2, Delay: ms(2000)})
	s.Networks = []scenario.Network{{Name: scenario.PerfectNetwork}, {Name: "wifi", LastHop: scenario.Conditions{RTT: ms(20), Cut: 0.1}}}
	r := analysistest.Play(s, 0)
	var cut int
	for i := range r.Trials {
		x := &r.Trials[i]
		if x.Topology == "" || x.Strategy != "continuous" || x.Protocol != scenario.H2 {
			continue
		}
		switch cut++; cut {
		case 1:
			x.Outcome, x.Searches[1].Outcome, x.Searches[1].Error = record.Failed, record.Failed, "connection cut"
		case 2:
			x.Outcome, x.Searches[0].Outcome, x.Searches[0].Retries = record.Failed, record.TimedOut, 2
		case 3:
			x.Searches[0].Retries = 1
		}
	}
	return analysis.Analyse(r)
}

// mixed draws the delays of each repeat's dashboard.
func mixed() analysis.Analysis {
	s := analysistest.Scenario("mix", []string{"traditional", "continuous", "auto"}, scenario.Group{
		Name: "panels", Panels: 8, Distribution: &scenario.Distribution{Lognormal: &scenario.Lognormal{P50: ms(2000), P95: ms(12_000)}},
	})
	s.Repeats = 20
	return analysis.Analyse(analysistest.Play(s, 0))
}

func TestVariants(t *testing.T) {
	for name, a := range map[string]analysis.Analysis{"edges": edges(), "tabs": manyTabs(), "cuts": cutting(), "mix": mixed()} {
		for _, format := range []string{"text", "csv"} {
			got, err := Write(a, format)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+"."+format, got)
		}
	}
	got, err := Write(mixed(), "markdown")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "mix.markdown", got)
}

// The page has sections of its own for the three runs of the reproduction, and one for each other; of a run that is not there it says nothing.
func TestResults(t *testing.T) {
	named := func(name string) Run {
		a := sample()
		a.Scenario = name
		return Run{Analysis: a, Charts: []Chart{{"sawtooth-h2", "Wasted time against query delay", "charts/" + name + "/sawtooth-h2.svg"}}}
	}
	tabs := Run{Analysis: manyTabs(), Description: "Eight tabs of one browser.", Charts: []Chart{
		{"tabs-h2", "Load time by tab", "charts/tabs/tabs-h2.svg"}, {"waterfall-continuous-h2", "One load", "charts/tabs/waterfall-continuous-h2.svg"},
	}}
	golden(t, "results.markdown", Results([]Run{named("sawtooth"), named("sawtooth-fine"), named("http1-vice"), tabs}))
	falls := Run{Analysis: cutting(), Charts: []Chart{{"waterfall-continuous-h2", "One load", "charts/cuts/waterfall-continuous-h2.svg"}}}
	golden(t, "results-others.markdown", Results([]Run{falls}))
}

// A strategy harms against the base of the same hop, not of another.
func TestHarms(t *testing.T) {
	cell := func(strategy, protocol, topology string, last float64) analysis.Cell {
		tab := analysis.Tab{Load: analysis.Interval{Median: p(last)}}
		return analysis.Cell{Delay: 1, Strategy: strategy, Protocol: protocol, Topology: topology, Tabs: []analysis.Tab{tab, tab}}
	}
	a := analysis.Analysis{
		Cells: []analysis.Cell{
			cell("base", "http1", "direct", 1), cell("other", "http1", "direct", 1.05), cell("base", "http1", "edge", 5), cell("other", "http1", "edge", 5.1),
			cell("base", "h2", "direct", 1), cell("other", "h2", "direct", 3),
		},
		Summary: []analysis.Summary{
			{Protocol: "http1", Topology: "direct", Base: "base", Other: "other"}, {Protocol: "http1", Topology: "edge", Base: "base", Other: "other"},
			{Protocol: "h2", Topology: "direct", Base: "base", Other: "other"},
		},
	}
	want := "h2 over direct at 1 s: under other the last of 2 tabs loaded in 3.00 s; under base in 1.00 s"
	if got := harms(a); len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFaster(t *testing.T) {
	for _, c := range []struct {
		mean, max float64
		want      string
	}{
		{0.1, 0.1, "faster than base by 10.0 %; "},
		{0.1, 0.2, "faster than base by 10.0 % on average and 20.0 % at most (at 3 s); "},
		{-0.0004, -0.0004, "faster than base by 0.0 %; "},
		{-0.1, -0.1, "slower than base by 10.0 %; "},
		{-0.1, -0.05, "slower than base by 10.0 % on average and 5.0 % at least (at 3 s); "},
		{-0.1, 0.05, "slower than base by 10.0 % on average, and at best faster by 5.0 % (at 3 s); "},
	} {
		s := analysis.Summary{Protocol: "h2", Topology: "direct", Base: "base", Other: "other", Mean: p(c.mean), Max: p(c.max), MaxAt: p(3)}
		want := "h2: other loads " + c.want + "other wastes – per search at the median"
		if got := faster(analysis.Analysis{}, s); got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
}
