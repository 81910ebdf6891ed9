package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pollbench/bench/clock"
)

// Limits of what lies between browser and Elasticsearch.
const (
	maxPaths       = 100              // each has servers and listeners of its own
	minIdleTimeout = time.Millisecond // the wire itself takes a part of it
	minBandwidth   = 1 << 10          // bytes a second: a request's head takes a second
)

// MaxRTT is the longest round trip of a hop: ten times that of a bad satellite link.
const MaxRTT = 10 * time.Second

func topologyRules(s Scenario) (found []violation) {
	for i, t := range s.Topologies {
		at := item("topology", i)
		if err := t.check(); err != nil {
			found = append(found, breach(err.Error(), at))
		}
		if slices.Contains(s.Topologies[:i], t) {
			found = append(found, breach(fmt.Sprintf("topology %v is there twice: remove one", t), at))
		}
	}
	if s.countPaths() > maxPaths {
		found = append(found, breach(fmt.Sprintf("%d topologies under %d networks are %d paths: take at most %d",
			max(1, len(s.Topologies)), max(1, len(s.Networks)), s.countPaths(), maxPaths), "topology", "network"))
	}
	return append(found, carryRules(s)...)
}

// carryRules finds topologies and protocols that would be left out of every variant. Where both are, the topologies' complaint is enough.
func carryRules(s Scenario) (found []violation) {
	for i, t := range s.Topologies {
		carries := func(p Protocol) bool { return Path{Topology: t}.Carries(p) }
		if !slices.ContainsFunc(s.Protocols, carries) && len(s.Protocols) > 0 {
			want := slices.DeleteFunc(Protocols(), func(p Protocol) bool { return !carries(p) })
			found = append(found, breach(fmt.Sprintf("topology %v carries none of the protocols: add %s to them, or remove the topology",
				t, want[0]), item("topology", i), "protocols"))
		}
	}
	if len(found) > 0 {
		return found
	}
	for i, p := range s.Protocols {
		if slices.Contains(Protocols(), p) && !s.carries(p) {
			found = append(found, breach(fmt.Sprintf("no topology carries %s: add one that does, such as direct, or remove the protocol", p),
				item("protocols", i), "topology"))
		}
	}
	return found
}

// carries tells whether a browser can speak the protocol over any of the topologies.
func (s Scenario) carries(p Protocol) bool {
	return len(s.Topologies) == 0 || slices.ContainsFunc(s.Topologies, func(t Topology) bool { return Path{Topology: t}.Carries(p) })
}

func networkRules(s Scenario) (found []violation) {
	edge := slices.ContainsFunc(s.Topologies, func(t Topology) bool { return Path{Topology: t}.HasEdge() })
	seen := map[string]bool{}
	for i, n := range s.Networks {
		at := item("network", i)
		found = append(found, nameRule(key(at, "name"), "network", n.Name)...)
		switch {
		case seen[n.Name] && n.Name == PerfectNetwork:
			found = append(found, breach("network perfect is there twice: remove one", at))
		case seen[n.Name]:
			found = append(found, breach(fmt.Sprintf("two networks are called %s: give each its own name", quote(n.Name)), key(at, "name")))
		}
		seen[n.Name] = true
		if n.Name == PerfectNetwork {
			continue
		}
		if n.LastHop.none() && n.BehindEdge.none() && n.Elasticsearch.none() {
			found = append(found, breach(fmt.Sprintf("network %s has no condition: give a hop rtt, jitter, bandwidth, cut or cuts, or write perfect",
				quote(n.Name)), at))
		}
		if !n.BehindEdge.none() && !edge {
			found = append(found, breach(fmt.Sprintf("network %s: no topology has an edge for behind_edge: add one such as edge-h2, or remove it",
				quote(n.Name)), key(at, "behind_edge"), "topology"))
		}
		found = append(found, conditionRules(key(at, "last_hop"), n.Name, n.LastHop)...)
		found = append(found, conditionRules(key(at, "behind_edge"), n.Name, n.BehindEdge)...)
		found = append(found, conditionRules(key(at, "elasticsearch"), n.Name, n.Elasticsearch)...)
	}
	return found
}

func (c Conditions) none() bool {
	return c.RTT.Duration == 0 && c.Jitter.Duration == 0 && c.Bandwidth == 0 && !c.Cutting()
}

func conditionRules(path, network string, c Conditions) (found []violation) {
	add := func(at, format string, args ...any) {
		about := []string{key(path, at)}
		if at == "jitter" {
			about = append(about, key(path, "rtt"))
		}
		hop := path[strings.LastIndex(path, ".")+1:]
		found = append(found, breach(fmt.Sprintf("network %s, %s: ", quote(network), hop)+fmt.Sprintf(format, args...), about...))
	}
	rtt, jitter := c.RTT.Duration, c.Jitter.Duration
	if rtt < 0 || rtt > MaxRTT {
		add("rtt", "rtt %v: take 0s to %v", rtt, MaxRTT)
	} else if jitter < 0 || jitter > rtt/2 {
		add("jitter", "jitter %v: take 0s to half of the rtt, %v", jitter, rtt/2)
	}
	if c.Cut < 0 || c.Cut > 1 {
		add("cut", "cut %v: a probability is from 0 to 1", c.Cut)
	}
	last := clock.Seconds{}
	for i, cut := range c.Cuts {
		switch {
		case cut.Duration <= 0 || cut.Duration > maxWait:
			add(item("cuts", i), "a cut at %v: take over 0s to %ds", cut, MaxDelay)
		case cut.Duration <= last.Duration:
			add(item("cuts", i), "a cut at %v comes after one at %v: put them in rising order", cut, last)
		}
		last = cut
	}
	return found
}
