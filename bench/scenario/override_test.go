package scenario

import (
	"testing"

	"pollbench/bench/clock"
	"pollbench/bench/strategy"
)

// sweeping has a fixed group before the swept one, a strategy of its own, and a base that is not the default.
const sweeping = `name: s
dashboard:
  panels: [{name: fixed, count: 2, delay: 4s}, {name: swept, count: 3, delay: {sweep: 1s..2s}}]
strategies: [traditional, continuous, {name: mine, tiers: [{sleep: 1s}]}]
base: continuous
`

func TestWithChangesOnlyWhatIsGiven(t *testing.T) {
	s := decode(t, sweeping)
	zero := uint64(0)
	mine := strategy.Strategy{Name: "mine", Poll: strategy.ByResult, Tiers: []strategy.Tier{{Sleep: seconds(1)}}}
	for _, c := range []struct {
		name   string
		o      Overrides
		change func(*Scenario)
	}{
		{"nothing", Overrides{}, func(*Scenario) {}},
		{"delays", Overrides{Delays: []clock.Seconds{seconds(9)}}, func(s *Scenario) { s.Groups[1].Sweep = []clock.Seconds{seconds(9)} }},
		{"panels", Overrides{Panels: 8}, func(s *Scenario) { s.Groups[1].Panels = 8 }},
		{"repeats", Overrides{Repeats: 2}, func(s *Scenario) { s.Repeats = 2 }},
		{"seed", Overrides{Seed: &zero}, func(s *Scenario) { s.Seed = 0 }},
		{"protocols", Overrides{Protocols: []string{"h2"}}, func(s *Scenario) { s.Protocols = []Protocol{H2} }},
		{"topologies", Overrides{Topologies: []string{"direct", "edge-idle-timeout-1.5s", "edge-idle-timeout=10s"}}, func(s *Scenario) {
			s.Topologies = []Topology{{Kind: Direct}, {EdgeIdleTimeout, seconds(1.5)}, {EdgeIdleTimeout, seconds(10)}}
		}},
		{"topology direct", Overrides{Topologies: []string{"direct"}}, func(*Scenario) {}},
		{"base stays", Overrides{Strategies: []string{"mine", "continuous"}}, func(s *Scenario) {
			s.Strategies = []strategy.Strategy{mine, named(t, "continuous")}
		}},
		{"base becomes traditional", Overrides{Strategies: []string{"rally", "traditional"}}, func(s *Scenario) {
			s.Strategies, s.Base = []strategy.Strategy{named(t, "rally"), named(t, "traditional")}, "traditional"
		}},
		{"base becomes the first", Overrides{Strategies: []string{"rally", "mine"}}, func(s *Scenario) {
			s.Strategies, s.Base = []strategy.Strategy{named(t, "rally"), mine}, "rally"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := s.With(c.o)
			if err != nil {
				t.Fatal(err)
			}
			want := decode(t, sweeping)
			c.change(&want)
			equal(t, got, want)
			equal(t, s, decode(t, sweeping)) // the original is untouched
		})
	}
}

func TestWithErrors(t *testing.T) {
	for _, c := range []struct {
		name, source string
		o            Overrides
		want         string
	}{
		{"nothing swept", head, Overrides{Delays: []clock.Seconds{seconds(1)}, Panels: 2}, "" +
			"x: the scenario sweeps nothing: its delays cannot be replaced, change them in a file\n" +
			"x: the scenario sweeps nothing: its panels cannot be replaced, change them in a file"},
		{"all at once", sweeping, Overrides{
			Delays: []clock.Seconds{seconds(1), seconds(0), seconds(1)}, Panels: 1001,
			Strategies: []string{"min", "rally", "rally"}, Protocols: []string{"h2", "h2c", "h2"}, Repeats: -1,
		}, "" +
			"s: unknown strategy \"min\": did you mean \"mine\"? valid are traditional, continuous, fallback, auto, auto-by-server, kibana-8.5, kibana-8.6, " +
			"no-backoff, long-first-wait, rally, sync, mine\n" +
			"s: 1001 panels in group \"swept\": take 1 to 1000\n" +
			"s: the sweep has a delay of 0s: a delay is over 0 and at most 600s\n" +
			"s: the sweep has 1s twice: name each delay once\n" +
			"s: strategy \"rally\" is there twice: remove one\n" +
			"s: unknown protocol \"h2c\": valid are http1 (HTTP/1.1) and h2 (HTTP/2)\n" +
			"s: protocol \"h2\" is there twice: remove one\n" +
			"s: -1 repeats: take 1 to 1000"},
		// 2 delays × 3 strategies × 2 protocols × 1000 repeats × (2 + 100) panels = 1 224 000
		{"load", sweeping, Overrides{Panels: 100, Repeats: 1000},
			"s: 2 delays × 6 variants (strategy, protocol, path) × 1000 repeats × 102 panels are 1224000 searches: take fewer of one of these, for 100000 at most"},
		{"topologies", head, Overrides{Topologies: []string{"edge-h3", "edge-idle-timeout", "edge-idle-timeout-10", "edge-h2", "edge-h2"}}, "" +
			"x: unknown topology \"edge-h3\": valid are direct, edge-h2, edge-http1 and edge-idle-timeout=10s\n" +
			"x: unknown topology \"edge-idle-timeout\": valid are direct, edge-h2, edge-http1 and edge-idle-timeout=10s\n" +
			"x: topology \"edge-idle-timeout-10\": \"10\" lacks a unit: write 10s or 500ms\n" +
			"x: topology edge-h2 is there twice: remove one"},
		{"nothing carries", head, Overrides{Topologies: []string{"edge-h2"}},
			"x: no topology carries http1: add one that does, such as direct, or remove the protocol"},
		{"panels of both groups", sweeping, Overrides{Panels: 999}, "s: the dashboard has 1001 panels: take at most 1000"},
		{"another's own strategy", head, Overrides{Strategies: []string{"mine"}}, "x: unknown strategy \"mine\": " +
			"valid are traditional, continuous, fallback, auto, auto-by-server, kibana-8.5, kibana-8.6, no-backoff, long-first-wait, rally, sync"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := decode(t, c.source).With(c.o)
			if err == nil {
				t.Fatal("no error")
			}
			equal(t, err.Error(), c.want)
			equal(t, got, Scenario{})
		})
	}
}
