package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pollbench/bench/analysis"
	"pollbench/bench/clock"
	"pollbench/bench/model"
	"pollbench/bench/plan"
	"pollbench/bench/record"
	"pollbench/bench/scenario"
	"pollbench/fixtures/network"
	"pollbench/scenarios"
)

// shipped is a shipped scenario, once around. Its bystanders come at odd times: in virtual time two things can happen at one
// instant, and which of them is the first is then a matter of chance that no machine with time knows.
func shipped(t *testing.T, name string) scenario.Scenario {
	t.Helper()
	text, _ := scenarios.Source(name)
	s, err := scenario.Decode(name, text, scenarios.File)
	if err != nil {
		t.Fatal(err)
	}
	s.Repeats = 1
	s.Bystanders.Every.Duration = 487_300 * time.Microsecond
	if s.Swept() >= 0 {
		s.Groups[s.Swept()].Sweep = []clock.Seconds{ms(1030), ms(2030)}
	}
	return s
}

func ms(n int) clock.Seconds { return clock.Seconds{Duration: time.Duration(n) * time.Millisecond} }

// play runs the whole program but for its command line - browser, dashboard servers, Elasticsearch, TLS and all - on a network in memory and
// in virtual time, where computing takes none.
func play(ctx context.Context, t *testing.T, s scenario.Scenario, o plan.Options) ([]record.Trial, error) {
	t.Helper()
	return playOn(ctx, t, &network.Memory{}, Target{}, s, o)
}

func playOn(ctx context.Context, t *testing.T, n *network.Memory, target Target, s scenario.Scenario, o plan.Options) ([]record.Trial, error) {
	t.Helper()
	backend, err := Start(t.Context(), clock.Standard(), n, s, target)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	o.AtOnce = backend.AtOnce()
	var trials []record.Trial
	err = Run(ctx, Options{
		Scenario: s, Plan: plan.New(s, o), Clock: clock.Standard(), Backend: backend,
		Record: func(seen record.Trial) error {
			trials = append(trials, seen)
			return nil
		},
	})
	return trials, err
}

// In virtual time the measurement must be the model's, to the microsecond: nothing is late and nothing takes time. Each search's parts
// must make up its wasted time.
func TestMeasurementIsTheModel(t *testing.T) {
	for _, name := range []string{"smoke", "http1-vice"} {
		t.Run(name, func(t *testing.T) {
			s := shipped(t, name)
			synctest.Test(t, func(t *testing.T) {
				trials, err := play(t.Context(), t, s, plan.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if want := len(s.Sweep()) * len(s.Strategies) * len(s.Protocols); len(trials) != want {
					t.Fatalf("%d trials, want %d", len(trials), want)
				}
				for _, seen := range trials {
					checkTrial(t, s, seen)
				}
			})
		})
	}
}

// checkTrials plays the scenario and holds each load against the model.
func checkTrials(t *testing.T, s scenario.Scenario) {
	t.Helper()
	checkTrialsAt(t, s, 0)
}

// checkTrialsAt does so where each request takes a round trip.
func checkTrialsAt(t *testing.T, s scenario.Scenario, rtt time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		trials, err := play(t.Context(), t, s, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, seen := range trials {
			checkTrialAt(t, s, seen, rtt)
		}
		if want := len(s.Sweep()) * len(s.Variants()) * s.Repeats; len(trials) != want {
			t.Errorf("%d trials, want %d", len(trials), want)
		}
	})
}

func checkTrial(t *testing.T, s scenario.Scenario, seen record.Trial) {
	t.Helper()
	checkTrialAt(t, s, seen, 0)
}

