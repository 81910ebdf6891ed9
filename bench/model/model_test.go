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
	st, _ := strategy.Named(name)
	return Simulate(s, seconds(delay), st, protocol, 0)
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
	st, _ := strategy.Named("traditional")
	for delay, want := range map[float64]float64{0.1: 0.2, 0.5: 0.7, 1: 1.1, 1.4: 1.5, 1.5: 2.6} {
		l := Simulate(equal(1), seconds(delay), st, scenario.H2, 100*time.Millisecond)
		check(t, fmt.Sprint("load at ", delay), l.Time(), want)
	}
	st, _ = strategy.Named("continuous")
	check(t, "continuous", Simulate(equal(1), seconds(5), st, scenario.H2, 100*time.Millisecond).Time(), 5.1)
}

func BenchmarkSimulate(b *testing.B) {
	st, _ := strategy.Named("traditional")
	s := equal(10)
	for b.Loop() {
		Simulate(s, seconds(23), st, scenario.HTTP1, time.Millisecond)
	}
}
