package model

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

func seconds(s float64) clock.Seconds {
	return clock.Seconds{Duration: time.Duration(math.Round(s * 1e9))}
}

func dashboard(groups ...scenario.Group) scenario.Scenario {
	return scenario.Scenario{
		Groups:     groups,
		Bystanders: &scenario.Bystanders{Every: seconds(0.5)},
		Browser:    scenario.Browser{HTTP1Connections: 6, H2Streams: 256},
	}
}

func equal(panels int) scenario.Scenario {
	return dashboard(scenario.Group{Panels: panels, Sweep: []clock.Seconds{{}}})
}

func load(s scenario.Scenario, delay float64, name string, protocol scenario.Protocol) Load {
	return loadOver(s, delay, name, protocol, 0)
}

// loadOver plays the scenario's first path.
func loadOver(s scenario.Scenario, delay float64, name string, protocol scenario.Protocol, rtt time.Duration) Load {
	if st, shipped := strategy.Named(name); shipped {
		s.Strategies = append(s.Strategies, st)
	}
	return Simulate(s, seconds(delay), 1, scenario.Variant{Strategy: name, Protocol: protocol, Path: s.Paths()[0]}, rtt)
}

func check(t *testing.T, what string, got time.Duration, want float64) {
	t.Helper()
	if got != seconds(want).Duration {
		t.Errorf("%s: %v, want %v s", what, got, want)
	}
}

// The published arithmetic of Kibana's table, for searches of 1 to 23 s.
var waste = []float64{
	0.1, 0.7, 0.7, 0.7, 0.7, 2.2, 1.2, 0.2, 1.7, 0.7, 2.2, 1.2, 0.2, 1.7, 0.7, 2.2, 1.2, 0.2, 1.7, 0.7, 4.7, 3.7, 2.7,
}

func TestTraditionalOnH2(t *testing.T) {
	var wasted, gain, best float64
	for i, want := range waste {
		d := float64(i + 1)
		l := load(equal(10), d, "traditional", scenario.H2)
		check(t, fmt.Sprint("load at ", d), l.Time(), d+want)
		for _, w := range l.Wasted() {
			check(t, fmt.Sprint("waste at ", d), w, want)
		}
		speedup := 1 - d/l.Time().Seconds()
		wasted += want / 23
		gain += speedup / 23
		best = max(best, speedup)
	}
	// By the same arithmetic: mean waste 1.39 s, mean gain 11.5 %, best 26.8 % at 6 s.
	for _, c := range []struct {
		what      string
		got, want float64
	}{{"mean waste", wasted, 1.39}, {"mean gain", gain, 0.115}, {"best gain", best, 0.268}} {
		if math.Abs(c.got-c.want) > 0.005 {
			t.Errorf("%s %v, want about %v", c.what, c.got, c.want)
		}
	}
}

// Ten equal panels on six connections: the last four start 0.2 s late, and their ticks with them.
func TestTenPanelsOnHTTP1(t *testing.T) {
	moved := map[int]float64{1: 1.3, 8: 10.6, 13: 15.6, 18: 20.6}
	var gain, best float64
	for i, w := range waste {
		d := float64(i + 1)
		want, ok := moved[i+1]
		if !ok {
			want = d + w
		}
		traditional := load(equal(10), d, "traditional", scenario.HTTP1).Time()
		continuous := load(equal(10), d, "continuous", scenario.HTTP1).Time()
		check(t, fmt.Sprint("traditional at ", d), traditional, want)
		check(t, fmt.Sprint("continuous at ", d), continuous, d+0.2)
		speedup := 1 - continuous.Seconds()/traditional.Seconds()
		gain += speedup / 23
		best = max(best, speedup)
	}
	if math.Abs(gain-0.116) > 0.0005 || math.Abs(best-0.244) > 0.0005 {
		t.Errorf("gain: mean %.4f, best %.4f; want 0.116 and 0.244", gain, best)
	}
}

func TestContinuousOnH2WastesNothing(t *testing.T) {
	for _, d := range []float64{0.1, 0.2, 1, 7.3, 23, 30.2, 31, 90} {
		check(t, fmt.Sprint("load at ", d), load(equal(10), d, "continuous", scenario.H2).Time(), d)
	}
}

