package plan

import (
	"testing"
	"time"

	"pollbench/bench/scenario"
)

// atWork is the most searches that are at work at any instant, if each takes its delay from its load's start.
func atWork(s scenario.Scenario, p Plan) int {
	var most int
	for _, at := range p.Trials {
		var n int
		for _, t := range p.Trials {
			if t.Start.Duration <= at.Start.Duration && at.Start.Duration < t.Start.Duration+t.Delay.Duration {
				n += Load(s)
			}
		}
		most = max(most, n)
	}
	return most
}

func TestWaves(t *testing.T) {
	s := sweep(2, 7, 5) // 3 delays × 4 variants × 3 repeats of 4 panels: 48 searches a repeat, 16 a dashboard
	for _, c := range []struct {
		name   string
		atOnce int
		waves  int
		perRun func(Trial) int // what all trials of a wave have in common
	}{
		{"everything fits", 144, 0, nil},
		{"two repeats would", 143, 2, nil},
		{"a repeat at a time", 70, 3, func(t Trial) int { return t.Repeat }},
		{"a dashboard at a time", 16, 9, func(t Trial) int { return t.Repeat*100 + int(t.Delay.Seconds()) }},
		{"a dashboard in two", 8, 18, nil},
		{"not even a load", 3, 36, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := New(s, Options{AtOnce: c.atOnce})
			if len(p.Trials) != 36 || p.AtOnce != c.atOnce {
				t.Fatalf("%d trials, %d at once", len(p.Trials), p.AtOnce)
			}
			if got := atWork(s, p); got > max(c.atOnce, Load(s)) {
				t.Errorf("%d searches are at work at once", got)
			}
			common := map[int]int{}
			var end time.Duration // of the searches so far
			for i, tr := range p.Trials {
				if i > 0 && tr.Wave == p.Trials[i-1].Wave && tr.Start.Duration != p.Trials[i-1].Start.Duration+DefaultSpacing {
					t.Errorf("trial %d starts at %v", i, tr.Start)
				}
				if i > 0 && tr.Wave != p.Trials[i-1].Wave && tr.Start.Duration != end+pause {
					t.Errorf("wave %d starts at %v, the one before ends at %v", tr.Wave, tr.Start, end)
				}
				end = max(end, tr.Start.Duration+tr.Delay.Duration)
				if c.perRun == nil {
					continue
				}
				if first, ok := common[tr.Wave]; ok && first != c.perRun(tr) {
					t.Errorf("wave %d mixes %d and %d", tr.Wave, first, c.perRun(tr))
				}
				common[tr.Wave] = c.perRun(tr)
			}
			if got := p.Trials[len(p.Trials)-1].Wave; got != c.waves {
				t.Errorf("%d waves, want %d", got, c.waves)
			}
		})
	}
}

func TestTabsOfAWave(t *testing.T) {
	s := sweep(5)
	s.Tabs = scenario.Tabs{Count: 3}
	s.Tabs.Every.Duration = 2 * time.Second
	p := New(s, Options{AtOnce: 12}) // a single load of 3 × 4 searches
	// The last tab of a load starts after 4 s, its searches take 5 s.
	if got := p.Trials[1].Start.Duration; got != 10*time.Second {
		t.Errorf("the second load starts at %v", got)
	}
}

// Searches that a browser sends late keep the server busy for longer than the delay.
func TestBusyForLonger(t *testing.T) {
	s := sweep(5)
	p := New(s, Options{AtOnce: 4, Busy: func(t Trial) time.Duration { return 2 * t.Delay.Duration }})
	if got := p.Trials[1].Start.Duration; got != 11*time.Second {
		t.Errorf("the second load starts at %v", got)
	}
}

func TestAloneNeedsNoWaves(t *testing.T) {
	for _, tr := range New(sweep(2, 1), Options{AtOnce: 4, Alone: true}).Trials {
		if tr.Wave != 0 || tr.Start.Duration != 0 {
			t.Fatalf("%+v", tr)
		}
	}
}
