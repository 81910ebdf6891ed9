package scenario

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"pollbench/bench/clock"
)

// topologyForms is what every message about a topology shows.
const topologyForms = "direct, edge-h2, edge-http1 or {edge-idle-timeout: 10s}"

func (d *decoder) topology(path string, n ast.Node) (t Topology) {
	switch n := n.(type) {
	case *ast.MappingNode:
		if kind := timeless(n); kind != "" {
			d.fail(path, start(n), "%s%s has no time: write just %s, or {edge-idle-timeout: 10s}", prefix(path), kind, kind)
			return Topology{Kind: kind}
		}
		t.Kind = EdgeIdleTimeout
		d.mapping(path, n, []field{{string(EdgeIdleTimeout), required, value(d, &t.IdleTimeout, duration)}}, nil)
	case *ast.StringNode:
		switch t.Kind = TopologyKind(n.Value); t.Kind {
		case Direct, EdgeH2, EdgeHTTP1:
		case EdgeIdleTimeout:
			d.fail(path, start(n), "%sit lacks its time: write {edge-idle-timeout: 10s}", prefix(path))
		default:
			d.fail(path, start(n), "unknown topology %s: valid are %s", quote(n.Value), topologyForms)
		}
	default:
		d.fail(path, start(n), "%s%v", prefix(path), wrong(n, topologyForms))
	}
	return t
}

// timeless is a topology that was given something like the time which only another has; empty if none was.
func timeless(n *ast.MappingNode) TopologyKind {
	if len(n.Values) != 1 {
		return ""
	}
	switch kind := TopologyKind(n.Values[0].Key.GetToken().Value); kind {
	case Direct, EdgeH2, EdgeHTTP1:
		return kind
	}
	return ""
}

// ParseTopology reads a topology by the name that it has in results; its time may also follow an equals sign, as in edge-idle-timeout=10s.
func ParseTopology(name string) (Topology, error) {
	for _, kind := range TopologyKinds() {
		if name == string(kind) && kind != EdgeIdleTimeout {
			return Topology{Kind: kind}, nil
		}
	}
	rest, ok := strings.CutPrefix(name, string(EdgeIdleTimeout))
	if !ok || rest == "" || !strings.ContainsAny(rest[:1], "-=") {
		return Topology{}, fmt.Errorf("unknown topology %s: valid are direct, edge-h2, edge-http1 and edge-idle-timeout=10s", quote(name))
	}
	t := Topology{Kind: EdgeIdleTimeout}
	var err error
	if t.IdleTimeout.Duration, err = parseDuration(rest[1:]); err != nil {
		return Topology{}, fmt.Errorf("topology %s: %w", quote(name), err)
	}
	return t, t.check()
}

// check judges the time of a proxy that has one.
func (t Topology) check() error {
	if idle := t.IdleTimeout.Duration; t.Kind == EdgeIdleTimeout && (idle < minIdleTimeout || idle > maxWait) {
		return fmt.Errorf("edge-idle-timeout %v: take %v to %ds", t.IdleTimeout, minIdleTimeout, MaxDelay)
	}
	return nil
}

func (d *decoder) network(path string, n ast.Node) (net Network) {
	if word, ok := n.(*ast.StringNode); ok && word.Value == PerfectNetwork {
		return Network{Name: PerfectNetwork}
	}
	if _, ok := n.(*ast.MappingNode); !ok {
		d.fail(path, start(n), "%s%v", prefix(path), wrong(n, "perfect or a mapping such as {name: slow, last_hop: {rtt: 100ms}}"))
		return net
	}
	d.mapping(path, n, []field{
		{"name", required, value(d, &net.Name, text)},
		{"last_hop", optional, d.conditions(&net.LastHop)},
		{"behind_edge", optional, d.conditions(&net.BehindEdge)},
		{"elasticsearch", optional, d.conditions(&net.Elasticsearch)},
	}, nil)
	if net.Name == PerfectNetwork {
		d.fail(key(path, "name"), d.place(key(path, "name")), "network perfect is the one without conditions: write just perfect, or choose another name")
	}
	return net
}

func (d *decoder) conditions(c *Conditions) reader {
	return func(path string, n ast.Node) {
		d.mapping(path, n, []field{
			{"rtt", optional, value(d, &c.RTT, duration)},
			{"jitter", optional, value(d, &c.Jitter, duration)},
			{"bandwidth", optional, value(d, &c.Bandwidth, rate)},
			{"cut", optional, value(d, &c.Cut, number)},
			{"cuts", optional, list(d, &c.Cuts, "a list such as [5s, 12s]", func(path string, n ast.Node) (at clock.Seconds) {
				value(d, &at, duration)(path, n)
				return at
			})},
		}, nil)
	}
}