// Six panels of 10 s ask first, then six of 1 s: long polls hold all six connections until the slow ones are done.
func TestVice(t *testing.T) {
	s := dashboard(
		scenario.Group{Name: "slow", Panels: 6, Delay: seconds(10)},
		scenario.Group{Name: "fast", Panels: 6, Delay: seconds(1)},
	)
	continuous := load(s, 0, "continuous", scenario.HTTP1)
	check(t, "continuous load on HTTP/1.1", continuous.Time(), 10)
	check(t, "traditional load on HTTP/1.1", load(s, 0, "traditional", scenario.HTTP1).Time(), 10.7)
	for _, p := range continuous.Panels[6:] {
		check(t, "fast panel delivered", p.Delivered, 10)
	}
	// The first small request of the page asks at 0.5 s and waits for a long poll to end, as all after it do.
	check(t, "first bystander", continuous.Bystanders[0], 9.5)
	h2 := load(s, 0, "continuous", scenario.H2)
	check(t, "fast panel on h2", h2.Panels[6].Delivered, 1)
	for _, latency := range h2.Bystanders {
		check(t, "bystander on h2", latency, 0)
	}
	if n := len(h2.Bystanders); n < 19 || n > 20 {
		t.Errorf("%d bystanders in 10 s at one each 0.5 s", n)
	}
}

// With the fast panels first there is no harm: by the same arithmetic they are done before anybody needs their slot.
func TestFastPanelsFirst(t *testing.T) {
	s := dashboard(
		scenario.Group{Name: "fast", Panels: 6, Delay: seconds(1)},
		scenario.Group{Name: "slow", Panels: 6, Delay: seconds(10)},
	)
	l := load(s, 0, "continuous", scenario.HTTP1)
	check(t, "fast panel", l.Panels[0].Delivered, 1.0)
	check(t, "load", l.Time(), 10.2)
}

// A synchronous search holds its connection for all its time: ten panels need two rounds of six connections.
func TestSync(t *testing.T) {
	check(t, "HTTP/1.1", load(equal(10), 5, "sync", scenario.HTTP1).Time(), 10)
	check(t, "h2", load(equal(10), 5, "sync", scenario.H2).Time(), 5)
}

// Beyond the limit of streams h2 queues like HTTP/1.1 does: 256 of 300 submits are held 0.2 s before the rest may go.
func TestStreamLimit(t *testing.T) {
	check(t, "300 panels", load(equal(300), 5, "continuous", scenario.H2).Time(), 5.2)
}

// With a round trip of 0.1 s: the search starts 0.05 s late, its submit is answered at 0.3 s, and each tick of the table
// comes a round trip later than the one before: 0.3 0.7 1.1 1.5, then (1.5 s have passed) 2.6.
func TestRoundTrip(t *testing.T) {
	for delay, want := range map[float64]float64{0.1: 0.2, 0.5: 0.7, 1: 1.1, 1.4: 1.5, 1.5: 2.6} {
		l := loadOver(equal(1), delay, "traditional", scenario.H2, 100*time.Millisecond)
		check(t, fmt.Sprint("load at ", delay), l.Time(), want)
	}
	check(t, "continuous", loadOver(equal(1), 5, "continuous", scenario.H2, 100*time.Millisecond).Time(), 5.1)
}

// Where 40 ms of a round trip of 100 ms lie between dashboard server and Elasticsearch, status and result are asked one after the other: the
// answer of the poll that finds the search ended takes 140 ms. Its tick, sent at 0.6, is answered at 0.74 instead of 0.7.
func TestSecondExchangeWithElasticsearch(t *testing.T) {
	s := equal(1)
	s.Networks = []scenario.Network{{Name: "far", Elasticsearch: scenario.Conditions{RTT: seconds(0.04)}}}
	check(t, "traditional", loadOver(s, 0.5, "traditional", scenario.H2, 100*time.Millisecond).Time(), 0.74)
	check(t, "fallback", loadOver(s, 0.5, "fallback", scenario.H2, 100*time.Millisecond).Time(), 0.7)
}

// A page whose panels all ask before the protocol is known sleeps once, from 0.2 to 0.5 s, and polls long until 30.5 s; after 20 s its sleeps are 5 s.
func TestColdPageOfAuto(t *testing.T) {
	for delay, want := range map[float64]float64{0.1: 0.1, 0.3: 0.5, 0.6: 0.6, 6: 6, 23: 23, 30.4: 30.4, 31: 35.5} {
		check(t, fmt.Sprint("auto on h2 at ", delay), load(equal(10), delay, "auto", scenario.H2).Time(), want)
	}
	for delay := range 23 {
		d := float64(delay + 1)
		check(t, fmt.Sprint("auto on HTTP/1.1 at ", d), load(equal(10), d, "auto", scenario.HTTP1).Time(),
			load(equal(10), d, "fallback", scenario.HTTP1).Time().Seconds())
	}
}

