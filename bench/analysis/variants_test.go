package analysis

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pollbench/bench/analysis/analysistest"
	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

func ms(n int) clock.Seconds { return clock.Seconds{Duration: time.Duration(n) * time.Millisecond} }

// dashboard is a scenario with these strategies, the first of which is the base, on both protocols.
func dashboard(strategies []string, groups ...scenario.Group) scenario.Scenario {
	s := scenario.Scenario{
		Name: "made", Groups: groups, Base: strategies[0], Repeats: 7, Seed: 5, Protocols: scenario.Protocols(),
		Browser: scenario.Browser{HTTP1Connections: 6, H2Streams: 256},
	}
	for _, name := range strategies {
		st, _ := strategy.Named(name)
		s.Strategies = append(s.Strategies, st)
	}
	return s
}

func cellOf(t *testing.T, a Analysis, strategy, protocol, topology string) Cell {
	t.Helper()
	for _, c := range a.Cells {
		if c.Strategy == strategy && c.Protocol == protocol && c.Topology == topology {
			return c
		}
	}
	t.Fatalf("no cell of %s over %s, %s", strategy, protocol, topology)
	return Cell{}
}

// close tells whether a value is as expected but for the noise of played loads.
func within(t *testing.T, what string, got *float64, want, by float64) {
	t.Helper()
	if got == nil || *got < want || *got > want+by {
		t.Errorf("%s is %v, want %v to %v", what, show(got), want, want+by)
	}
}

// Behind a proxy the two protocols differ, and each path carries what it can. Searches of 6 s: by Kibana's table the polls notice them
// after 8.2 s; long polls take two rounds of six connections on HTTP/1.1, the second 0.2 s late.
func TestTopologies(t *testing.T) {
	s := dashboard([]string{"fallback", "auto", "auto-by-server"}, scenario.Group{Name: "panels", Panels: 10, Delay: ms(6000)})
	s.Topologies = []scenario.Topology{{Kind: scenario.Direct}, {Kind: scenario.EdgeH2}, {Kind: scenario.EdgeHTTP1}}
	s.Networks = []scenario.Network{{Name: scenario.PerfectNetwork}, {Name: "far", LastHop: scenario.Conditions{RTT: ms(100)}}}
	a := Analyse(analysistest.Play(s, 0))
	var got []string
	for _, c := range a.Cells {
		if c.Strategy == "auto" {
			got = append(got, c.Protocol+" "+c.Topology)
		}
		if !c.Explained() || c.Finished != 7 {
			t.Errorf("%s over %s, %s: %d finished, %v of %v, warnings %q", c.Strategy, c.Protocol, c.Topology, c.Finished, *c.Load.Median,
				show(c.Model.LoadRTT), c.Warnings)
		}
	}
	want := "http1 direct, h2 direct, http1 direct+far, h2 direct+far, h2 edge-h2, h2 edge-h2+far, http1 edge-http1, http1 edge-http1+far"
	if strings.Join(got, ", ") != want {
		t.Errorf("cells of %v\nwant %v", got, want)
	}
	within(t, "long polls missed behind h2", cellOf(t, a, "auto-by-server", "h2", "edge-h2").Load.Median, 8.2, 0.03)
	within(t, "long polls used behind h2", cellOf(t, a, "auto", "h2", "edge-h2").Load.Median, 6, 0.01)
	within(t, "long polls behind HTTP/1.1", cellOf(t, a, "auto-by-server", "http1", "edge-http1").Load.Median, 6.2, 0.01)
	// A model at zero latency knows no network; with the round trip of this run it does.
	far := cellOf(t, a, "auto", "h2", "direct+far")
	near(t, "load at zero latency", far.Model.Load, 6)
	within(t, "load at 101 ms", far.Model.LoadRTT, 6.1, 0.0011)
	near(t, "wasted at zero latency", far.Model.Wasted.Mean, 0)
	within(t, "wasted at 101 ms", far.Model.WastedRTT.Mean, 0.1, 0.0011)

	if n := len(a.Environment.RoundTrip); n != 8 {
		t.Errorf("%d round trips: %v", n, a.Environment.RoundTrip)
	}
	for name, want := range map[string]float64{"h2 edge-h2": 0.001, "http1 direct": 0.001, "h2 direct+far": 0.101, "http1 edge-http1+far": 0.101} {
		rtt := a.Environment.RoundTrip[name]
		near(t, "round trip of "+name, &rtt, want)
	}
	var compared []string
	for _, sum := range a.Summary {
		compared = append(compared, fmt.Sprintf("%s %s %s", sum.Other, sum.Protocol, sum.Topology))
		if sum.Mix != nil {
			t.Errorf("a mix of %s without drawn delays", sum.Other)
		}
	}
	if len(compared) != 16 || compared[0] != "auto http1 direct" || compared[15] != "auto-by-server http1 edge-http1+far" || len(a.Comparisons) != 16 {
		t.Errorf("%d comparisons, summaries of %q", len(a.Comparisons), compared)
	}
}

