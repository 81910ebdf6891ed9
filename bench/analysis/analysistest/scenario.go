package analysistest

import (
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/scenario"
	"pollbench/bench/strategy"
)

// Scenario is one with these strategies, the first of which is the base, on both protocols.
func Scenario(name string, strategies []string, groups ...scenario.Group) scenario.Scenario {
	s := scenario.Scenario{
		Name: name, Groups: groups, Base: strategies[0], Repeats: 7, Seed: 5, Protocols: scenario.Protocols(),
		Browser: scenario.Browser{HTTP1Connections: 6, H2Streams: 256}, Bystanders: &scenario.Bystanders{Every: clock.Seconds{Duration: 500 * time.Millisecond}},
	}
	for _, name := range strategies {
		st, ok := strategy.Named(name)
		if !ok { // one that is not shipped, with a name of its own
			st = strategy.NoBackoff()
			st.Name = name
		}
		s.Strategies = append(s.Strategies, st)
	}
	return s
}