// Behind a proxy the server's protocol is not the browser's. Going by it means long polls where they block the connections, and sleeps where
// nothing would be blocked.
func TestWrongHop(t *testing.T) {
	s := equal(10)
	s.Topologies = []scenario.Topology{{Kind: scenario.EdgeHTTP1}}
	check(t, "server's h2 behind HTTP/1.1", load(s, 6, "auto-by-server", scenario.HTTP1).Time(),
		load(equal(10), 6, "continuous", scenario.HTTP1).Time().Seconds())
	s.Topologies[0].Kind = scenario.EdgeH2
	check(t, "server's HTTP/1.1 behind h2", load(s, 6, "auto-by-server", scenario.H2).Time(), 8.2)
	check(t, "the browser's hop", load(s, 6, "auto", scenario.H2).Time(), 6)
	s.Topologies = nil
	// Nothing in between, and the server tells at once: no sleep at all.
	check(t, "server's h2, direct", load(s, 0.3, "auto-by-server", scenario.H2).Time(), 0.3)
}

// The proxy ends a poll that has been held 10 s. It begins at 0.2; the dashboard server then deletes the search, unless it is told not to.
func TestIdleTimeout(t *testing.T) {
	s := equal(2)
	s.Topologies = []scenario.Topology{{Kind: scenario.EdgeIdleTimeout, IdleTimeout: seconds(10)}}
	patient := strategy.Continuous()
	patient.Name, patient.Retry = "patient", 1
	s.Strategies = []strategy.Strategy{patient}
	check(t, "ended before", load(s, 10.1, "continuous", scenario.H2).Time(), 10.1)
	if !load(s, 10.3, "continuous", scenario.H2).Failed() || !load(s, 10.3, "patient", scenario.H2).Failed() {
		t.Error("a search that the dashboard server has deleted is delivered")
	}
	s.KeepOnDisconnect = true
	// Asked again 0.3 s after 10.2, and held from then on.
	check(t, "kept", load(s, 12, "patient", scenario.H2).Time(), 12)
	check(t, "ended in the pause", load(s, 10.3, "patient", scenario.H2).Time(), 10.5)
	if !load(s, 12, "continuous", scenario.H2).Failed() || !load(s, 23, "patient", scenario.H2).Failed() {
		t.Error("more tries than the strategy has")
	}
	check(t, "short polls do not idle", load(s, 12, "traditional", scenario.H2).Time(), 13.2)
}

// Seven tabs of one panel each, all at once: under long polls six hold the six connections, and the seventh's submit waits. Its search starts
// when a submit's hold of 0.2 s is over, for the others queue behind it for their long polls; and so do the bystanders.
func TestSeventhTab(t *testing.T) {
	s := equal(1)
	s.Tabs = scenario.Tabs{Count: 7}
	l := load(s, 5, "continuous", scenario.HTTP1)
	check(t, "first tab", l.Panels[0].Delivered, 5)
	check(t, "seventh tab", l.Panels[6].Delivered, 5.2)
	// Opened a second later it finds all connections held, until the searches end after 5 s.
	s.Tabs.Every = seconds(1)
	s.Tabs.Count = 7
	l = load(s, 20, "continuous", scenario.HTTP1)
	check(t, "sixth tab", l.Panels[5].Delivered, 25)
	check(t, "begin of the seventh", l.Panels[6].Begin, 6)
	// The first search ends at 20 and gives its connection away.
	check(t, "start of the seventh", l.Panels[6].Start, 20)
	check(t, "wasted by the seventh", l.Panels[6].Wasted(), 14)
	check(t, "traditional", load(s, 20, "traditional", scenario.HTTP1).Panels[6].Delivered, 26.7)
	check(t, "on h2", load(s, 20, "continuous", scenario.H2).Panels[6].Delivered, 26)
}

// Hidden tabs give their connections back at once, and their DELETEs queue before what comes later.
func TestHiddenTabs(t *testing.T) {
	s := equal(6)
	s.Tabs = scenario.Tabs{Count: 2, Every: seconds(2), Hide: seconds(3)}
	l := load(s, 20, "continuous", scenario.HTTP1)
	for _, p := range l.Panels[:6] {
		if !p.Hidden || p.Delivered != 0 {
			t.Errorf("panel of the hidden tab: %+v", p)
		}
	}
	check(t, "start of the second tab's panels", l.Panels[6].Start, 3)
	check(t, "load", l.Time(), 23)
	if len(l.Wasted()) != 6 {
		t.Errorf("wasted times of %d panels, want the second tab's 6", len(l.Wasted()))
	}
}

// At the time-out the browser lets go: a last question and a DELETE, and the search has failed.
func TestSearchTimeout(t *testing.T) {
	s := equal(1)
	s.SearchTimeout = seconds(4)
	if l := load(s, 5, "continuous", scenario.H2); !l.Failed() || l.Panels[0].Delivered != 0 {
		t.Errorf("a search of 5 s under a time-out of 4 s: %+v", l.Panels[0])
	}
	check(t, "in time", load(s, 3.9, "continuous", scenario.H2).Time(), 3.9)
	if !load(s, 3.9, "traditional", scenario.H2).Failed() { // its next tick is at 4.7
		t.Error("a search that is noticed only at 4.7 s is delivered")
	}
}

