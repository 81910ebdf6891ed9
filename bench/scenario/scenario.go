// Package scenario holds what is to be measured: a dashboard, the strategies and protocols that compete for it, and how often.
//
// A [Scenario] comes from a YAML file by [Decode], which is strict: a field that does not exist, a value out of range and a strategy that
// nobody knows are each reported with line and column, all of them at once. What the file leaves out has the defaults of
// [Decode]'s documentation, so that a Scenario is always complete; as JSON it is part of every result.
package scenario

import (
	"pollbench/bench/clock"
	"pollbench/bench/strategy"
)

// Protocol is what the browser speaks to the server.
type Protocol string

// The protocols that can be measured.
const (
	HTTP1 Protocol = "http1"
	H2    Protocol = "h2"
)

// Protocols lists them, in the order in which they are shown.
func Protocols() []Protocol { return []Protocol{HTTP1, H2} }

// Limits of a scenario. They keep a slip of the keyboard from becoming a run of a day or a machine without memory.
const (
	MaxDelay  = 600 // seconds
	MaxPanels = 1000
	MaxLoad   = 100_000 // trials × panels
)

// Scenario is one complete description of a measurement.
type Scenario struct {
	Name        string              `json:"name"`
	Description string              `json:"description,omitempty"`
	Groups      []Group             `json:"groups"`
	Payload     int                 `json:"payload_bytes"` // size of each search's result
	Bystanders  *Bystanders         `json:"bystanders"`    // nil: none
	Strategies  []strategy.Strategy `json:"strategies"`
	Base        string              `json:"base"` // the strategy that the others are compared with
	Protocols   []Protocol          `json:"protocols"`
	Repeats     int                 `json:"repeats"`
	Seed        uint64              `json:"seed"`
	Browser     Browser             `json:"browser"`
	// Cold counts the page's connecting into the load. Otherwise a load starts on a page that is already open.
	Cold bool `json:"cold"`
}

// Group is a number of equal panels. Its delay is fixed, or swept: then Sweep holds the values, each a cell of its own. At
// most one group of a scenario is swept.
type Group struct {
	Name   string          `json:"name"`
	Panels int             `json:"panels"`
	Delay  clock.Seconds   `json:"delay_s,omitzero"`
	Sweep  []clock.Seconds `json:"sweep_s,omitempty"`
}

// Bystanders are the small requests that a page makes beside its searches, at a fixed rate while it loads.
type Bystanders struct {
	Every clock.Seconds `json:"every_s"`
	Size  int           `json:"size_bytes"` // of each answer
}

// Browser holds the limits of the browser's connections to one host.
type Browser struct {
	HTTP1Connections int `json:"http1_connections"`
	H2Streams        int `json:"h2_streams"`
}

// Panel is one panel of a dashboard: the group it belongs to and how long its search takes.
type Panel struct {
	Group int
	Delay clock.Seconds
}

// Swept is the index of the swept group, or -1.
func (s Scenario) Swept() int {
	for i, g := range s.Groups {
		if len(g.Sweep) > 0 {
			return i
		}
	}
	return -1
}

// Sweep lists the values of the swept group's delay; a scenario that sweeps nothing has a single zero one.
func (s Scenario) Sweep() []clock.Seconds {
	if i := s.Swept(); i >= 0 {
		return s.Groups[i].Sweep
	}
	return []clock.Seconds{{}}
}

// Panels lists the dashboard's panels in the order in which the page asks for them, with the swept group's delay set.
func (s Scenario) Panels(swept clock.Seconds) []Panel {
	var panels []Panel
	for i, g := range s.Groups {
		delay := g.DelayAt(swept)
		for range g.Panels {
			panels = append(panels, Panel{Group: i, Delay: delay})
		}
	}
	return panels
}

// DelayAt is the group's delay in the cell of that swept value.
func (g Group) DelayAt(swept clock.Seconds) clock.Seconds {
	if len(g.Sweep) > 0 {
		return swept
	}
	return g.Delay
}

// Ideal is the load time that no way of waiting can beat: the longest delay of the cell.
func (s Scenario) Ideal(swept clock.Seconds) clock.Seconds {
	var longest clock.Seconds
	for _, g := range s.Groups {
		longest.Duration = max(longest.Duration, g.DelayAt(swept).Duration)
	}
	return longest
}

// Strategy returns the scenario's strategy of that name.
func (s Scenario) Strategy(name string) (strategy.Strategy, bool) {
	for _, st := range s.Strategies {
		if st.Name == name {
			return st, true
		}
	}
	return strategy.Strategy{}, false
}
