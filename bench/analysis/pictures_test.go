package analysis

import (
	"slices"
	"testing"

	"pollbench/bench/analysis/analysistest"
	"pollbench/bench/clock"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
)

func pictured(s scenario.Scenario) Pictures {
	r := analysistest.Play(s, 0)
	return Picture(r, Analyse(r))
}

// Each variant has its line over the sweep, but for those of which nothing is expected. 6 s are noticed after 8.2.
func TestCurves(t *testing.T) {
	s := dashboard([]string{"traditional", "continuous"}, scenario.Group{Name: "panels", Panels: 2, Sweep: []clock.Seconds{ms(6000), ms(5000)}})
	s.Topologies = []scenario.Topology{{Kind: scenario.Direct}, {Kind: scenario.EdgeH2}}
	s.Networks = []scenario.Network{{Name: scenario.PerfectNetwork}, {Name: "cuts", LastHop: scenario.Conditions{Cuts: []clock.Seconds{ms(100)}}}}
	p := pictured(s)
	if len(p.Curves) != 6 { // two strategies, of direct two protocols and of the proxy one
		t.Fatalf("%d curves", len(p.Curves))
	}
	c := p.Curves[4]
	if c.Strategy != "traditional" || c.Protocol != "h2" || c.Topology != "edge-h2" || len(c.Delay) != 51 || c.Delay[50] != 6 {
		t.Errorf("curve of %s over %s, %s: %d points to %v", c.Strategy, c.Protocol, c.Topology, len(c.Delay), c.Delay[len(c.Delay)-1])
	}
	near(t, "waste at 6 s", &c.Wasted[50], 2.2)
	if n := len(p.Waterfalls); n != 6 {
		t.Errorf("%d waterfalls, want those of the perfect network", n)
	}
	for _, w := range p.Waterfalls {
		if w.Delay != 6 {
			t.Errorf("a load of %v s, most is gained at 6", w.Delay)
		}
	}
	if p.Loads != nil {
		t.Error("loads of a mix, without one")
	}
	// Over a network of 50 ms a long poll wastes a round trip.
	s.Networks = []scenario.Network{{Name: "far", LastHop: scenario.Conditions{RTT: ms(50)}}}
	far := pictured(s).Curves[1]
	near(t, "waste of continuous over 50 ms", &far.Wasted[0], 0.05)
	s.Topologies = []scenario.Topology{{Kind: scenario.EdgeIdleTimeout, IdleTimeout: ms(5500)}}
	s.Networks = nil
	if c := pictured(s).Curves[1]; len(c.Delay) != 36 { // 5 to 5.7 s: a poll sent at 0.2 s is cut 5.5 s later
		t.Errorf("%d points of continuous behind a proxy that ends what idles, up to %v s", len(c.Delay), c.Delay[len(c.Delay)-1])
	}
}

func TestHops(t *testing.T) {
	s := dashboard([]string{"traditional"}, scenario.Group{Name: "panels", Panels: 1, Delay: ms(300)})
	s.Topologies = []scenario.Topology{{Kind: scenario.Direct}, {Kind: scenario.EdgeHTTP1}}
	far := scenario.Network{Name: "far", LastHop: scenario.Conditions{RTT: ms(100)}, BehindEdge: scenario.Conditions{RTT: ms(10), Cut: 0.1}, Elasticsearch: scenario.Conditions{RTT: ms(1)}}
	s.Networks = []scenario.Network{{Name: scenario.PerfectNetwork}, far}
	want := []Hop{
		{Protocol: "http1", Topology: "direct", Kind: "direct", ServerProtocol: "http1", Network: "perfect", Perfect: true, OnlyRTT: true},
		{Protocol: "h2", Topology: "direct", Kind: "direct", ServerProtocol: "h2", Network: "perfect", Perfect: true, OnlyRTT: true},
		{Protocol: "http1", Topology: "direct+far", Kind: "direct", ServerProtocol: "http1", Network: "far", RTT: 0.101, OnlyRTT: true},
		{Protocol: "h2", Topology: "direct+far", Kind: "direct", ServerProtocol: "h2", Network: "far", RTT: 0.101, OnlyRTT: true},
		{Protocol: "http1", Topology: "edge-http1", Kind: "edge-http1", ServerProtocol: "h2", Network: "perfect", Perfect: true, OnlyRTT: true},
		{Protocol: "http1", Topology: "edge-http1+far", Kind: "edge-http1", ServerProtocol: "h2", Network: "far", RTT: 0.111, Cuts: true, OnlyCuts: true},
	}
	if got := hops(s); !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	// What fails there may have failed for another reason.
	limited, faulty, idle := s, s, s
	limited.SearchTimeout = ms(1000)
	faulty.Groups = []scenario.Group{{Name: "panels", Panels: 1, Delay: ms(300), Fault: &scenario.Fault{}}}
	far.LastHop = far.BehindEdge
	idle.Networks = []scenario.Network{far}
	idle.Topologies = []scenario.Topology{{Kind: scenario.EdgeIdleTimeout, IdleTimeout: ms(5000)}}
	for name, s := range map[string]scenario.Scenario{"a search timeout": limited, "a fault": faulty, "an idle timeout": idle} {
		all := hops(s)
		if last := all[len(all)-1]; !last.Cuts || last.OnlyCuts {
			t.Errorf("with %s: %+v", name, last)
		}
	}
}

// The loads of a mix in ascending order; the waterfalls all show the same of its dashboards.
func TestDrawnPictures(t *testing.T) {
	p := pictured(mixed(9))
	if len(p.Loads) != 4 || p.Curves != nil {
		t.Fatalf("%d loads, %d curves", len(p.Loads), len(p.Curves))
	}
	for _, l := range p.Loads {
		if len(l.Load) != 9 || len(l.Overhead) != 9 || !slices.IsSorted(l.Load) || !slices.IsSorted(l.Overhead) {
			t.Errorf("loads of %s over %s: %v, %v", l.Strategy, l.Protocol, l.Load, l.Overhead)
		}
	}
	for _, w := range p.Waterfalls {
		if w.Delay != p.Waterfalls[0].Delay {
			t.Errorf("waterfalls of %v and %v s", p.Waterfalls[0].Delay, w.Delay)
		}
	}
	r := analysistest.Play(mixed(9), 0)
	for i := range r.Trials {
		if r.Trials[i].Strategy == "continuous" {
			r.Trials[i].Outcome = record.Failed
		}
	}
	if got := Picture(r, Analyse(r)); len(got.Loads) != 2 || len(got.Waterfalls) != 2 {
		t.Errorf("%d loads and %d waterfalls where continuous has failed", len(got.Loads), len(got.Waterfalls))
	}
}