func TestNoExpectation(t *testing.T) {
	path := func(c scenario.Conditions) scenario.Variant {
		return scenario.Variant{Path: scenario.Path{Topology: scenario.Topology{Kind: scenario.EdgeH2}, Network: scenario.Network{Name: "x", BehindEdge: c}}}
	}
	for _, c := range []scenario.Conditions{{Cut: 0.1}, {Cuts: []clock.Seconds{seconds(1)}}, {Bandwidth: 5000}, {Jitter: seconds(0.1)}} {
		if ok, _ := Expects(equal(1), path(c)); ok {
			t.Errorf("something is expected under %+v", c)
		}
	}
	if ok, _ := Expects(equal(1), path(scenario.Conditions{RTT: seconds(0.1)})); !ok {
		t.Error("nothing is expected of a round trip")
	}
	queueing := equal(1)
	queueing.SearchPool, queueing.SearchTimeout = 1, seconds(1)
	if ok, _ := Expects(queueing, path(scenario.Conditions{})); ok {
		t.Error("something is expected of a pool that cancelled searches leave")
	}
	far := path(scenario.Conditions{RTT: seconds(0.1)})
	hiding := equal(1)
	hiding.Tabs = scenario.Tabs{Count: 2, Hide: seconds(1)}
	direct := scenario.Variant{Protocol: scenario.H2}
	direct.Path.Network.LastHop.RTT = seconds(0.1)
	if ok, _ := Expects(hiding, direct); !ok {
		t.Error("nothing is expected of hidden tabs over distant h2, whose connections stay")
	}
	for _, v := range []scenario.Variant{far, {Protocol: scenario.HTTP1, Path: direct.Path}} {
		if ok, _ := Expects(hiding, v); ok {
			t.Errorf("something is expected of hidden tabs over %s, %s, whose connections are opened anew", v.Protocol, v.Path)
		}
	}
	faulty := equal(1)
	faulty.Groups[0].Fault = &scenario.Fault{Kind: scenario.Unavailable}
	if ok, _ := Expects(faulty, path(scenario.Conditions{})); ok {
		t.Error("something is expected of faults")
	}
	long := equal(1)
	long.Groups[0].Sweep = []clock.Seconds{seconds(119), seconds(120)}
	long.Strategies = []strategy.Strategy{{Name: "sync", Sync: true}, {Name: "held", PollWait: seconds(121)}, strategy.Continuous()}
	for _, name := range []string{"sync", "held"} {
		v := path(scenario.Conditions{})
		v.Strategy = name
		if ok, _ := Expects(long, v); ok {
			t.Errorf("something is expected of %s, whose request is silent for 120 s", name)
		}
	}
}

// Ten searches of 3 s on four threads, in the order of their arrival: four are executed until 3 s, four until 6 s, two until 9 s. The results of the first four
// wait behind the last two searches, which begin at 6 s: then there are free threads, and eight results are ready, and at 9 s the rest.
func TestSearchPool(t *testing.T) {
	s := equal(10)
	s.SearchPool = 4
	for _, c := range []struct {
		strategy string
		protocol scenario.Protocol
		load     float64
	}{
		{"continuous", scenario.H2, 9},
		{"continuous", scenario.HTTP1, 9}, // six long polls hold the connections only once all submits have been answered
		{"sync", scenario.H2, 9},
		// On six connections: four are executed until 3 s, two until 6 s beside which the results of the first four are ready at 3 s; the other four begin
		// then, two at once and two at 6 s.
		{"sync", scenario.HTTP1, 9},
		{"traditional", scenario.H2, 10.7}, // asked at 8.2 and 10.7 s
	} {
		check(t, c.strategy+" on "+string(c.protocol), load(s, 3, c.strategy, c.protocol).Time(), c.load)
	}
	l := load(s, 3, "continuous", scenario.H2)
	for i, p := range l.Panels {
		ready := 6.0
		if i >= 8 {
			ready = 9
		}
		check(t, fmt.Sprint("panel ", i), p.Delivered, ready)
		check(t, fmt.Sprint("start of panel ", i), p.Start, ready-3)
	}
	check(t, "waste of the last", l.Panels[9].Wasted(), 6)
	check(t, "at 0.2 s round trip", loadOver(s, 3, "continuous", scenario.H2, 200*time.Millisecond).Time(), 9.2)
}

func BenchmarkSimulate(b *testing.B) {
	s := equal(10)
	for b.Loop() {
		loadOver(s, 23, "traditional", scenario.HTTP1, time.Millisecond)
	}
}
