// Package scenario holds what is to be measured: a dashboard, the strategies and protocols that compete for it, and how often.
//
// A [Scenario] comes from a YAML file by [Decode], which is strict: a field that does not exist, a value out of range and a strategy that
// nobody knows are each reported with line and column, all of them at once. What the file leaves out has the defaults of
// [Decode]'s documentation, so that a Scenario is always complete; as JSON it is part of every result.
package scenario

import (
	"math/rand/v2"
	"slices"
	"time"

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

// ALPN is the protocol's name in TLS.
func (p Protocol) ALPN() string {
	if p == HTTP1 {
		return "http/1.1"
	}
	return "h2"
}

// Protocols lists them, in the order in which they are shown.
func Protocols() []Protocol { return []Protocol{HTTP1, H2} }

// Limits of a scenario. They keep a slip of the keyboard from becoming a run of a day or a machine without memory.
const (
	MaxDelay  = 600 // seconds
	MaxPanels = 1000
	MaxLoad   = 100_000 // searches: values of the sweep × variants × repeats × panels × tabs
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
	Topologies  []Topology          `json:"topologies,omitempty"` // none: direct
	Networks    []Network           `json:"networks,omitempty"`   // none: a perfect one
	Repeats     int                 `json:"repeats"`
	Seed        uint64              `json:"seed"`
	Browser     Browser             `json:"browser"`
	Tabs        Tabs                `json:"tabs,omitzero"`
	// SearchTimeout is Kibana's setting of that name: a search not done by then is given up by the browser. Zero: only
	// what hangs is ended, 600 s after its delay.
	SearchTimeout clock.Seconds `json:"search_timeout_s,omitzero"`
	// KeepOnDisconnect has the dashboard server leave a search alone when the browser's request for it breaks off. Kibana's deletes it.
	KeepOnDisconnect bool `json:"keep_on_disconnect,omitempty"`
	// SearchPool is how many searches the server executes at once, for a scenario about searches that queue: its loads are played one at a time, and none
	// waits for room in the pool. Zero: the pool is to be large enough, or the plan is made to fit it.
	SearchPool int `json:"search_pool,omitempty"`
	// Cold counts the page's connecting into the load. Otherwise a load starts on a page that is already open.
	Cold bool `json:"cold"`
}

// Group is a number of equal panels. Its delay is fixed; or swept: then Sweep holds the values, each a cell of its own, and at
// most one group of a scenario is; or drawn for each panel from a distribution.
type Group struct {
	Name         string          `json:"name"`
	Panels       int             `json:"panels"`
	Delay        clock.Seconds   `json:"delay_s,omitzero"`
	Sweep        []clock.Seconds `json:"sweep_s,omitempty"`
	Distribution *Distribution   `json:"distribution,omitempty"`
	Fault        *Fault          `json:"fault,omitempty"` // of each panel's search
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

// Tabs are the dashboards that one browser loads, all of them the scenario's. They share its connections. The zero value is a single one.
type Tabs struct {
	Count int           `json:"count"`
	Every clock.Seconds `json:"every_s"` // between the start of one and the next
	// Hide is how long after its start a tab is hidden, but for the last one, which stays: what it still waits for is
	// cancelled. Zero: none is.
	Hide clock.Seconds `json:"hide_s,omitzero"`
}

// Number is the number of tabs, which is at least one.
func (t Tabs) Number() int { return max(1, t.Count) }

// Start of a tab, the first is 0, after the start of the load.
func (t Tabs) Start(tab int) time.Duration { return time.Duration(tab) * t.Every.Duration }

// Hidden tells whether a tab is hidden before it has loaded, if it has not by then.
func (t Tabs) Hidden(tab int) bool { return t.Hide.Duration > 0 && tab < t.Number()-1 }

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

// Drawn tells whether any delay comes from a distribution: then repeats differ.
func (s Scenario) Drawn() bool {
	return slices.ContainsFunc(s.Groups, func(g Group) bool { return g.Distribution != nil })
}

// Dashboards is how many dashboards differ for one value of the sweep: one for each repeat where delays are drawn, else one.
func (s Scenario) Dashboards() int {
	if s.Drawn() {
		return s.Repeats
	}
	return 1
}

// Panels lists the dashboard's panels in the order in which the page asks for them, with the swept group's delay set. Drawn delays
// are those of the repeat, counted from 1: the same for all strategies, protocols and topologies, so that these are compared on the same dashboards.
func (s Scenario) Panels(swept clock.Seconds, repeat int) []Panel {
	random := rand.New(rand.NewPCG(s.Seed, uint64(repeat)))
	var panels []Panel
	for i, g := range s.Groups {
		for range g.Panels {
			delay := g.DelayAt(swept)
			if g.Distribution != nil {
				delay = g.Distribution.Draw(random)
			}
			panels = append(panels, Panel{Group: i, Delay: delay})
		}
	}
	return panels
}

// DelayAt is the group's delay in the cell of that swept value; zero if it is drawn.
func (g Group) DelayAt(swept clock.Seconds) clock.Seconds {
	if len(g.Sweep) > 0 {
		return swept
	}
	return g.Delay
}

// Longest is the longest delay of a repeat's panels.
func (s Scenario) Longest(swept clock.Seconds, repeat int) clock.Seconds {
	var longest clock.Seconds
	for _, p := range s.Panels(swept, repeat) {
		longest.Duration = max(longest.Duration, p.Delay.Duration)
	}
	return longest
}

// Ideal is the load time that no way of waiting can beat: the longest delay, from the start of the last tab if there are several. Of a drawn
// scenario it is the repeat's own.
func (s Scenario) Ideal(swept clock.Seconds, repeat int) clock.Seconds {
	ideal := s.Longest(swept, repeat)
	ideal.Duration += s.Tabs.Start(s.Tabs.Number() - 1)
	return ideal
}

// Faulty tells whether anything is to go wrong on purpose.
func (s Scenario) Faulty() bool {
	return slices.ContainsFunc(s.Groups, func(g Group) bool { return g.Fault != nil })
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