func checkTrialAt(t *testing.T, s scenario.Scenario, seen record.Trial, rtt time.Duration) {
	t.Helper()
	path, _ := s.Path(seen.Topology)
	want := model.Simulate(s, seen.Swept, seen.Repeat, scenario.Variant{Strategy: seen.Strategy, Protocol: seen.Protocol, Path: path}, rtt)
	name := fmt.Sprintf("%s over %s, %s, at %v", seen.Strategy, seen.Protocol, path, seen.Swept)
	if failed := seen.Outcome == record.Failed; failed != want.Failed() || seen.Intended != seen.Started {
		t.Errorf("%s: %s (%s), %d µs late", name, seen.Outcome, seen.FirstError(), seen.Started-seen.Intended)
		return
	}
	connections := map[scenario.Protocol]int{scenario.HTTP1: 6, scenario.H2: 1}[seen.Protocol]
	if seen.Connections != connections && !want.Failed() && s.Tabs.Hide.Duration == 0 && path.IdleTimeout.Duration == 0 {
		t.Errorf("%s: %d connections, want %d", name, seen.Connections, connections)
	}
	if got, want := fates(seen), expected(want, s.Groups); !slices.Equal(got, want) {
		t.Errorf("%s: panels\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	checkEndings(t, s, seen)
	for _, search := range seen.Searches {
		for _, r := range search.Requests {
			if wants := map[scenario.Protocol]string{scenario.HTTP1: "http/1.1", scenario.H2: "h2"}[seen.Protocol]; r.Status == 200 && r.Protocol != wants {
				t.Errorf("%s: answer over %q", name, r.Protocol)
			}
		}
	}
	var latencies []time.Duration
	for _, b := range seen.Bystanders {
		if b.Error != "" {
			t.Errorf("%s: bystander: %s", name, b.Error)
		}
		latencies = append(latencies, time.Duration(b.Request.Done-b.Intended)*time.Microsecond)
	}
	slices.Sort(latencies)
	slices.Sort(want.Bystanders)
	if !slices.Equal(latencies, want.Bystanders) {
		t.Errorf("%s: bystanders took %v, want %v", name, latencies, want.Bystanders)
	}
}

// fates tells what became of each search, in order: which of several requests that are answered at one instant gets the next slot is a matter of
// chance, and equal panels are equal.
func fates(seen record.Trial) []string {
	var all []string
	for _, s := range seen.Searches {
		if s.Outcome == record.Failed || s.Outcome == record.Hidden {
			s.Start, s.Delivered, s.Requests = seen.Intended, seen.Intended, nil
		}
		all = append(all, fate(max(0, s.Tab-1), s.Group, s.Outcome, time.Duration(s.Start-seen.Intended)*time.Microsecond,
			time.Duration(s.Delivered-seen.Intended)*time.Microsecond, len(s.Requests)))
	}
	slices.Sort(all)
	return all
}

func expected(l model.Load, groups []scenario.Group) []string {
	var all []string
	for _, p := range l.Panels {
		outcome := record.OK
		if p.Hidden {
			outcome = record.Hidden
		}
		if p.Failed {
			outcome = record.Failed
		}
		if p.Failed || p.Hidden {
			p.Start, p.Delivered, p.Sent = 0, 0, nil
		}
		all = append(all, fate(p.Tab, groups[p.Group].Name, outcome, p.Start, p.Delivered, len(p.Sent)))
	}
	slices.Sort(all)
	return all
}

func fate(tab int, group, outcome string, start, delivered time.Duration, requests int) string {
	return fmt.Sprintf("tab %d, %s: %s, started at %v, delivered at %v, %d requests", tab, group, outcome, start, delivered, requests)
}

// Every shipped strategy, played for real, is what the model makes of it.
func TestEveryStrategyIsTheModel(t *testing.T) {
	s := shipped(t, "smoke")
	s, err := s.With(scenario.Overrides{
		Strategies: []string{"traditional", "continuous", "fallback", "kibana-8.5", "kibana-8.6", "no-backoff", "long-first-wait", "rally", "sync", "auto", "auto-by-server"},
		Delays:     []clock.Seconds{ms(330), ms(7330)},
		Panels:     8,
	})
	if err != nil {
		t.Fatal(err)
	}
	checkTrials(t, s)
}

// A search that outlasts a long poll is asked for again.
func TestLongPollRunsOut(t *testing.T) {
	s := shipped(t, "smoke")
	s.Groups[0].Sweep = []clock.Seconds{ms(33_030)}
	checkTrials(t, s)
}

// There are as many dashboard servers as long polls need: sockets must not be what is measured. sawtooth holds 7 × 23 × (6 + 10) of them,
// sawtooth-fine 221 × 4.
func TestDashboardServers(t *testing.T) {
	for name, want := range map[string]int{"sawtooth": 5, "sawtooth-fine": 2, "http1-vice": 1, "smoke": 1} {
		text, _ := scenarios.Source(name)
		s, err := scenario.Decode(name, text, scenarios.File)
		if err != nil {
			t.Fatal(err)
		}
		if got := servers(s, s.Paths()[0], 0); got != want {
			t.Errorf("%s: %d dashboard servers, want %d", name, got, want)
		}
		if got := servers(s, s.Paths()[0], 600); got != 1 {
			t.Errorf("%s, 600 searches at once: %d dashboard servers", name, got)
		}
	}
}

// One load at a time: no two overlap, and each starts on time.
func TestAlone(t *testing.T) {
	s := shipped(t, "smoke")
	synctest.Test(t, func(t *testing.T) {
		trials, err := play(t.Context(), t, s, plan.Options{Alone: true})
		if err != nil {
			t.Fatal(err)
		}
		var end record.Time
		for _, seen := range trials {
			if seen.Intended < end {
				t.Errorf("trial %d starts at %v s, before the last has ended at %v s", seen.Trial, seen.Intended.Seconds(), end.Seconds())
			}
			for _, search := range seen.Searches {
				end = max(end, search.Delivered)
			}
			checkTrial(t, s, seen)
		}
	})
}

// What has ended when the context does is kept; what is under way is not, and nothing hangs.
func TestInterrupted(t *testing.T) {
	s := shipped(t, "smoke")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		// The warm-up takes 1.3 s, and 1 s later the first load starts: at 4 s the loads of 1 s have ended and those of 2 s have not.
		time.AfterFunc(4*time.Second, cancel)
		trials, err := play(ctx, t, s, plan.Options{})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want canceled", err)
		}
		if len(trials) == 0 || len(trials) == 8 {
			t.Errorf("%d of 8 trials were kept", len(trials))
		}
		for _, seen := range trials {
			if seen.Outcome != record.OK {
				t.Errorf("trial %d is kept as %s", seen.Trial, seen.Outcome)
			}
		}
	})
}

