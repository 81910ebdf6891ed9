package scenario

import (
	"cmp"
	"slices"
	"time"

	"pollbench/bench/clock"
)

// Topology is the hops between browser and dashboard server.
type Topology struct {
	Kind TopologyKind `json:"kind"`
	// IdleTimeout is after how long the proxy of [EdgeIdleTimeout] ends a request whose answer has not begun.
	IdleTimeout clock.Seconds `json:"idle_timeout_s,omitzero"`
}

// TopologyKind says what stands between browser and dashboard server.
type TopologyKind string

// The topologies that can be measured.
const (
	Direct          TopologyKind = "direct"            // nothing
	EdgeH2          TopologyKind = "edge-h2"           // a proxy: h2 to the browser, HTTP/1.1 to the server
	EdgeHTTP1       TopologyKind = "edge-http1"        // a proxy: HTTP/1.1 to the browser, h2 to the server
	EdgeIdleTimeout TopologyKind = "edge-idle-timeout" // a proxy that speaks to the server what the browser speaks, and ends requests that idle
)

// TopologyKinds lists them, in the order in which they are shown.
func TopologyKinds() []TopologyKind {
	return []TopologyKind{Direct, EdgeH2, EdgeHTTP1, EdgeIdleTimeout}
}

// Describe says in one line what stands between browser and dashboard server.
func (k TopologyKind) Describe() string {
	switch k {
	case EdgeH2:
		return "a proxy that speaks h2 to the browser and HTTP/1.1 to the server"
	case EdgeHTTP1:
		return "a proxy that speaks HTTP/1.1 to the browser and h2 to the server"
	case EdgeIdleTimeout:
		return "a proxy that ends requests whose answer has not begun in time: {edge-idle-timeout: 10s}"
	}
	return "nothing between browser and server"
}

// String is the topology's name in results: edge-idle-timeout-10s, say.
func (t Topology) String() string {
	if t.Kind == EdgeIdleTimeout {
		return string(t.Kind) + "-" + t.IdleTimeout.String()
	}
	return string(t.Kind)
}

// Network is the state of the network on each hop. Conditions that are zero are perfect.
type Network struct {
	Name          string     `json:"name"`                   // [PerfectNetwork] if it is
	LastHop       Conditions `json:"last_hop,omitzero"`      // between the browser and whatever it is connected to
	BehindEdge    Conditions `json:"behind_edge,omitzero"`   // between a proxy and the dashboard server
	Elasticsearch Conditions `json:"elasticsearch,omitzero"` // between the dashboard server and Elasticsearch
}

// PerfectNetwork is the name of the network without delay, limit and cut.
const PerfectNetwork = "perfect"

// Conditions of one hop.
type Conditions struct {
	RTT       clock.Seconds   `json:"rtt_s,omitzero"`
	Jitter    clock.Seconds   `json:"jitter_s,omitzero"`              // each direction's delay varies by up to this
	Bandwidth int             `json:"bandwidth_bytes_per_s,omitzero"` // each way; 0: unlimited
	Cut       float64         `json:"cut_per_s,omitzero"`             // probability, per connection and second of its age, that it is cut
	Cuts      []clock.Seconds `json:"cuts_s,omitempty"`               // after the load's start: every connection is cut
}

// Cutting tells whether connections are cut.
func (c Conditions) Cutting() bool { return c.Cut > 0 || len(c.Cuts) > 0 }

// OnlyRTT tells whether nothing but a round trip sets the hop apart from a perfect one.
func (c Conditions) OnlyRTT() bool { return !c.Cutting() && c.Jitter.Duration == 0 && c.Bandwidth == 0 }

// Perfect tells whether nothing sets the hop apart from a perfect one.
func (c Conditions) Perfect() bool { return c.OnlyRTT() && c.RTT.Duration == 0 }

// Path is a topology under the conditions of a network: all that lies between browser and Elasticsearch.
type Path struct {
	Topology
	Network Network
}

// String is the path's name, as results have it under topology: the topology's, and after a plus sign the network's unless that is perfect.
func (p Path) String() string {
	if p.Network.Name == PerfectNetwork || p.Network.Name == "" {
		return p.Topology.String()
	}
	return p.Topology.String() + "+" + p.Network.Name
}

// Carries tells whether a browser can speak the protocol over this path.
func (p Path) Carries(protocol Protocol) bool {
	switch p.Kind {
	case EdgeH2:
		return protocol == H2
	case EdgeHTTP1:
		return protocol == HTTP1
	}
	return true
}

// ServerProtocol is what the dashboard server is spoken to when the browser speaks the given one.
func (p Path) ServerProtocol(browser Protocol) Protocol {
	switch p.Kind {
	case EdgeH2:
		return HTTP1
	case EdgeHTTP1:
		return H2
	}
	return browser
}

// HasEdge tells whether a proxy stands between browser and dashboard server.
func (p Path) HasEdge() bool { return p.Kind != Direct }

// Conditions are those of each hop that there is.
func (p Path) Conditions() []Conditions {
	all := []Conditions{p.Network.LastHop, p.Network.Elasticsearch}
	if p.HasEdge() {
		all = append(all, p.Network.BehindEdge)
	}
	return all
}

// RTT is the round trip that the networks of all hops add to a request that goes to Elasticsearch.
func (p Path) RTT() time.Duration {
	var rtt time.Duration
	for _, c := range p.Conditions() {
		rtt += c.RTT.Duration
	}
	return rtt
}

// Paths are the scenario's topologies under each of its networks.
func (s Scenario) Paths() []Path {
	topologies, networks := s.Topologies, s.Networks
	if len(topologies) == 0 {
		topologies = []Topology{{Kind: Direct}}
	}
	if len(networks) == 0 {
		networks = []Network{{Name: PerfectNetwork}}
	}
	var paths []Path
	for _, t := range topologies {
		for _, n := range networks {
			paths = append(paths, Path{t, n})
		}
	}
	return paths
}

// Path returns the scenario's path of that name. Plans and observations leave the name out where it is direct.
func (s Scenario) Path(name string) (Path, bool) {
	paths := s.Paths()
	name = cmp.Or(name, string(Direct))
	i := slices.IndexFunc(paths, func(p Path) bool { return p.String() == name })
	if i < 0 {
		return Path{}, false
	}
	return paths[i], true
}

// Variant is what is compared: a strategy over a protocol and a path.
type Variant struct {
	Strategy string
	Protocol Protocol
	Path     Path
}

// Variants lists what competes, path by path, protocol by protocol. A protocol that a path does not carry is left out.
func (s Scenario) Variants() []Variant {
	var variants []Variant
	for _, path := range s.Paths() {
		for _, protocol := range s.Protocols {
			if !path.Carries(protocol) {
				continue
			}
			for _, st := range s.Strategies {
				variants = append(variants, Variant{st.Name, protocol, path})
			}
		}
	}
	return variants
}