// Alone, the direct path is what it always was: trials do not name it, and the round trips have the protocols' names.
func TestDirectAlone(t *testing.T) {
	a := Analyse(loads(7))
	if c := a.Cells[0]; c.Topology != "direct" || c.Tabs != nil || a.Summary[0].Topology != "direct" || a.Comparisons[0].Topology != "direct" {
		t.Errorf("topology %q, tabs %v", c.Topology, c.Tabs)
	}
	if rtt, ok := a.Environment.RoundTrip["h2"]; !ok || len(a.Environment.RoundTrip) != 1 {
		t.Errorf("round trips %v, %v", rtt, a.Environment.RoundTrip)
	}
}

// Seven tabs of one panel of 20 s, a second apart: on HTTP/1.1 each long poll keeps its connection, and the seventh tab, opened after 6 s, waits
// for the first search to end: 14 s.
func TestTabs(t *testing.T) {
	s := dashboard([]string{"traditional", "continuous"}, scenario.Group{Name: "panel", Panels: 1, Delay: ms(20_000)})
	s.Tabs = scenario.Tabs{Count: 7, Every: ms(1000)}
	s.Bystanders = &scenario.Bystanders{Every: ms(500)}
	a := Analyse(analysistest.Play(s, 0))
	c := cellOf(t, a, "continuous", "http1", "direct")
	within(t, "load", c.Load.Median, 40, 0.01)
	near(t, "ideal", &c.Delay, 20)
	within(t, "overhead", c.Overhead.Median, 14, 0.01) // 40 s less 20 s less the start of the last tab
	if len(c.Tabs) != 7 {
		t.Fatalf("%d tabs", len(c.Tabs))
	}
	within(t, "first tab", c.Tabs[0].Load.Median, 20, 0.01)
	within(t, "last tab", c.Tabs[6].Load.Median, 34, 0.01)
	within(t, "wasted by the last tab", c.Tabs[6].Wasted.Mean, 14, 0.01)
	within(t, "slot wait of the last tab", c.Tabs[6].Wasted.Slot, 14, 0.01)
	within(t, "wasted by a search", c.Wasted.Mean, 2, 0.01) // 14 s of seven
	if c.Tabs[6].Tab != 7 || c.Tabs[6].Load.Lo == nil || c.Tabs[6].Bystanders.Median == nil {
		t.Errorf("last tab %+v", c.Tabs[6])
	}
	if !c.Explained() {
		t.Errorf("not explained: %v", c.Warnings)
	}
	h2 := cellOf(t, a, "continuous", "h2", "direct")
	within(t, "last tab on h2", h2.Tabs[6].Load.Median, 20, 0.01)
	// Its panel counts from its tab's start.
	within(t, "group", h2.Groups[0].Delivered.Median, 20, 0.01)
}

// A hidden tab's searches are counted, and nothing else of them is: by then nobody waits for them.
func TestHiddenTabs(t *testing.T) {
	s := dashboard([]string{"traditional", "continuous"}, scenario.Group{Name: "panel", Panels: 6, Delay: ms(20_000)})
	s.Tabs = scenario.Tabs{Count: 2, Every: ms(2000), Hide: ms(3000)}
	a := Analyse(analysistest.Play(s, 0))
	c := cellOf(t, a, "continuous", "http1", "direct")
	if want := (Outcomes{OK: 42, Hidden: 42}); c.Outcomes != want || c.Finished != 7 {
		t.Errorf("outcomes %+v of %d trials, want %+v", c.Outcomes, c.Finished, want)
	}
	absent(t, "load of the hidden tab", c.Tabs[0].Load.Median)
	absent(t, "wasted by the hidden tab", c.Tabs[0].Wasted.Mean)
	within(t, "load", c.Load.Median, 23, 0.01) // the connections are free at 3 s
	within(t, "second tab", c.Tabs[1].Load.Median, 21, 0.01)
	within(t, "wasted", c.Wasted.Mean, 1, 0.01)
	within(t, "group", c.Groups[0].Delivered.Median, 21, 0.01)
	near(t, "requests per search", c.RequestsPerSearch, 2)
	if n := a.Summary[0].Wasted.N; n != 42 {
		t.Errorf("%d searches pooled, want the second tab's 42", n)
	}
	r := analysistest.Play(s, 0)
	last := &r.Trials[len(r.Trials)-1]
	last.Outcome, last.Error, last.Searches = record.Failed, "no\n\tpage", nil
	warned(t, Analyse(r).Warnings, "1 of 28 trials failed and do not count")
	warned(t, Analyse(r).Warnings, "1 trial failed: no page") // a search that was hidden has not failed
	w := Picture(analysistest.Play(s, 0), a).Waterfalls[0]
	if len(w.Lanes) != 12 || len(w.Lanes[0].Spans) != 0 || w.Lanes[11].Tab != 2 || w.Lanes[11].Spans[0].From != 2 {
		t.Errorf("lanes %+v", w.Lanes)
	}
}