// When an observation cannot be kept the run stops at once and says so.
func TestRecordFails(t *testing.T) {
	s := shipped(t, "smoke")
	full := errors.New("disk full")
	synctest.Test(t, func(t *testing.T) {
		backend, err := Start(t.Context(), clock.Standard(), &network.Memory{}, s, Target{})
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		err = Run(t.Context(), Options{
			Scenario: s, Plan: plan.New(s, plan.Options{}), Clock: clock.Standard(), Backend: backend,
			Record: func(record.Trial) error { return full },
		})
		if !errors.Is(err, full) {
			t.Errorf("error %v, want %v", err, full)
		}
	})
}

// A panic in a load ends the run with an error, so that servers which were started for it are closed.
func TestPanicInALoad(t *testing.T) {
	s := shipped(t, "smoke")
	synctest.Test(t, func(t *testing.T) {
		backend, err := Start(t.Context(), clock.Standard(), &network.Memory{}, s, Target{})
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		err = Run(t.Context(), Options{
			Scenario: s, Plan: plan.New(s, plan.Options{}), Clock: clock.Standard(), Backend: backend,
			Record: func(record.Trial) error { panic("out of luck") },
		})
		if err == nil || !strings.Contains(err.Error(), "panic: out of luck") {
			t.Errorf("%v", err)
		}
	})
}

// The wasted time of a virtual run is all sleep, but for HTTP/1.1's wait for slots: nothing else takes time.
func TestWhereTheTimeWent(t *testing.T) {
	s := shipped(t, "http1-vice")
	synctest.Test(t, func(t *testing.T) {
		p := plan.New(s, plan.Options{})
		trials, err := play(t.Context(), t, s, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a := analysis.Analyse(record.Result{Manifest: record.Manifest{Scenario: s, Plan: p}, Trials: trials})
		for _, c := range a.Cells {
			w := c.Wasted
			if *w.Network != 0 || *w.Server != 0 {
				t.Errorf("%s over %s: network %v s, server %v s", c.Strategy, c.Protocol, *w.Network, *w.Server)
			}
			// Six fast panels wait 9 s for a slot, the slow ones not at all: 4.5 s on average.
			var slot float64
			if c.Strategy == "continuous" && c.Protocol == "http1" {
				slot = 4.5
			}
			if c.Strategy == "continuous" && *w.Slot != slot {
				t.Errorf("%s over %s: slot %v s, want %v", c.Strategy, c.Protocol, *w.Slot, slot)
			}
		}
	})
}
