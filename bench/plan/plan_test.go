package plan

import (
	"reflect"
	"testing"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

func sweep(delays ...time.Duration) scenario.Scenario {
	s := scenario.Scenario{
		Groups:     []scenario.Group{{Name: "panels", Panels: 4}},
		Strategies: []strategy.Strategy{{Name: "a"}, {Name: "b"}},
		Protocols:  scenario.Protocols(),
		Repeats:    3, Seed: 1,
	}
	for _, d := range delays {
		s.Groups[0].Sweep = append(s.Groups[0].Sweep, clock.Seconds{Duration: d * time.Second})
	}
	return s
}

func TestEveryTrialOnce(t *testing.T) {
	p := New(sweep(2, 7, 5), Options{})
	type cell struct {
		delay    time.Duration
		strategy string
		protocol scenario.Protocol
		repeat   int
	}
	seen := map[cell]int{}
	for i, tr := range p.Trials {
		seen[cell{tr.Delay.Duration, tr.Strategy, tr.Protocol, tr.Repeat}]++
		if tr.Trial != i || tr.Swept != tr.Delay {
			t.Errorf("trial %d is numbered %d, swept %v, delay %v", i, tr.Trial, tr.Swept, tr.Delay)
		}
		if want := time.Duration(i) * 22 * time.Millisecond; tr.Start.Duration != want {
			t.Errorf("trial %d starts at %v, want %v", i, tr.Start, want)
		}
		if i > 0 && tr.Delay.Duration > p.Trials[i-1].Delay.Duration {
			t.Errorf("trial %d is longer than the one before", i)
		}
	}
	if len(p.Trials) != 36 || len(seen) != 36 { // 3 delays × 2 strategies × 2 protocols × 3 repeats
		t.Errorf("%d trials, %d of them distinct; want 36", len(p.Trials), len(seen))
	}
}

func TestSeed(t *testing.T) {
	s := sweep(1, 2, 3)
	if !reflect.DeepEqual(New(s, Options{}), New(s, Options{})) {
		t.Error("the same seed gives two plans")
	}
	other := s
	other.Seed = 2
	if reflect.DeepEqual(New(s, Options{}).Trials, New(other, Options{}).Trials) {
		t.Error("another seed gives the same plan")
	}
	var first []string
	for _, tr := range New(s, Options{}).Trials[:12] {
		first = append(first, tr.Strategy)
	}
	if reflect.DeepEqual(first, []string{"a", "a", "a", "a", "a", "a", "b", "b", "b", "b", "b", "b"}) {
		t.Error("the strategies of one delay are not shuffled")
	}
}

func TestSpacingAndAlone(t *testing.T) {
	s := sweep(1)
	if got := New(s, Options{Spacing: 50 * time.Millisecond}).Trials[3].Start.Duration; got != 150*time.Millisecond {
		t.Errorf("the fourth starts at %v", got)
	}
	if got := New(s, Options{Spacing: time.Millisecond}).Spacing.Duration; got != MinSpacing {
		t.Errorf("starts are %v apart", got)
	}
	p := New(s, Options{Alone: true})
	if !p.Alone || p.Trials[3].Start.Duration != 0 {
		t.Errorf("alone %v, start %v", p.Alone, p.Trials[3].Start)
	}
}

// A fixed group that is slower than the swept one sets the load's ideal; the sweep still orders the trials.
func TestFixedGroupIsLonger(t *testing.T) {
	s := sweep(1, 2)
	s.Groups = append(s.Groups, scenario.Group{Name: "slow", Panels: 1, Delay: clock.Seconds{Duration: 9 * time.Second}})
	p := New(s, Options{})
	first, last := p.Trials[0], p.Trials[len(p.Trials)-1]
	if first.Delay.Duration != 9*time.Second || first.Swept.Duration != 2*time.Second || last.Swept.Duration != time.Second {
		t.Errorf("first %+v, last %+v", first, last)
	}
}