// A trial that failed has no place in the statistics, but its searches are counted; those of a page that could not be opened have all failed.
func TestOutcomes(t *testing.T) {
	s := dashboard([]string{"traditional", "continuous"}, scenario.Group{Name: "panel", Panels: 2, Delay: ms(2000)})
	s.Protocols = s.Protocols[1:]
	s.Networks = []scenario.Network{{Name: "cuts", LastHop: scenario.Conditions{Cut: 0.1}}}
	r := analysistest.Play(s, 0)
	var changed int
	for i := range r.Trials {
		x := &r.Trials[i]
		if x.Strategy != "continuous" {
			continue
		}
		switch changed++; changed {
		case 1:
			x.Outcome, x.Searches[1].Outcome, x.Searches[1].Error, x.Searches[1].Retries = record.Failed, record.Failed, "connection cut", 2
		case 2:
			x.Outcome, x.Searches[0].Outcome = record.Failed, record.TimedOut
			x.Searches[0].Retries = 1
		case 3:
			x.Outcome, x.Error, x.Searches = record.Failed, "no page", nil
		case 4:
			x.Searches[0].Retries = 1
		}
	}
	a := Analyse(r)
	c := cellOf(t, a, "continuous", "h2", "direct+cuts")
	if want := (Outcomes{OK: 10, Failed: 3, TimedOut: 1, Retries: 4}); c.Outcomes != want {
		t.Errorf("outcomes %+v, want %+v", c.Outcomes, want)
	}
	if c.Finished != 4 || c.Failed != 3 || c.Trials != 7 {
		t.Errorf("%d of %d finished, %d failed", c.Finished, c.Trials, c.Failed)
	}
	warned(t, a.Warnings, "3 of 14 trials failed and do not count")
	for _, cause := range []string{"connection cut", "no page", "no reason was recorded"} {
		warned(t, a.Warnings, "1 trial failed: "+cause)
	}
	warned(t, c.Warnings, "no expectation: ")
	absent(t, "expected load", c.Model.Load)
	absent(t, "expected waste", c.Model.Wasted.Mean)
	if c.Expected() || c.Explained() {
		t.Error("something was expected of cut connections")
	}
	near(t, "ideal wall", &a.IdealWall, 2)
}

// A proxy that ends a long poll after 10 s fails every longer search of a strategy that does not retry.
func TestExpectedFailure(t *testing.T) {
	s := dashboard([]string{"traditional", "continuous"}, scenario.Group{Name: "panel", Panels: 2, Delay: ms(12_000)})
	s.Topologies = []scenario.Topology{{Kind: scenario.EdgeIdleTimeout, IdleTimeout: ms(10_000)}}
	a := Analyse(analysistest.Play(s, 0))
	c := cellOf(t, a, "continuous", "h2", "edge-idle-timeout-10s")
	absent(t, "expected load", c.Model.LoadRTT)
	warned(t, c.Warnings, "the model expects failure: of 2 of 2 searches")
	warned(t, c.Warnings, "no finished trial")
	if c.Outcomes.Failed != 14 || c.Failed != 7 {
		t.Errorf("outcomes %+v", c.Outcomes)
	}
	if c := cellOf(t, a, "traditional", "h2", "edge-idle-timeout-10s"); !c.Explained() || len(c.Warnings) > 0 {
		t.Errorf("short polls: %v", c.Warnings)
	}
}
