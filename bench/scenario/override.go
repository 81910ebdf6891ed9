package scenario

import (
	"slices"

	"pollbench/bench/clock"
	"pollbench/bench/strategy"
)

// Overrides are what a command line may change of a scenario. A zero field changes nothing.
type Overrides struct {
	Delays     []clock.Seconds // of the swept group
	Panels     int             // count of the swept group
	Strategies []string        // shipped ones, or ones that the scenario defines
	Protocols  []string
	Topologies []string // as [Topology.String] names them, or edge-idle-timeout=10s
	Repeats    int
	Seed       *uint64
}

// With is the scenario with the overrides applied; the receiver stays as it was. Delays and panels need a group that is
// swept. A base that is no longer among the strategies gives way to traditional if that is there, else to the first one.
//
// The result is held against the same rules as a file. The error is of type [Problems], with the scenario's name in place of
// a file and without positions.
func (s Scenario) With(o Overrides) (Scenario, error) {
	c := &collector{file: s.Name}
	s.Groups = slices.Clone(s.Groups)
	swept := s.Swept()
	switch {
	case swept >= 0 && len(o.Delays) > 0:
		s.Groups[swept].Sweep = slices.Clone(o.Delays)
	case swept < 0 && len(o.Delays) > 0:
		c.note(place{}, "the scenario sweeps nothing: its delays cannot be replaced, change them in a file")
	}
	switch {
	case swept >= 0 && o.Panels != 0:
		s.Groups[swept].Panels = o.Panels
	case swept < 0 && o.Panels != 0:
		c.note(place{}, "the scenario sweeps nothing: its panels cannot be replaced, change them in a file")
	}
	if len(o.Strategies) > 0 {
		s.Strategies = s.choose(c, o.Strategies)
		s.Base = followBase(s.Base, s.Strategies)
	}
	if len(o.Protocols) > 0 {
		s.Protocols = nil
		for _, p := range o.Protocols {
			s.Protocols = append(s.Protocols, Protocol(p))
		}
	}
	if len(o.Topologies) > 0 {
		s.Topologies = nil
		for i, name := range o.Topologies {
			t, err := ParseTopology(name)
			if err != nil {
				c.fail(item("topology", i), place{}, "%v", err)
			}
			s.Topologies = append(s.Topologies, t)
		}
	}
	if o.Repeats != 0 {
		s.Repeats = o.Repeats
	}
	if o.Seed != nil {
		s.Seed = *o.Seed
	}
	c.judge(s)
	if err := c.err(); err != nil {
		return Scenario{}, err
	}
	s.dropDefaults()
	return s, nil
}

// choose finds strategies by name: the scenario's own, then the shipped ones.
func (s Scenario) choose(c *collector, names []string) []strategy.Strategy {
	var chosen []strategy.Strategy
	valid := strategy.Names()
	for _, own := range s.Strategies {
		if !slices.Contains(valid, own.Name) {
			valid = append(valid, own.Name)
		}
	}
	for i, name := range names {
		st, ok := s.Strategy(name)
		if !ok {
			st, ok = strategy.Named(name)
		}
		if !ok {
			c.fail(item("strategies", i), place{}, "%s", unknown("strategy", name, valid))
		}
		chosen = append(chosen, st)
	}
	return chosen
}
